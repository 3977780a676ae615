"""A change of model or chunking through Dagster: readers are switched once, at the end, and can be switched back."""

import dagster as dg
import pytest

from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.search.catalog import LiveIndex
from kb_pipeline.settings import Settings, load_settings
from kb_pipeline_tests.conftest import Article
from kb_pipeline_tests.defs.runs import execute, logged, reason, shown

pytestmark = pytest.mark.slow("a run of Dagster")


@pytest.fixture
def before(ingested: list[str]) -> str:
    """Three articles are published; the generation that readers use."""
    return live().generation.id


def live() -> LiveIndex:
    found = Workspace(load_settings()).catalog.live()
    assert found
    return found


@pytest.fixture(params=[("KB_EMBEDDER", "kb_pipeline_tests.doubles:OtherEmbedder"), ("KB_CHUNK_MAX_TOKENS", "50")])
def changed(request: pytest.FixtureRequest, before: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Another embedder, or other chunks; the generation that these settings make."""
    monkeypatch.setenv(*request.param)
    return Workspace(load_settings()).generation.id


def test_readers_are_switched_when_the_last_article_is_in_the_new_generation(
    instance: dg.DagsterInstance, before: str, changed: str
) -> None:
    result = execute(instance, "ingest_articles", articles=["alpha", "beta"])
    assert result.success
    assert live().generation.id == before != changed
    assert "waits for 1 article;" in logged(instance, result)
    told = shown(instance, "index_state")
    assert (told["pending_articles"], told["good"]) == ("gamma", False)
    result = execute(instance, "ingest_articles")
    assert f"readers use generation {changed} now, {before} is kept" in logged(instance, result)
    assert live().generation.id == changed
    told = shown(instance, "index_state")
    assert (told["good"], told["generation"], told["live_generation"]) == (True, changed, changed)


def test_a_refresh_makes_the_whole_generation(instance: dg.DagsterInstance, before: str, changed: str) -> None:
    assert execute(instance, "refresh_stale_articles").success
    assert live().generation.id == changed


def test_an_article_that_fails_keeps_readers_on_the_old_generation(
    instance: dg.DagsterInstance, before: str, changed: str, article: Article
) -> None:
    article("beta", b"%PDF-1.7")
    result = execute(instance, "ingest_articles")
    assert result.success  # one of three failed
    assert live().generation.id == before
    assert "waits for 1 article;" in logged(instance, result)


def test_a_switch_back_by_hand_stays_until_it_is_undone_by_hand(
    instance: dg.DagsterInstance, before: str, changed: str
) -> None:
    execute(instance, "ingest_articles")
    assert execute(instance, "switch_generation", generation=before).success
    assert live().generation.id == before
    assert "held back" in logged(instance, execute(instance, "ingest_articles"))
    assert live().generation.id == before
    assert execute(instance, "switch_generation", generation=changed).success
    assert live().generation.id == changed


def test_a_generation_that_does_not_exist_is_refused_with_the_ones_that_do(
    instance: dg.DagsterInstance, before: str, settings: Settings
) -> None:
    result = execute(instance, "switch_generation", generation="nonesuch")
    assert "there is no generation 'nonesuch'" in reason(result)
    assert before in reason(result)
