"""Through Dagster: exact state for each article and asset, in the shapes that the UI launches."""

from pathlib import Path

import dagster as dg
import pytest

from kb_pipeline.defs.assets import knowledge_base
from kb_pipeline.flow.layers import LAYER_NAMES
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.settings import Settings, load_settings
from kb_pipeline_tests.conftest import Article
from kb_pipeline_tests.defs.conftest import GOOD
from kb_pipeline_tests.defs.runs import execute, failed, materialize, materialize_range, materialized, reason, shown
from kb_pipeline_tests.pictures import screenshot

pytestmark = pytest.mark.slow("a run of Dagster")


def tags_of(instance: dg.DagsterInstance, asset: str) -> dict[str, str]:
    event = instance.get_latest_materialization_event(dg.AssetKey(asset))
    assert event and event.asset_materialization
    return dict(event.asset_materialization.tags or {})


def test_the_graph_is_the_flow() -> None:
    specs = list(knowledge_base(load_settings()).specs)
    assert [spec.key.to_user_string() for spec in specs] == list(LAYER_NAMES)
    deps = {spec.key.to_user_string(): {dep.asset_key.to_user_string() for dep in spec.deps} for spec in specs}
    assert deps["search_index"] == {"serving_article", "chunks", "chunk_embeddings"}


@pytest.mark.usefixtures("worker_processes")
def test_one_partition(instance: dg.DagsterInstance, three: list[str], settings: Settings) -> None:
    assert materialize(instance, partition_key="beta").success
    for name in LAYER_NAMES:
        assert materialized(instance, name) == {"beta"}
    assert set(Workspace(settings).index.entries()) == {"beta"}


def test_a_range_of_partitions_in_one_run(instance: dg.DagsterInstance, three: list[str]) -> None:
    assert materialize_range(instance, "alpha", "gamma").success
    assert materialized(instance, "search_index") == set(three)


def test_only_the_selected_layers_are_made(instance: dg.DagsterInstance, three: list[str]) -> None:
    selection = ["staged_article", "converted_markdown"]
    assert materialize(instance, partition_key="alpha", selection=selection).success
    assert materialized(instance, "converted_markdown") == {"alpha"}
    assert materialized(instance, "chunks") == set()


def test_a_layer_whose_upstream_was_never_made_says_what_to_materialize(
    instance: dg.DagsterInstance, three: list[str]
) -> None:
    result = materialize(instance, partition_key="alpha", selection=["chunks"])
    assert "made from document_summary and serving_article, not made yet; materialize them first" in reason(result)
    assert failed(instance, "chunks") == {"alpha"}


@pytest.mark.usefixtures("worker_processes")
def test_a_failing_article_is_red_in_its_own_partition_and_the_others_are_published(
    instance: dg.DagsterInstance, three: list[str], article: Article, settings: Settings
) -> None:
    article("beta", b"%PDF-1.7")
    result = materialize_range(instance, "alpha", "gamma")
    assert not result.success
    assert materialized(instance, "staged_article") == set(three)
    assert materialized(instance, "search_index") == {"alpha", "gamma"}
    assert failed(instance, "converted_markdown") == {"beta"}
    assert failed(instance, "staged_article") == set()
    assert set(Workspace(settings).index.entries()) == {"alpha", "gamma"}
    assert "1 of 3 articles failed" in reason(result)


def test_metadata_is_worth_looking_at(instance: dg.DagsterInstance, three: list[str]) -> None:
    materialize(instance, partition_key="alpha")
    served = shown(instance, "serving_article")
    assert "# Good" in served["article"]
    assert served["images"][0]["image"] == "images/a.png"
    chunks = shown(instance, "chunks")
    assert chunks["chunks"] == 1
    assert chunks["reused"] is False
    assert chunks["checks"] == "passed: chunk_sizes_are_in_bounds, chunks_cover_the_article, rows_are_complete"
    assert shown(instance, "chunk_embeddings")["usage"][0]["model"] == "hashing-256"


def test_what_was_reused_is_said_and_the_run_that_made_it_linked(
    instance: dg.DagsterInstance, three: list[str]
) -> None:
    first = materialize(instance, partition_key="alpha")
    materialize(instance, partition_key="alpha")
    again = shown(instance, "chunk_embeddings")
    assert again["reused"] is True
    assert again["made_by_run"] == first.run_id
    assert "usage" not in again


def test_data_versions_are_content_hashes(instance: dg.DagsterInstance, three: list[str]) -> None:
    materialize(instance, partition_key="alpha")
    serving = tags_of(instance, "serving_article")
    assert tags_of(instance, "chunks")["dagster/input_data_version/serving_article"] == serving["dagster/data_version"]


def test_a_layer_made_alone_names_what_it_was_made_from(instance: dg.DagsterInstance, three: list[str]) -> None:
    materialize(instance, partition_key="alpha")
    materialize(instance, partition_key="alpha", selection=["chunks"])
    tags = tags_of(instance, "chunks")
    assert "dagster/input_data_version/serving_article" in tags
    assert "dagster/input_event_pointer/serving_article" in tags


def test_the_ingest_job_finds_articles_and_makes_them_partitions(
    instance: dg.DagsterInstance, article: Article, settings: Settings
) -> None:
    for name in ("one", "two"):
        article(name, GOOD, {"a.image": screenshot(name)})
    (Path(settings.staging) / "a...b").mkdir()
    assert execute(instance, "ingest_articles").success
    assert set(instance.get_dynamic_partitions("articles")) == {"one", "two"}
    assert materialized(instance, "search_index") == {"one", "two"}


def test_the_ingest_job_takes_scattered_articles_in_one_run(
    instance: dg.DagsterInstance, three: list[str], article: Article
) -> None:
    article("gamma", b"")
    execute(instance, "ingest_articles", articles=["gamma", "alpha"])
    assert materialized(instance, "search_index") == {"alpha"}
    assert failed(instance, "converted_markdown") == {"gamma"}
