"""Runs of the command line belong to the code location whose jobs and timeline Dagster's UI shows."""

from pathlib import Path

import dagster as dg
import pytest

from kb_pipeline.cli.instance import dagster_environment
from kb_pipeline.cli.processes import LOCATION
from kb_pipeline.cli.run_job import run_job
from kb_pipeline.settings import Settings
from kb_pipeline_tests.conftest import Article
from kb_pipeline_tests.defs.conftest import GOOD
from kb_pipeline_tests.pictures import screenshot


@pytest.mark.slow("a run of Dagster")
def test_an_ingest_is_a_run_of_its_job_and_location_with_its_start_and_end(
    article: Article, settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KB_STAGING", settings.staging)
    monkeypatch.setenv("KB_HOME", settings.home)
    monkeypatch.setenv("KB_EMBEDDER", settings.embedder)
    monkeypatch.setenv("KB_ENGINE", "kb_pipeline_tests.doubles:WorkersHere")
    for name, value in dagster_environment(settings).items():
        monkeypatch.setenv(name, value)
    article("good", GOOD, {"a.image": screenshot("good")})
    article("broken", b"%PDF-1.7")
    assert run_job(settings, "ingest_articles", {}).success
    of_location = {".dagster/repository": f"__repository__@{LOCATION}"}
    with dg.DagsterInstance.get() as instance:
        shown = instance.get_run_records(filters=dg.RunsFilter(tags=of_location))
    ended = {(record.dagster_run.job_name, record.dagster_run.status.value) for record in shown}
    assert ended == {("ingest_articles", "SUCCESS"), ("failed_articles", "FAILURE")}
    for record in shown:
        assert record.start_time and record.end_time
        origin = record.dagster_run.remote_job_origin
        assert origin and origin.job_name == record.dagster_run.job_name
        assert origin.repository_origin.code_location_origin.location_name == LOCATION
