"""One bad article is red itself and leaves the run of the good ones green, unless the settings want it otherwise."""

import dagster as dg
import pytest

from kb_pipeline.defs import failures
from kb_pipeline.defs.failures import FAILED_IN_TAG, report_lost_runs
from kb_pipeline.defs.outcome import FAILED_TAG
from kb_pipeline.settings import Settings
from kb_pipeline_tests.building import made_once, stage
from kb_pipeline_tests.conftest import Article
from kb_pipeline_tests.defs.conftest import GOOD, ingest, stage_three
from kb_pipeline_tests.defs.runs import execute, failed, logged, materialized, reason, touched
from kb_pipeline_tests.pictures import screenshot

pytestmark = pytest.mark.slow("a run of Dagster")


def tags_of(instance: dg.DagsterInstance, run_id: str) -> dict[str, str]:
    run = instance.get_run_by_id(run_id)
    assert run
    return dict(run.tags)


@pytest.fixture
def one_bad(settings: Settings, instance: dg.DagsterInstance) -> str:
    """Three articles were ingested, of which beta failed; the id of the run."""
    made_once(ingest_with_a_bad_one, settings)
    (run,) = instance.get_runs(filters=dg.RunsFilter(job_name="ingest_articles"))
    return run.run_id


def ingest_with_a_bad_one(settings: Settings) -> None:
    stage_three(settings)
    stage(settings, "beta", b"%PDF-1.7")
    assert ingest(settings).success


def left_behind(instance: dg.DagsterInstance, run_id: str) -> dg.DagsterRun:
    """The run that stands for the failed articles of another."""
    (run,) = instance.get_runs(filters=dg.RunsFilter(tags={FAILED_IN_TAG: run_id}))
    return run


def test_a_run_with_one_bad_article_succeeds_and_the_article_is_red(
    instance: dg.DagsterInstance, three: list[str], article: Article
) -> None:
    article("beta", b"%PDF-1.7")
    result = execute(instance, "ingest_articles")
    assert result.success
    assert tags_of(instance, result.run_id)[FAILED_TAG] == "1 of 3"
    assert "is a PDF, not HTML" in logged(instance, result)
    assert failed(instance, "converted_markdown") == {"beta"}
    assert materialized(instance, "search_index") == {"alpha", "gamma"}


def test_the_red_partition_leads_to_a_run_with_the_reason_that_tries_only_it_when_executed_again(
    instance: dg.DagsterInstance, one_bad: str
) -> None:
    run = left_behind(instance, one_bad)
    assert (run.status, run.tags["kb/articles"]) == (dg.DagsterRunStatus.FAILURE, "beta")
    assert run.run_config["ops"] == {"ingest": {"config": {"articles": ["beta"], "first_layer": "", "last_layer": ""}}}
    (record,) = instance.get_run_records(filters=dg.RunsFilter(run_ids=[run.run_id]))
    assert record.start_time and record.end_time
    (ended,) = instance.all_logs(run.run_id, of_type=dg.DagsterEventType.RUN_FAILURE)
    assert "is a PDF, not HTML" in str(ended.get_dagster_event().message)


def test_the_last_run_beside_the_name_of_a_job_is_its_own_and_green(instance: dg.DagsterInstance, one_bad: str) -> None:
    (shown,) = instance.get_runs(filters=dg.RunsFilter(job_name="ingest_articles"), limit=1)
    assert (shown.run_id, shown.status) == (one_bad, dg.DagsterRunStatus.SUCCESS)


@pytest.mark.parametrize("job", ["ingest_articles", "refresh_stale_articles"])
def test_what_is_left_behind_can_be_executed_again(
    job: str, instance: dg.DagsterInstance, three: list[str], article: Article
) -> None:
    from kb_pipeline.definitions import defs

    article("beta", b"%PDF-1.7")
    run = left_behind(instance, execute(instance, job).run_id)
    article("beta", GOOD, {"a.image": screenshot("beta")})
    again = defs().resolve_job_def(run.job_name)
    result = again.execute_in_process(instance=instance, run_config=run.run_config, tags=run.tags)
    assert touched(instance, result, "search_index") == ["beta"]
    assert failed(instance, "converted_markdown") == set()


def test_a_repaired_article_is_red_no_more(instance: dg.DagsterInstance, one_bad: str, article: Article) -> None:
    assert failed(instance, "converted_markdown") == {"beta"}
    article("beta", GOOD, {"a.image": screenshot("beta")})
    repaired = execute(instance, "retry_failing_articles")
    assert failed(instance, "converted_markdown") == set()
    # whose run the page of the partition tells of, in a banner if that failed
    last = instance.get_latest_planned_materialization_info(dg.AssetKey("converted_markdown"), "beta")
    assert last and last.run_id == repaired.run_id


def test_a_repaired_article_is_red_no_more_although_another_fails_its_run(
    instance: dg.DagsterInstance, three: list[str], article: Article, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KB_FAIL_RUNS", "any")
    for name in ("beta", "gamma"):
        article(name, b"%PDF-1.7")
    execute(instance, "ingest_articles")
    article("beta", GOOD, {"a.image": screenshot("beta")})
    assert not execute(instance, "retry_failing_articles").success
    assert failed(instance, "converted_markdown") == {"gamma"}


def test_a_name_that_no_article_can_have_fails_alone(instance: dg.DagsterInstance, three: list[str]) -> None:
    assert execute(instance, "ingest_articles", articles=["alpha", "../beta"]).success
    assert materialized(instance, "search_index") == {"alpha"}


def test_a_re_execution_counts_its_own_failures(instance: dg.DagsterInstance, three: list[str]) -> None:
    from kb_pipeline.definitions import defs

    again = {FAILED_TAG: "1 of 3"}
    result = defs().resolve_job_def("ingest_articles").execute_in_process(instance=instance, tags=again)
    assert tags_of(instance, result.run_id)[FAILED_TAG] == "0 of 3"


def test_a_run_of_which_every_article_failed_fails_itself(
    instance: dg.DagsterInstance, three: list[str], article: Article
) -> None:
    for name in three:
        article(name, b"%PDF-1.7")
    result = execute(instance, "ingest_articles")
    assert "3 of 3 articles failed" in reason(result)
    assert failed(instance, "converted_markdown") == set(three)
    assert not instance.get_runs(filters=dg.RunsFilter(tags={FAILED_IN_TAG: result.run_id}))


def test_one_bad_article_fails_the_run_where_the_setting_says_so(
    instance: dg.DagsterInstance, three: list[str], article: Article, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KB_FAIL_RUNS", "any")
    article("beta", b"%PDF-1.7")
    result = execute(instance, "ingest_articles")
    assert "1 of 3 articles failed" in reason(result)
    assert failed(instance, "converted_markdown") == {"beta"}


@pytest.mark.parametrize("executed_again", [False, True])
def test_what_it_leaves_behind_is_no_lost_run_and_its_re_execution_may_be_one(
    executed_again: bool,
    instance: dg.DagsterInstance,
    one_bad: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = left_behind(instance, one_bad)
    if executed_again:
        again = dg.DagsterRun("ingest_articles", tags=run.tags, parent_run_id=run.run_id, root_run_id=run.run_id)
        run = instance.add_run(again)
        instance.report_run_failed(run, "its process was killed")
    told: list[str] = []
    monkeypatch.setattr(failures, "report_failure", lambda message, **_: told.append(message))
    (ended,) = instance.all_logs(run.run_id, of_type=dg.DagsterEventType.RUN_FAILURE)
    event = ended.get_dagster_event()
    report_lost_runs(dg.build_run_status_sensor_context("report_lost_runs", event, instance, run).for_run_failure())
    assert len(told) == executed_again
