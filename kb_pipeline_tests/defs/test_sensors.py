"""The sensor through Dagster: what a tick requests, remembers and tells."""

import shutil
import time
from collections.abc import Callable
from pathlib import Path

import dagster as dg
import pytest

from kb_pipeline.defs import sensors
from kb_pipeline.defs.jobs import ingest_articles
from kb_pipeline.defs.maintenance import remove_articles
from kb_pipeline.defs.namespace import PLAIN
from kb_pipeline.defs.resources import KnowledgeBase
from kb_pipeline.defs.sensors import staging_sensor
from kb_pipeline.errors import StorageError
from kb_pipeline.flow.access import Access
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.settings import Settings, load_settings
from kb_pipeline.store.layout import Layout
from kb_pipeline.store.state import ArticleState, load_state, save_state
from kb_pipeline_tests.conftest import Article

HTML = "<body><h1>Tickets</h1><p>How to open a ticket, and how to close it.</p></body>"
JOBS = {job.name: job for job in (ingest_articles, remove_articles)}

Tick = Callable[[], dg.SensorResult]


class Clock:
    """The time that the sensor sees."""

    def __init__(self) -> None:
        self.ahead = 60.0  # so that what a test has just written counts as settled

    def time(self) -> float:
        return time.time() + self.ahead


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(sensors, "time", clock)
    return clock


@pytest.fixture
def tick(instance: dg.DagsterInstance, clock: Clock) -> Tick:
    """Evaluates the sensor as the daemon does: with the cursor it left, partitions added."""
    sensor = staging_sensor(load_settings(), list(JOBS.values()), KnowledgeBase())
    cursor: str | None = None

    def evaluate() -> dg.SensorResult:
        nonlocal cursor
        with dg.build_sensor_context(instance, cursor=cursor, resources={"kb": KnowledgeBase()}) as context:
            result = sensor(context)
        assert isinstance(result, dg.SensorResult)
        cursor = result.cursor
        for request in result.dynamic_partitions_requests or []:
            instance.add_dynamic_partitions(request.partitions_def_name, list(request.partition_keys))
        return result

    return evaluate


def run(instance: dg.DagsterInstance, request: dg.RunRequest) -> dg.ExecuteInProcessResult:
    """Execute a requested run to its end."""
    from kb_pipeline.definitions import defs

    assert request.job_name
    return (
        defs()
        .get_job_def(request.job_name)
        .execute_in_process(
            instance=instance, run_config=request.run_config, tags=dict(request.tags), raise_on_error=False
        )
    )


def enqueue(instance: dg.DagsterInstance, request: dg.RunRequest, status: dg.DagsterRunStatus) -> dg.DagsterRun:
    """The run as the daemon creates it, in some status."""
    return instance.add_run(
        dg.DagsterRun(
            job_name=request.job_name,
            run_config=request.run_config,
            tags={**request.tags, "dagster/run_key": request.run_key or ""},
            status=status,
        )
    )


def articles_of(request: dg.RunRequest) -> list[str]:
    return next(iter(request.run_config["ops"].values()))["config"]["articles"]


def test_new_articles_become_partitions_and_one_run(tick: Tick, article: Article, instance: dg.DagsterInstance) -> None:
    article("alpha", HTML)
    article("beta", HTML)
    (request,) = tick().run_requests or []
    assert (request.job_name, articles_of(request)) == ("ingest_articles", ["alpha", "beta"])
    assert request.tags == {"kb/source": "sensor", "kb/batch": request.run_key, "dagster/priority": "-1"}
    assert instance.get_dynamic_partitions("articles") == ["alpha", "beta"]


def test_what_was_ingested_is_unchanged_and_costs_no_second_thought(
    tick: Tick, article: Article, instance: dg.DagsterInstance, settings: Settings
) -> None:
    article("alpha", HTML)
    (request,) = tick().run_requests or []
    assert run(instance, request).success
    assert tick().skip_reason == dg.SkipReason("1 article unchanged")
    (Path(settings.home) / "sensor.json").write_text("damaged")  # not even read
    assert tick().skip_reason == dg.SkipReason("1 article unchanged")
    article("beta", HTML)
    (request,) = tick().run_requests or []
    assert articles_of(request) == ["beta"]


def test_a_restriction_that_was_seen_before_its_article_was_published_holds_afterwards(
    tick: Tick, article: Article, settings: Settings, instance: dg.DagsterInstance
) -> None:
    folder, workspace = article("pay", HTML), Workspace(settings)
    requested = tick().run_requests
    assert requested
    run(instance, requested[0])
    published = load_state(workspace.layout, "pay")
    save_state(workspace.layout, published.model_copy(update={"published": ()}))  # as before the run's last step
    (folder / "metadata.json").write_text('{"access_control_list": ["hr"]}')
    tick()
    save_state(workspace.layout, published)
    tick()
    assert workspace.access.get("pay") == Access(readers=("hr",))


def test_a_restriction_applies_although_the_storage_cannot_be_asked(
    tick: Tick, article: Article, settings: Settings, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, workspace = article("pay", HTML), Workspace(settings)
    requested = tick().run_requests
    assert requested
    run(instance, requested[0])

    def down(*_: object) -> None:
        raise OSError("the storage is down")

    for name in ("get_dynamic_partitions", "has_dynamic_partition", "get_runs"):
        monkeypatch.setattr(dg.DagsterInstance, name, down)
    (folder / "metadata.json").write_text('{"access_control_list": ["hr"]}')
    with pytest.raises(OSError, match="the storage is down"):
        tick()
    assert workspace.access.get("pay") == Access(readers=("hr",))


def test_an_article_that_failed_for_good_waits_for_its_folder_to_change(
    tick: Tick, article: Article, instance: dg.DagsterInstance
) -> None:
    article("empty", b"")
    (request,) = tick().run_requests or []
    assert not run(instance, request).success
    assert not tick().run_requests
    article("empty", HTML)
    (request,) = tick().run_requests or []
    assert articles_of(request) == ["empty"]


@pytest.mark.slow("a run of Dagster")
def test_a_partition_that_a_person_deleted_is_added_again_and_nothing_is_built(
    tick: Tick, article: Article, instance: dg.DagsterInstance, settings: Settings
) -> None:
    for name in ("alpha", "beta"):
        article(name, HTML)
    run(instance, (tick().run_requests or [])[0])
    tick()
    instance.delete_dynamic_partition("articles", "beta")
    assert not tick().run_requests
    assert set(instance.get_dynamic_partitions("articles")) == {"alpha", "beta"}
    assert not tick().dynamic_partitions_requests


@pytest.mark.slow("a run of Dagster")
def test_an_article_that_is_gone_is_removed_after_the_grace_period(
    tick: Tick, article: Article, instance: dg.DagsterInstance, settings: Settings, clock: Clock
) -> None:
    for name in ("alpha", "beta"):
        folder = article(name, HTML)
    run(instance, (tick().run_requests or [])[0])
    tick()
    shutil.rmtree(folder)
    assert "missing, to be removed from" in str(tick().skip_reason)
    clock.ahead += settings.delete_grace_seconds
    (request,) = tick().run_requests or []
    assert (request.job_name, articles_of(request)) == ("remove_articles", ["beta"])
    assert run(instance, request).success
    assert tick().skip_reason == dg.SkipReason("1 article unchanged")
    assert instance.get_dynamic_partitions("articles") == ["alpha"]


@pytest.mark.parametrize("status", [dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.STARTED])
def test_a_run_under_way_is_waited_for(
    tick: Tick, article: Article, instance: dg.DagsterInstance, status: dg.DagsterRunStatus
) -> None:
    article("alpha", HTML)
    enqueue(instance, (tick().run_requests or [])[0], status)
    assert tick().skip_reason == dg.SkipReason("waiting for 1 run to ingest 1 article")


def test_a_run_that_was_never_launched_is_requested_again_by_the_same_key(
    tick: Tick, article: Article, instance: dg.DagsterInstance
) -> None:
    article("alpha", HTML)
    (first,) = tick().run_requests or []
    (second,) = tick().run_requests or []  # the daemon was killed before it created the run
    enqueue(instance, second, dg.DagsterRunStatus.NOT_STARTED)  # and then before it launched it
    (third,) = tick().run_requests or []
    assert first.run_key == second.run_key == third.run_key


def test_a_crashed_run_is_requested_again_by_another_key(
    tick: Tick, article: Article, instance: dg.DagsterInstance
) -> None:
    article("alpha", HTML)
    (first,) = tick().run_requests or []
    enqueue(instance, first, dg.DagsterRunStatus.FAILURE)
    (second,) = tick().run_requests or []
    assert articles_of(second) == ["alpha"]
    assert second.run_key != first.run_key


def test_a_re_execution_of_a_failed_run_is_waited_for(
    tick: Tick, article: Article, instance: dg.DagsterInstance
) -> None:
    article("alpha", HTML)
    (request,) = tick().run_requests or []
    for status in (dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.FAILURE):
        enqueue(instance, request, status)
    assert "waiting for 1 run" in str(tick().skip_reason)


@pytest.mark.slow("a run of Dagster")
def test_a_lost_memory_is_made_anew_from_runs_and_states(
    tick: Tick, article: Article, instance: dg.DagsterInstance, settings: Settings
) -> None:
    article("alpha", HTML)
    run(instance, (tick().run_requests or [])[0])
    article("beta", HTML)
    enqueue(instance, (tick().run_requests or [])[0], dg.DagsterRunStatus.STARTED)
    article("gamma", HTML)
    (Path(settings.home) / "sensor.json").write_text("damaged")
    (request,) = tick().run_requests or []
    assert articles_of(request) == ["gamma"]


def test_an_unreachable_staging_folder_fails_the_tick_and_changes_nothing(
    tick: Tick, article: Article, settings: Settings
) -> None:
    article("alpha", HTML)
    tick()
    memory = (Path(settings.home) / "sensor.json").read_bytes()
    shutil.rmtree(settings.staging)
    with pytest.raises(StorageError, match="cannot list the staging folder"):
        tick()
    assert (Path(settings.home) / "sensor.json").read_bytes() == memory


def test_an_unmounted_staging_folder_removes_nothing_and_says_how_to_confirm(
    tick: Tick, article: Article, instance: dg.DagsterInstance, settings: Settings, clock: Clock
) -> None:
    shutil.rmtree(article("alpha", HTML))
    layout = Layout.of(settings)
    save_state(layout, ArticleState(article_id="alpha"))
    for _ in range(2):
        result = tick()
        assert not result.run_requests
        assert "confirm_mass_removal" in str(result.skip_reason)
        clock.ahead += 2 * settings.delete_grace_seconds
    assert load_state(layout, "alpha")


def test_a_folder_that_is_no_article_is_told_of_once(tick: Tick, settings: Settings) -> None:
    (Path(settings.staging) / "a...b").mkdir()
    assert "range of partitions" in str(tick().skip_reason)
    assert tick().skip_reason == dg.SkipReason("0 articles unchanged")


def test_partitions_are_added_in_chunks_that_every_database_takes() -> None:
    names = [f"article-{number}" for number in range(25_000)]
    requests = list(sensors._new_partitions(names, {"article-0"}, PLAIN))
    assert [len(request.partition_keys) for request in requests] == [10_000, 10_000, 4_999]


@pytest.mark.parametrize(
    ("watch", "status"), [("true", dg.DefaultSensorStatus.RUNNING), ("false", dg.DefaultSensorStatus.STOPPED)]
)
def test_it_runs_by_default_unless_told_not_to(
    monkeypatch: pytest.MonkeyPatch, watch: str, status: dg.DefaultSensorStatus
) -> None:
    monkeypatch.setenv("KB_WATCH", watch)
    assert staging_sensor(load_settings(), list(JOBS.values()), KnowledgeBase()).default_status == status
