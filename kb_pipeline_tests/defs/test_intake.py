"""Each declared source is an asset with a job, a schedule and checks; what it takes in, the sensor ingests."""

from pathlib import Path

import dagster as dg
import pytest
from dagster._core.definitions.data_version import CachingStaleStatusResolver, StaleStatus
from dagster._core.loader import LoadingContextForTest

from kb_pipeline.defs.articles import definitions_of
from kb_pipeline.defs.intake import intake_of, sources_alone
from kb_pipeline.defs.resources import KnowledgeBase
from kb_pipeline.errors import IntakeError
from kb_pipeline.flow.layers import LAYER_NAMES
from kb_pipeline.settings import load_settings
from kb_pipeline_tests.intake.conftest import page


@pytest.fixture
def manual(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("home", "staging", "intake.yaml"):
        monkeypatch.setenv(f"KB_{name.removesuffix('.yaml').upper()}", str(tmp_path / name))
    root = tmp_path / "manual"
    root.mkdir()
    (root / "a.html").write_text(page())
    (tmp_path / "intake.yaml").write_text(f"the-manual:\n  kind: folder\n  path: {root}\n")
    return root


def taken_in() -> tuple[dict[str, object], dict[str, bool]]:
    """What the run of the only asset leaves: its metadata, and whether each check passed."""
    result = sources_alone().resolve_job_def("take_in_the_manual").execute_in_process()
    (made,) = result.get_asset_materialization_events()
    metadata: dict[str, object] = {name: value.value for name, value in made.materialization.metadata.items()}
    return metadata, {each.check_name: each.passed for each in result.get_asset_check_evaluations()}


def test_a_run_says_what_was_new_changed_gone_and_refused(manual: Path, tmp_path: Path) -> None:
    metadata, checks = taken_in()
    assert (metadata["new"], metadata["new_articles"], metadata["refused"]) == (1, ["the-manual-a"], 0)
    assert checks == {"every_item_is_taken": True, "nothing_is_held_back": True}
    assert (tmp_path / "staging" / "the-manual-a" / "index.html").exists()
    (manual / "a.html").unlink()
    (manual / "b.numbers").write_bytes(b"PK")
    metadata, checks = taken_in()
    assert (metadata["gone"], metadata["refused"]) == (0, 1)
    assert checks == {"every_item_is_taken": False, "nothing_is_held_back": False}


def test_each_source_has_a_job_and_a_schedule_and_is_described(manual: Path) -> None:
    definitions = definitions_of(KnowledgeBase())
    dg.Definitions.validate_loadable(definitions)
    assert definitions.resolve_job_def("take_in_the_manual").description
    (schedule,) = intake_of(load_settings()).schedules
    assert (schedule.cron_schedule, schedule.job_name) == ("30 1 * * *", "take_in_the_manual")
    node = definitions.resolve_asset_graph().get(dg.AssetKey("intake_the_manual"))
    assert (node.group_name, node.description, node.owners, node.kinds) == (
        "intake", "The articles of the source the-manual in the staging folder, as they are in the source.",
        ["team:knowledge-base"], {"file"},
    )  # fmt: skip


def test_the_graph_leads_from_each_source_to_the_layers(manual: Path) -> None:
    graph = definitions_of(KnowledgeBase()).resolve_asset_graph()
    assert graph.get(dg.AssetKey("staged_article")).parent_keys == {dg.AssetKey("taken_in_articles")}
    assert graph.get(dg.AssetKey("taken_in_articles")).parent_keys == {dg.AssetKey("intake_the_manual")}


@pytest.mark.slow("runs of Dagster")
def test_no_article_is_stale_because_a_source_was_added_or_taken_in(
    manual: Path, tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    def now() -> dg.Definitions:
        return definitions_of(KnowledgeBase())

    def stale() -> set[str]:
        graph = now().get_repository_def().asset_graph
        resolver = CachingStaleStatusResolver(instance, graph, LoadingContextForTest(instance))
        return {name for name in LAYER_NAMES for each in instance.get_dynamic_partitions("articles")
                if resolver.get_status(dg.AssetKey(name), each) != StaleStatus.FRESH}  # fmt: skip

    declared = (tmp_path / "intake.yaml").read_text()
    (tmp_path / "intake.yaml").unlink()
    (tmp_path / "staging" / "own").mkdir(parents=True)
    (tmp_path / "staging" / "own" / "index.html").write_text(page())
    assert now().resolve_job_def("ingest_articles").execute_in_process(instance=instance).success
    (tmp_path / "intake.yaml").write_text(declared)
    assert stale() == set()
    for _ in range(2):
        assert now().resolve_job_def("take_in_the_manual").execute_in_process(instance=instance).success
        assert stale() == set()


def test_a_schedule_that_is_none_is_told(manual: Path, tmp_path: Path) -> None:
    (tmp_path / "intake.yaml").write_text(f"wiki:\n  kind: folder\n  path: {manual}\n  schedule: at noon\n")
    with pytest.raises(IntakeError, match=r"wiki\.schedule is no cron schedule: 'at noon'"):
        intake_of(load_settings())


def test_without_declared_sources_there_is_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KB_INTAKE", str(tmp_path / "none.yaml"))
    assert intake_of(load_settings()) == ([], [], [])


def test_a_file_of_sources_that_is_wrong_is_told_when_the_code_location_loads(manual: Path, tmp_path: Path) -> None:
    (tmp_path / "intake.yaml").write_text("wiki:\n  kind: fodler\n")
    with pytest.raises(IntakeError, match="line 1: wiki needs a kind"):
        definitions_of(KnowledgeBase())
