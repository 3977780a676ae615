"""Through Dagster: exact state for each article and asset, in the shapes that the UI launches."""

import asyncio
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.loader import LoadingContextForTest
from dagster._core.storage.partition_status_cache import get_partition_subsets

from kb_pipeline.defs.assets import SPECS, index_state, knowledge_base
from kb_pipeline.defs.jobs import ingest_articles
from kb_pipeline.defs.partitions import add_articles, articles
from kb_pipeline.layers import LAYER_NAMES
from kb_pipeline.settings import Settings
from kb_pipeline.workspace import Workspace
from kb_pipeline_tests.conftest import Article
from kb_pipeline_tests.pictures import screenshot

GOOD = "<body><h1>Good</h1><p>Some text about tickets.</p><p><img src='a.image'></p></body>"


@pytest.fixture
def three(article: Article, instance: dg.DagsterInstance) -> list[str]:
    for name in ("alpha", "beta", "gamma"):
        article(name, GOOD, {"a.image": screenshot(name)})
    add_articles(instance, ["alpha", "beta", "gamma"])
    return ["alpha", "beta", "gamma"]


def materialize(instance: dg.DagsterInstance, *, tags: dict[str, str] | None = None, **options: object):
    from kb_pipeline.definitions import defs

    return dg.materialize(
        [knowledge_base], instance=instance, resources=defs.resources, tags=tags, raise_on_error=False, **options
    )


def materialised(instance: dg.DagsterInstance, asset: str) -> set[str]:
    return instance.get_materialized_partitions(dg.AssetKey(asset))


def failed(instance: dg.DagsterInstance, asset: str) -> set[str]:
    """Failed partitions as the UI computes them."""
    _, failed, _ = asyncio.run(
        get_partition_subsets(instance, LoadingContextForTest(instance), dg.AssetKey(asset), instance, articles)
    )
    return set(failed.get_partition_keys()) if failed else set()


def test_the_graph_is_the_flow() -> None:
    assert [spec.key.to_user_string() for spec in SPECS] == list(LAYER_NAMES)
    deps = {spec.key.to_user_string(): {dep.asset_key.to_user_string() for dep in spec.deps} for spec in SPECS}
    assert deps["search_index"] == {"chunks", "chunk_embeddings"}
    assert all(spec.description and spec.group_name and spec.owners and spec.kinds for spec in SPECS)


def test_one_partition(instance: dg.DagsterInstance, three: list[str], settings: Settings) -> None:
    assert materialize(instance, partition_key="beta").success
    for name in LAYER_NAMES:
        assert materialised(instance, name) == {"beta"}
    assert set(Workspace(settings).index.entries()) == {"beta"}


def test_a_range_of_partitions_in_one_run(instance: dg.DagsterInstance, three: list[str]) -> None:
    tags = {"dagster/asset_partition_range_start": "alpha", "dagster/asset_partition_range_end": "gamma"}
    assert materialize(instance, tags=tags).success
    assert materialised(instance, "search_index") == set(three)


def test_only_the_selected_layers_are_made(instance: dg.DagsterInstance, three: list[str]) -> None:
    selection = ["staged_article", "converted_markdown"]
    assert materialize(instance, partition_key="alpha", selection=selection).success
    assert materialised(instance, "converted_markdown") == {"alpha"}
    assert materialised(instance, "chunks") == set()


def test_a_failing_article_is_red_in_its_own_partition_and_the_others_are_published(
    instance: dg.DagsterInstance, three: list[str], article: Article, settings: Settings
) -> None:
    article("beta", b"%PDF-1.7")
    tags = {"dagster/asset_partition_range_start": "alpha", "dagster/asset_partition_range_end": "gamma"}
    result = materialize(instance, tags=tags)
    assert not result.success
    assert materialised(instance, "staged_article") == set(three)
    assert materialised(instance, "search_index") == {"alpha", "gamma"}
    assert failed(instance, "converted_markdown") == {"beta"}
    assert failed(instance, "staged_article") == set()
    assert set(Workspace(settings).index.entries()) == {"alpha", "gamma"}
    failure = next(event for event in result.all_events if event.is_step_failure).step_failure_data
    assert "1 of 3 articles failed" in str(failure.user_failure_data and failure.user_failure_data.description)


def test_metadata_is_worth_looking_at(instance: dg.DagsterInstance, three: list[str]) -> None:
    materialize(instance, partition_key="alpha")
    metadata = {name: instance.get_latest_materialization_event(dg.AssetKey(name)) for name in LAYER_NAMES}
    served = metadata["serving_article"].asset_materialization.metadata  # type: ignore[union-attr]
    assert "# Good" in str(served["article"].value)
    assert served["images"].records[0].data["image"] == "images/a.png"
    chunks = metadata["chunks"].asset_materialization.metadata  # type: ignore[union-attr]
    assert chunks["chunks"].value == 1
    assert chunks["reused"].value is False


def test_what_was_reused_is_said_and_the_run_that_made_it_linked(
    instance: dg.DagsterInstance, three: list[str]
) -> None:
    first = materialize(instance, partition_key="alpha")
    materialize(instance, partition_key="alpha")
    event = instance.get_latest_materialization_event(dg.AssetKey("chunk_embeddings"))
    metadata = event.asset_materialization.metadata  # type: ignore[union-attr]
    assert metadata["reused"].value is True
    assert metadata["made_by_run"].value == first.run_id


def test_data_versions_are_content_hashes(instance: dg.DagsterInstance, three: list[str]) -> None:
    materialize(instance, partition_key="alpha")
    tags = instance.get_latest_materialization_event(dg.AssetKey("chunks")).asset_materialization.tags  # type: ignore[union-attr]
    serving = instance.get_latest_materialization_event(dg.AssetKey("serving_article")).asset_materialization  # type: ignore[union-attr]
    assert tags["dagster/input_data_version/serving_article"] == serving.tags["dagster/data_version"]  # type: ignore[index]


def test_a_layer_made_alone_names_what_it_was_made_from(instance: dg.DagsterInstance, three: list[str]) -> None:
    materialize(instance, partition_key="alpha")
    materialize(instance, partition_key="alpha", selection=["chunks"])
    tags = instance.get_latest_materialization_event(dg.AssetKey("chunks")).asset_materialization.tags  # type: ignore[union-attr]
    assert "dagster/input_data_version/serving_article" in tags  # type: ignore[operator]
    assert "dagster/input_event_pointer/serving_article" in tags  # type: ignore[operator]


def test_the_ingest_job_finds_articles_and_makes_them_partitions(
    instance: dg.DagsterInstance, article: Article, settings: Settings
) -> None:
    from kb_pipeline.definitions import defs

    for name in ("one", "two"):
        article(name, GOOD, {"a.image": screenshot(name)})
    (Path(settings.staging) / "a...b").mkdir()
    result = ingest_articles.execute_in_process(instance=instance, resources=defs.resources)
    assert result.success
    assert set(instance.get_dynamic_partitions("articles")) == {"one", "two"}
    assert materialised(instance, "search_index") == {"one", "two"}


def test_the_ingest_job_takes_scattered_articles_in_one_run(
    instance: dg.DagsterInstance, three: list[str], article: Article
) -> None:
    from kb_pipeline.definitions import defs

    config = {"ops": {"ingest": {"config": {"articles": ["gamma", "alpha"]}}}}
    article("gamma", b"")
    result = ingest_articles.execute_in_process(
        instance=instance, resources=defs.resources, run_config=config, raise_on_error=False
    )
    assert not result.success
    assert materialised(instance, "search_index") == {"alpha"}
    assert failed(instance, "converted_markdown") == {"gamma"}


def test_index_state_sees_what_is_missing_and_what_is_too_much(
    instance: dg.DagsterInstance, three: list[str], settings: Settings
) -> None:
    from kb_pipeline.definitions import defs

    tags = {"dagster/asset_partition_range_start": "alpha", "dagster/asset_partition_range_end": "gamma"}
    materialize(instance, tags=tags)
    index = Workspace(settings).index
    index.remove(["beta"])
    result = dg.materialize([index_state], instance=instance, resources=defs.resources)
    metadata = result.asset_materializations_for_node("index_state")[0].metadata
    assert metadata["missing"].value == 1
    assert metadata["missing_articles"].value == "beta"
    assert metadata["orphaned"].value == 0
