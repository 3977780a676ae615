"""What Dagster makes of the history we write: fresh or stale, by partition, as its UI tells it."""

from collections.abc import Callable

import dagster as dg
import pytest
from dagster._core.definitions.data_version import CachingStaleStatusResolver, StaleStatus
from dagster._core.loader import LoadingContextForTest

from kb_pipeline.defs.assets import knowledge_base
from kb_pipeline.flow.layers import LAYER_NAMES
from kb_pipeline.settings import load_settings
from kb_pipeline_tests.conftest import Article
from kb_pipeline_tests.defs.conftest import GOOD
from kb_pipeline_tests.defs.runs import execute, materialize

pytestmark = pytest.mark.slow("a run of Dagster")

Stale = Callable[[str], list[str]]


@pytest.fixture
def stale(instance: dg.DagsterInstance) -> Stale:
    """The layers of an article that the UI calls stale, with the code that today's settings mean."""

    from kb_pipeline.definitions import defs

    def look(article_id: str) -> list[str]:
        today = knowledge_base(load_settings())
        graph = dg.Definitions(assets=[today], resources=defs().resources).get_repository_def().asset_graph
        resolver = CachingStaleStatusResolver(instance, graph, LoadingContextForTest(instance))
        statuses = {name: resolver.get_status(dg.AssetKey(name), article_id) for name in LAYER_NAMES}
        assert StaleStatus.MISSING not in statuses.values()
        return [name for name, status in statuses.items() if status == StaleStatus.STALE]

    return look


def test_what_was_just_ingested_is_fresh(ingested: list[str], stale: Stale) -> None:
    assert stale("alpha") == []


def test_another_converter_makes_stale_what_it_made_and_a_refresh_makes_it_fresh(
    instance: dg.DagsterInstance, ingested: list[str], stale: Stale, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KB_ANALYZER", "kb_pipeline_tests.doubles:RenamedAnalyzer")
    assert stale("alpha")[0] == "converted_markdown"
    assert "staged_article" not in stale("alpha")
    assert execute(instance, "refresh_stale_articles").success
    for name in ingested:
        assert stale(name) == []


def test_what_a_run_made_with_an_analyzer_of_its_own_is_stale_by_the_instances(
    instance: dg.DagsterInstance, three: list[str], stale: Stale, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KB_ANALYZER", "kb_pipeline_tests.doubles:RenamedAnalyzer")
    execute(instance, "ingest_articles")
    assert execute(instance, "ingest_articles", choosing={"analyzer": "local"}, articles=["alpha"]).success
    assert stale("alpha")[0] == "converted_markdown"
    assert stale("beta") == []


def test_a_layer_made_alone_makes_stale_what_is_made_from_it(
    instance: dg.DagsterInstance, ingested: list[str], article: Article, stale: Stale
) -> None:
    article("alpha", GOOD.replace("tickets", "queues"))
    assert materialize(instance, partition_key="alpha", selection=["staged_article"]).success
    assert "converted_markdown" in stale("alpha")
    assert stale("beta") == []


def test_an_unchanged_article_that_is_ingested_again_stays_fresh(
    instance: dg.DagsterInstance, ingested: list[str], stale: Stale
) -> None:
    execute(instance, "ingest_articles")
    assert stale("beta") == []
