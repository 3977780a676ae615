"""What the UI shows before anything ran: everything is named, described, grouped and owned."""

from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from kb_pipeline.definitions import defs
from kb_pipeline.defs.assets import kinds_of
from kb_pipeline.flow.layers import LAYER_NAMES
from kb_pipeline.settings import Settings

REPOSITORY = defs().get_repository_def()
CONTROL_ROOM = {"index_state", "failing_articles", "costs", "removed_articles"}
QUALITY = {"retrieval_quality", "answer_quality", "unanswered_questions", "usage"}
NETWORK = {"scenario_manifest", "network_tables", "telemetry_tables", "network_store", "scenario_articles"}
NETWORK |= {"diagnosis_quality"}
GROUPS = {
    **dict.fromkeys(LAYER_NAMES, "articles"),
    **dict.fromkeys(CONTROL_ROOM, "control_room"),
    **dict.fromkeys(QUALITY, "quality"),
    **dict.fromkeys(NETWORK, "network"),
}
JOBS = [job for job in REPOSITORY.get_all_jobs() if not job.name.startswith("__")]


def test_the_code_location_loads_with_all_that_it_refers_to() -> None:
    dg.Definitions.validate_loadable(defs())


def test_every_asset_is_described_grouped_and_owned_and_has_its_kinds() -> None:
    graph = REPOSITORY.asset_graph
    assert {key.to_user_string() for key in graph.get_all_asset_keys()} == set(GROUPS)
    for node in graph.asset_nodes:
        assert node.description, node.key
        assert node.owners, node.key
        assert node.kinds, node.key
        assert node.group_name == GROUPS[node.key.to_user_string()]


def test_every_check_says_what_it_promises() -> None:
    graph = REPOSITORY.asset_graph
    assert all(graph.get_check_spec(key).description for key in graph.asset_check_keys)


def fields_of(node: Any) -> dict[str, Any]:
    """The fields of the config of an op."""
    return getattr(node.definition.config_field.config_type, "fields", {}) if node.definition.has_config_field else {}


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_every_job_its_op_and_every_field_of_its_config_is_described(job: dg.JobDefinition) -> None:
    assert job.description
    for node in job.nodes:
        assert node.definition.description
        assert all(field.description for field in fields_of(node).values())


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_the_launchpad_opens_with_all_fields_of_the_config(job: dg.JobDefinition) -> None:
    config = job.run_config or (
        job.partitioned_config and job.partitioned_config.get_run_config_for_partition_key("any")
    )
    for node in job.nodes:
        shown = (config or {}).get("ops", {}).get(node.name, {}).get("config", {})
        assert set(shown) == set(fields_of(node))


@pytest.mark.parametrize("job", ["ingest_articles", "retry_failing_articles", "refresh_stale_articles"])
def test_the_launchpad_offers_the_analyzer_of_a_run(job: str) -> None:
    shown = REPOSITORY.get_job(job).run_config["resources"]["kb"]["config"]
    assert "analyzer" in shown


def test_the_graph_shows_what_makes_each_layer() -> None:
    cloud = Settings(
        staging="abfs://in@account",
        serving="abfs://out@account",
        analyzer="content-understanding",
        embedder="openai/text-embedding-3-small",
        index="azure-ai-search",
    )
    kinds = kinds_of(cloud)
    assert {layer for layer in LAYER_NAMES if "azure" in kinds[layer]} == {
        "staged_article",
        "converted_markdown",
        "image_descriptions",
        "serving_article",
        "search_index",
    }
    assert "openai" in kinds["chunk_embeddings"]


def test_the_ui_opens_the_code_of_every_asset_that_is_computed() -> None:
    graph = REPOSITORY.asset_graph
    for key in graph.materializable_asset_keys:
        (reference,) = graph.get(key).metadata["dagster/code_references"].code_references
        line = Path(reference.file_path).read_text().splitlines()[reference.line_number - 1]
        assert line.lstrip().startswith(("class ", "@dg.", "def ")), reference
        if key.to_user_string() in LAYER_NAMES:
            assert Path(reference.file_path).stem == key.to_user_string()


def test_every_schedule_and_sensor_is_described_and_starts_jobs_that_exist() -> None:
    names = {job.name for job in REPOSITORY.get_all_jobs()}
    for schedule in REPOSITORY.schedule_defs:
        assert schedule.description
        assert schedule.job_name in names
    for sensor in REPOSITORY.sensor_defs:
        assert sensor.description
        assert {target.job_name for target in sensor.targets} <= names
