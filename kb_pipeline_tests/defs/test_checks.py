"""The quality gates through Dagster: what stops a version from being published, and what people see of it."""

import dagster as dg
import pytest

from kb_pipeline.defs.evaluation import CHECK as NOT_WORSE
from kb_pipeline.settings import Settings
from kb_pipeline.steps.checks import CHECKS
from kb_pipeline_tests.building import made_once, stage
from kb_pipeline_tests.conftest import Article
from kb_pipeline_tests.defs.conftest import ingest
from kb_pipeline_tests.defs.runs import (
    check,
    check_history,
    execute,
    execute_checks,
    failed,
    materialize_with_checks,
    materialized,
    reason,
    shown,
    touched,
    values,
)
from kb_pipeline_tests.served import before_readers

pytestmark = pytest.mark.slow("a run of Dagster")

GOOD = "<body><h1>Ticket clock</h1><p>The clock of a ticket stops at night.</p></body>"
TABLE = "<table><tr><th>Day</th><th>Hours</th></tr><tr><td>Monday</td><td>nine to five</td></tr></table>"
LOST = GOOD.replace("</body>", f"{TABLE}</body>")
"""The double loses tables."""


@pytest.fixture(autouse=True)
def _lossy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KB_ANALYZER", "kb_pipeline_tests.doubles:LossyAnalyzer")


@pytest.fixture
def spoilt(settings: Settings, instance: dg.DagsterInstance) -> None:
    """Two published articles, then a version of one that loses its table."""
    made_once(spoil, settings)


def spoil(settings: Settings) -> None:
    for name in ("alpha", "beta"):
        stage(settings, name, GOOD)
    assert ingest(settings).success
    stage(settings, "alpha", LOST)
    ingest(settings)


def test_a_version_that_fails_a_blocking_check_is_red_where_it_failed_and_readers_keep_the_old_one(
    article: Article, instance: dg.DagsterInstance, settings: Settings
) -> None:
    article("alpha", GOOD)
    execute(instance, "ingest_articles")
    before = before_readers(settings, "alpha")
    article("alpha", LOST)
    result = execute(instance, "ingest_articles")
    assert not result.success
    assert "structure_is_preserved" in reason(result)
    assert "its last good version stays published" in reason(result)
    assert failed(instance, "converted_markdown") == {"alpha"}
    assert failed(instance, "staged_article") == failed(instance, "search_index") == set()
    assert before_readers(settings, "alpha") == before


def test_the_check_is_recorded_with_the_articles_that_failed_it(instance: dg.DagsterInstance, spoilt: None) -> None:
    evaluation = check(instance, "structure_is_preserved")
    assert (evaluation.passed, evaluation.blocking, evaluation.severity) == (False, True, dg.AssetCheckSeverity.ERROR)
    told = values(evaluation.metadata)
    assert (told["articles_passed"], told["articles_failed"]) == (1, 1)
    assert told["failed"][0]["article"] == "alpha"
    assert "table" in told["failed"][0]["problem"]
    assert all(check(instance, name, CHECKS[name].layer).passed for name in CHECKS if name != "structure_is_preserved")


def test_the_result_of_an_article_names_its_partition(instance: dg.DagsterInstance, spoilt: None) -> None:
    (found,) = check_history(instance, "structure_is_preserved", partition="alpha")
    assert (found.passed, found.blocking, found.severity) == (False, True, dg.AssetCheckSeverity.ERROR)
    assert str(found.description).startswith("alpha: ")
    assert "table" in str(found.description)
    assert check_history(instance, "structure_is_preserved", partition="beta") == []


def test_a_run_repeats_no_result_of_an_earlier_one(instance: dg.DagsterInstance, spoilt: None) -> None:
    execute(instance, "ingest_articles")
    assert len(check_history(instance, "structure_is_preserved", partition="alpha")) == 1


def test_the_article_is_listed_as_failing_with_the_version_that_readers_see(
    instance: dg.DagsterInstance, spoilt: None
) -> None:
    told = shown(instance, "failing_articles")
    assert (told["failing"], told["transient"], told["older_version_published"]) == (1, 0, 1)
    (row,) = told["failures"]
    assert (row["article"], row["layer"], row["kind"]) == ("alpha", "converted_markdown", "permanent")
    assert row["published"] == "an older version"
    assert "structure_is_preserved" in row["error"]


def test_a_mended_article_is_green_again(article: Article, instance: dg.DagsterInstance, spoilt: None) -> None:
    article("alpha", GOOD.replace("night", "noon"))
    assert execute(instance, "retry_failing_articles").success
    assert failed(instance, "converted_markdown") == set()
    assert materialized(instance, "search_index") == {"alpha", "beta"}
    assert shown(instance, "failing_articles")["failing"] == 0
    assert check(instance, "structure_is_preserved").passed


def test_executing_a_check_looks_again_makes_nothing_and_fails_with_it(
    instance: dg.DagsterInstance, spoilt: None
) -> None:
    result = execute_checks(instance, "structure_is_preserved")
    assert "structure_is_preserved" in reason(result)
    assert touched(instance, result, "converted_markdown") == []
    evaluation = check(instance, "structure_is_preserved")
    assert evaluation in result.get_asset_check_evaluations()
    assert values(evaluation.metadata)["failed"][0]["article"] == "alpha"
    assert execute_checks(instance, "no_page_code_in_text", "images_are_placed").success


@pytest.mark.parametrize("way", ["job", "asset"])
def test_an_article_that_fails_a_check_does_not_fail_the_runs_of_others(
    way: str, instance: dg.DagsterInstance, spoilt: None
) -> None:
    if way == "job":
        result = execute(instance, "ingest_articles", articles=["beta"])
    else:
        result = materialize_with_checks(instance, "beta")
    assert result.success
    key = dg.AssetCheckKey(dg.AssetKey("converted_markdown"), "structure_is_preserved")
    (record,) = instance.event_log_storage.get_asset_check_execution_history(key, limit=1)
    assert (record.run_id, record.status.value) == (result.run_id, "FAILED")


def test_a_check_that_shall_only_warn_stops_nothing(
    article: Article, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KB_ADVISORY_CHECKS", '["structure_is_preserved"]')
    article("alpha", LOST)
    assert execute(instance, "ingest_articles").success
    assert materialized(instance, "search_index") == {"alpha"}
    evaluation = check(instance, "structure_is_preserved")
    assert (evaluation.passed, evaluation.blocking, evaluation.severity) == (False, False, dg.AssetCheckSeverity.WARN)


def test_the_definitions_say_which_checks_block() -> None:
    from kb_pipeline.definitions import defs
    from kb_pipeline.defs.network import NETWORK

    graph = defs().get_repository_def().asset_graph
    networks = {asset.key for asset in NETWORK}  # whose checks have a test of their own
    keys = [key for key in graph.asset_check_keys if key.asset_key not in networks]
    specs = {key.name: graph.get_check_spec(key) for key in keys}
    assert {name for name, spec in specs.items() if spec.blocking} == {
        name for name, spec in CHECKS.items() if spec.blocking
    }
    of_articles = {name: spec for name, spec in specs.items() if name != NOT_WORSE}
    assert {name: spec.asset_key.to_user_string() for name, spec in of_articles.items()} == {
        name: found.layer for name, found in CHECKS.items()
    }


def test_articles_that_contradict_one_another_are_named_with_both_statements(
    article: Article, instance: dg.DagsterInstance
) -> None:
    page = "<body><h1>{}</h1><p>{}</p></body>"
    article("alpha", page.format("Passwords", "The passwords of all agents expire after 90 days."))
    article("beta", page.format("Onboarding", "As a rule, passwords of agents expire after 60 days."))
    assert execute(instance, "ingest_articles").success
    evaluation = check(instance, "statements_agree", "search_index")
    assert (evaluation.passed, evaluation.blocking, evaluation.severity) == (False, False, dg.AssetCheckSeverity.WARN)
    told = values(evaluation.metadata)["failed"]
    assert [row["article"] for row in told] == ["alpha", "beta"]
    assert all("90 days" in row["problem"] and "60 days" in row["problem"] for row in told)
    (of_beta,) = check_history(instance, "statements_agree", "search_index", partition="beta")
    assert not of_beta.passed
    article("beta", page.format("Onboarding", "As a rule, passwords of agents expire after 90 days."))
    assert execute(instance, "ingest_articles").success
    assert check(instance, "statements_agree", "search_index").passed
