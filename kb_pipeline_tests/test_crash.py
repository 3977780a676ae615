"""Processes are killed at random moments, and nobody repairs anything: the real daemon goes on by itself."""

import os
import subprocess
import sys
import time
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.launcher import WorkerStatus

from benchmarks.crash_soak import as_text, soak
from benchmarks.kills import Plan
from kb_pipeline.defs.events import EventRecorder
from kb_pipeline.defs.jobs import ingest_articles
from kb_pipeline.defs.maintenance import remove_articles
from kb_pipeline.defs.resources import KnowledgeBase
from kb_pipeline.defs.run_launcher import LocalRunLauncher, is_running
from kb_pipeline.defs.sensors import staging_sensor
from kb_pipeline.settings import Settings, load_settings
from kb_pipeline_tests.conftest import Article
from kb_pipeline_tests.served import state_of

SHORT = Plan(articles=40, kills=3, seed=7, longest_wait=3, early=0, latency=0.05, images=1, pause=2, quiet_seconds=240)


@pytest.mark.rare("kills")
@pytest.mark.timeout(600)
def test_after_kills_everything_is_published_once_and_nothing_was_paid_twice(tmp_path: Path) -> None:
    outcome = soak(tmp_path, SHORT)
    assert not outcome.problems, as_text(outcome)
    assert outcome.kills == {"everything": 1, "run": 1, "worker": 1}
    assert outcome.runs["FAILURE"] >= 1
    assert outcome.answers >= outcome.images >= outcome.articles > 0


@pytest.mark.rare("many processes")
def test_processes_that_open_a_new_home_at_once_do_not_spoil_it(tmp_path: Path) -> None:
    home = tmp_path / "dagster"
    home.mkdir()
    (home / "dagster.yaml").write_bytes((Path(__file__).parents[1] / "dagster.yaml").read_bytes())
    opening = [sys.executable, "-c", "import dagster; dagster.DagsterInstance.get().get_runs()"]
    environment = {**os.environ, "DAGSTER_HOME": str(home)}
    openers = [subprocess.Popen(opening, env=environment) for _ in range(3)]
    assert [opener.wait(60) for opener in openers] == [0, 0, 0]
    subprocess.run(opening, env=environment, check=True)


@pytest.mark.slow("starts processes and kills them")
def test_what_was_published_before_dagster_was_told_is_requested_again(
    settings: Settings, article: Article, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kb_pipeline.definitions import defs

    monkeypatch.setenv("KB_STAGING", settings.staging)
    monkeypatch.setenv("KB_HOME", settings.home)
    monkeypatch.setenv("KB_EMBEDDER", settings.embedder)
    monkeypatch.setenv("KB_SETTLE_SECONDS", "0")
    article("told", "<body><h1>Told</h1><p>Somebody knows of this article.</p></body>")
    key, job = dg.AssetKey("search_index"), defs().get_job_def("ingest_articles")
    with dg.instance_for_test(temp_dir=str(tmp_path)) as instance:
        with monkeypatch.context() as killed:
            killed.setattr(EventRecorder, "record", lambda *_: 1 / 0)
            assert not job.execute_in_process(instance=instance, raise_on_error=False).success
        assert state_of(settings, "told").published
        assert not instance.get_materialized_partitions(key)
        assert requested(instance) == ["told"]  # by a sensor that has forgotten everything
        assert job.execute_in_process(instance=instance).success
        assert instance.get_materialized_partitions(key) == {"told"}
        assert requested(instance) == []


def requested(instance: dg.DagsterInstance) -> list[str]:
    """The articles that the staging sensor asks for, without a memory."""
    (Path(os.environ["KB_HOME"]) / "sensor.json").unlink(missing_ok=True)
    sensor = staging_sensor(load_settings(), [ingest_articles, remove_articles], KnowledgeBase())
    with dg.build_sensor_context(instance, resources={"kb": KnowledgeBase()}) as context:
        result = sensor(context)
    assert isinstance(result, dg.SensorResult)
    configs = [request.run_config["ops"]["ingest"]["config"] for request in result.run_requests or []]
    return [article_id for config in configs for article_id in config["articles"]]


@pytest.fixture
def instance(tmp_path: Path) -> dg.DagsterInstance:
    return dg.DagsterInstance.ephemeral(tempdir=str(tmp_path))


def health(instance: dg.DagsterInstance, run_id: str) -> WorkerStatus:
    launcher = LocalRunLauncher()
    launcher.register_instance(instance)
    run = instance.get_run_by_id(run_id)
    assert run
    return launcher.check_run_worker_health(run).status


def test_a_run_whose_process_was_killed_is_seen_to_be_gone(instance: dg.DagsterInstance) -> None:
    @dg.op
    def look(context: dg.OpExecutionContext) -> None:
        assert health(instance, context.run_id) is WorkerStatus.RUNNING

    @dg.job(executor_def=dg.in_process_executor)
    def working() -> None:
        look()

    run_id = working.execute_in_process(instance=instance).run_id
    assert health(instance, run_id) is WorkerStatus.RUNNING  # this process is still there
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    started = time.time()
    assert is_running(child.pid, started)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # it is dead now
    assert not is_running(child.pid, started)  # nobody has asked for its exit code yet
    child.wait()
    assert not is_running(child.pid, started)


def test_another_process_that_was_given_the_number_is_not_the_one(instance: dg.DagsterInstance) -> None:
    assert is_running(os.getpid(), time.time())
    assert not is_running(os.getpid(), time.time() - 86_400 * 365)


def test_a_run_that_has_not_said_who_it_is_counts_as_running(instance: dg.DagsterInstance) -> None:
    run = instance.create_run_for_job(dg.JobDefinition(name="idle", graph_def=dg.GraphDefinition(name="idle")))
    assert health(instance, run.run_id) is WorkerStatus.RUNNING
