"""All articles at a snapshot, as every run leaves it and as a person asks for it."""

import dagster as dg
import pytest

from kb_pipeline.defs import finish
from kb_pipeline.defs.control_room import Snapshot
from kb_pipeline.errors import StorageError
from kb_pipeline.flow.layers import LAYER_NAMES
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.settings import Settings
from kb_pipeline_tests.building import unstage
from kb_pipeline_tests.conftest import Article, Ledger
from kb_pipeline_tests.defs.runs import execute, logged, materialize_control_room, materialize_range, shown

pytestmark = pytest.mark.slow("a run of Dagster")


def test_every_run_shows_the_index_as_it_is(instance: dg.DagsterInstance, three: list[str]) -> None:
    materialize_range(instance, "alpha", "gamma")
    told = shown(instance, "index_state")
    assert (told["articles"], told["entries"], told["good"]) == (3, 3, True)
    assert told["generation"] == told["live_generation"]


def test_index_state_names_what_is_missing_unserved_and_gone(
    instance: dg.DagsterInstance, three: list[str], settings: Settings
) -> None:
    materialize_range(instance, "alpha", "gamma")
    workspace = Workspace(settings)
    workspace.index.remove(["beta"])
    (workspace.layout.serving("alpha")).rename(workspace.layout.home / "elsewhere")
    unstage(settings, "gamma")
    assert materialize_control_room(instance).success
    told = shown(instance, "index_state")
    assert told["good"] is False
    assert told["missing_articles"] == "beta"
    assert told["unserved_articles"] == "alpha"
    assert told["unstaged_articles"] == "gamma"
    assert (told["stale"], told["orphaned"], told["pending"], told["doubled_entries"]) == (0, 0, 0, 0)


def test_failing_articles_counts_attempts_from_the_first_on(
    instance: dg.DagsterInstance, article: Article, three: list[str]
) -> None:
    article("beta", b"%PDF-1.7")
    for _ in range(2):
        execute(instance, "ingest_articles")
    told = shown(instance, "failing_articles")
    assert (told["articles"], told["failing"], told["transient"], told["older_version_published"]) == (3, 1, 0, 0)
    (row,) = told["failures"]
    assert (row["article"], row["attempts"], row["published"]) == ("beta", 2, "no")
    assert "PDF" in row["error"]
    assert row["since"] <= row["last"]


def test_costs_add_up_over_all_runs(
    instance: dg.DagsterInstance, three: list[str], ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KB_ANALYZER", "kb_pipeline_tests.doubles:PaidAnalyzer")
    monkeypatch.setenv("KB_PRICES", '{"paid-vision-1": {"input_tokens": 2, "output_tokens": 10}}')
    for _ in range(2):  # the second describes nothing
        assert execute(instance, "ingest_articles").success
    told = shown(instance, "costs")
    rows = {(row["layer"], row["model"]): row for row in told["by_layer_and_model"]}
    described = rows["image_descriptions", "paid-vision-1-2026"]
    assert (described["calls"], described["input_tokens"], described["output_tokens"]) == (3, 3000, 600)
    assert described["cost"] == "0.0120"
    assert told["cost"] == pytest.approx(0.012)
    assert told["tokens"] >= 3600
    assert len(ledger()) == 3


@pytest.mark.parametrize("name", ["index_state", "failing_articles", "costs"])
def test_one_of_it_can_be_materialized_by_hand_before_anything_was_ingested(
    name: str, instance: dg.DagsterInstance
) -> None:
    assert materialize_control_room(instance, selection=[name]).success
    assert shown(instance, name)


def test_a_run_that_made_nothing_still_shows_how_things_are(instance: dg.DagsterInstance) -> None:
    assert execute(instance, "ingest_articles").success
    assert shown(instance, "costs")["cost"] == 0
    assert shown(instance, "failing_articles")["failing"] == 0


def test_a_store_that_is_away_at_the_end_does_not_fail_the_run(
    instance: dg.DagsterInstance, three: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(_: Workspace) -> Snapshot:
        raise StorageError("cannot list the staging folder")

    monkeypatch.setattr(finish, "read_snapshot", away)
    result = execute(instance, "ingest_articles")
    assert result.success
    assert "the control room cannot be brought up to date: cannot list" in logged(instance, result)
    assert instance.get_materialized_partitions(dg.AssetKey(LAYER_NAMES[-1])) == set(three)
