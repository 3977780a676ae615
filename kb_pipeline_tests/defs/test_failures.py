"""What fails in runs arrives at a collector, and a collector that is slow or gone delays and breaks no run."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import dagster as dg
import pytest

from kb_pipeline.defs import failures
from kb_pipeline.defs.failures import report_failed_step, report_lost_runs
from kb_pipeline.settings import Settings
from kb_pipeline_tests.cli.conftest import HERE, KB, page
from kb_pipeline_tests.collectors import attributes, collecting
from kb_pipeline_tests.conftest import Article
from kb_pipeline_tests.deploy.files import ROOT
from kb_pipeline_tests.ports import free_port

Ingest = Callable[[dict[str, str]], "subprocess.CompletedProcess[str]"]


@pytest.fixture
def ingest(settings: Settings, tmp_path: Path) -> Ingest:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("KB_", "DAGSTER_", "OTEL_"))}
    own = {"KB_STAGING": settings.staging, "KB_HOME": settings.home, "KB_EMBEDDER": "hashing", "KB_ENGINE": HERE}
    own |= {"PYTHONPATH": str(ROOT)}

    def run(environment: dict[str, str]) -> "subprocess.CompletedProcess[str]":
        command = [KB, "ingest"]
        return subprocess.run(command, cwd=tmp_path, env=clean | own | environment, capture_output=True, text=True)

    return run


@pytest.mark.slow("a run of Dagster")
@pytest.mark.parametrize("kind", ["http", pytest.param("grpc", marks=pytest.mark.rare("as by http"))])
def test_an_article_that_fails_arrives_with_reason_asset_and_run(
    kind: str, ingest: Ingest, article: Article, tmp_path: Path
) -> None:
    article("good", page("Good", "Some text."))
    article("broken", b"%PDF-1.7")
    with collecting(kind, tmp_path) as collector:
        ran = ingest(collector.environment | {"KB_FAIL_RUNS": "any"})
        of_article, of_step = (attributes(record.attributes) for record in collector.logs())
    assert ran.returncode == 1
    assert (of_article["kb.article"], of_article["kb.asset"]) == ("broken", "converted_markdown")
    assert "PDF" in of_article["kb.error"]
    assert (of_step["kb.job"], of_step["kb.step"]) == ("ingest_articles", "ingest")
    assert "1 of 2 articles failed" in of_step["kb.error"]
    assert len(of_step["kb.run_id"]) == 36
    assert of_article["kb.run_id"] == of_step["kb.run_id"]
    assert {record.severity_text for record in collector.logs()} == {"ERROR"}


@pytest.mark.rare("as of the good article beside a broken one, of which nothing arrives either")
def test_nothing_arrives_from_a_run_that_succeeds(ingest: Ingest, article: Article, tmp_path: Path) -> None:
    article("good", page("Good", "Some text."))
    with collecting("http", tmp_path) as collector:
        assert ingest(collector.environment).returncode == 0
        assert collector.logs() == []


@pytest.mark.rare("a collector that is waited for")
def test_a_run_ends_as_without_a_collector_if_that_is_gone(ingest: Ingest, article: Article) -> None:
    article("good", page("Good", "Some text."))
    article("broken", b"%PDF-1.7")
    ran = ingest({"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{free_port()}"})
    assert "1 article published" in ran.stdout + ran.stderr
    assert ran.returncode == 1


@pytest.mark.rare("a collector that is waited for")
def test_a_run_ends_although_its_collector_never_answers(ingest: Ingest, article: Article, tmp_path: Path) -> None:
    article("broken", b"%PDF-1.7")
    with collecting("grpc", tmp_path, seconds=3600) as silent:
        assert ingest(silent.environment).returncode == 1


@pytest.mark.slow("a run of Dagster")
def test_a_destination_that_cannot_be_used_stops_before_anything_is_made(ingest: Ingest, article: Article) -> None:
    article("good", page("Good", "Some text."))
    ran = ingest({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318", "OTEL_EXPORTER_OTLP_PROTOCOL": "pigeon"})
    assert "OTEL_EXPORTER_OTLP_PROTOCOL is 'pigeon'" in ran.stderr
    assert ran.returncode == 2


Reports = list[tuple[str, dict[str, str]]]


@pytest.fixture
def reports(monkeypatch: pytest.MonkeyPatch) -> Reports:
    told: Reports = []
    monkeypatch.setattr(failures, "report_failure", lambda message, **where: told.append((message, where)))
    return told


def test_a_step_that_raises_is_reported_with_its_error(reports: Reports) -> None:
    @dg.op
    def fails() -> None:
        raise OSError("the disk is full")

    @dg.job(hooks={report_failed_step})
    def job() -> None:
        fails()

    run = job.execute_in_process(raise_on_error=False)
    ((message, where),) = reports
    assert message == "the step fails of job failed: OSError: the disk is full"
    assert where["run_id"] == run.run_id


@pytest.mark.parametrize("raised", [True, False])
def test_a_run_whose_process_was_lost_is_reported_and_one_that_said_why_is_not_again(
    raised: bool, reports: Reports
) -> None:
    @dg.op
    def works() -> None:
        if raised:
            raise OSError("the disk is full")

    @dg.job
    def job() -> None:
        works()

    with dg.DagsterInstance.ephemeral() as instance:
        if raised:
            run_id = job.execute_in_process(instance=instance, raise_on_error=False).run_id
            run = instance.get_run_by_id(run_id)
        else:
            run = instance.create_run_for_job(job)
            instance.report_run_failed(run, "its process was killed")
        assert run
        (ended,) = instance.all_logs(run.run_id, of_type=dg.DagsterEventType.RUN_FAILURE)
        event = ended.get_dagster_event()
        context = dg.build_run_status_sensor_context("report_lost_runs", event, instance, run).for_run_failure()
        report_lost_runs(context)
    assert [message for message, _ in reports] == ([] if raised else ["the run of job failed: its process was killed"])
