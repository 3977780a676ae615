"""Another project holds knowledge bases side by side, each from a ``defs.yaml`` of a few lines."""

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest
from dagster.components.core.component_tree import ComponentTreeException
from dagster.components.core.package_entry import get_package_objects_in_module

import kb_pipeline
from kb_pipeline.defs.namespace import PLAIN
from kb_pipeline.defs.resources import KnowledgeBase
from kb_pipeline.errors import SettingsError
from kb_pipeline.flow.layers import LAYER_NAMES
from kb_pipeline.store.state import known_articles

pytestmark = pytest.mark.slow("loads a project of Dagster's")

DEFS = """\
type: kb_pipeline.KnowledgeBaseComponent
attributes:
  name: {name}
  staging: articles/{name}
  home: made/{name}
  embedder: hashing
  schedule: "0 4 * * *"
  settings:
    KB_CHUNK_MIN_TOKENS: 1
    KB_ENGINE: kb_pipeline_tests.doubles:WorkersHere
"""


PROJECT = """\
[tool.dg]
directory_type = "project"
[tool.dg.project]
root_module = "hosting"
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project with two knowledge bases, while the environment has the settings of a third."""
    project = tmp_path / "project"
    for name in ("support", "handbook"):
        folder = project / "hosting" / "defs" / name
        folder.mkdir(parents=True)
        (folder / "defs.yaml").write_text(DEFS.format(name=name))
        article = project / "articles" / name / f"about-{name}"
        article.mkdir(parents=True)
        (article / "index.html").write_text(f"<body><h1>The {name}</h1><p>All about the {name}.</p></body>")
    (project / "pyproject.toml").write_text(PROJECT)
    for package in (project / "hosting", project / "hosting" / "defs"):
        (package / "__init__.py").touch()
    monkeypatch.setenv("KB_SERVING", str(tmp_path / "serving of the environment"))
    monkeypatch.setenv("KB_INDEX_URI", str(tmp_path / "index of the environment"))
    monkeypatch.syspath_prepend(project)
    yield project
    for module in [name for name in sys.modules if name.partition(".")[0] == "hosting"]:
        del sys.modules[module]


def load(project: Path) -> dg.Definitions:
    return dg.load_from_defs_folder(path_within_project=project)


def published(definitions: dg.Definitions, name: str) -> set[str]:
    """The articles that a knowledge base holds, which are those that its index finds."""
    kb = (definitions.resources or {})[f"{name}_kb"]
    assert isinstance(kb, KnowledgeBase)
    workspace = kb.workspace()
    articles = set(known_articles(workspace.layout))
    assert set(workspace.index.entries()) == articles
    return articles


def test_a_component_takes_few_lines() -> None:
    assert len(DEFS.splitlines()) <= 15


def test_two_knowledge_bases_have_names_of_their_own(project: Path) -> None:
    definitions = load(project)
    keys = {tuple(key.path) for key in definitions.resolve_asset_graph().get_all_asset_keys()}
    for name in ("support", "handbook"):
        assert {(name, layer) for layer in LAYER_NAMES} <= keys
    assert not {key for key in keys if len(key) == 1}, "an asset of no knowledge base"
    repository = definitions.get_repository_def()
    assert {"support_ingest_articles", "handbook_ingest_articles"} <= set(repository.job_names)
    assert {sensor.name for sensor in repository.sensor_defs} == {"support_staging_sensor", "handbook_staging_sensor"}
    refresh = repository.get_schedule_def("support_nightly_refresh")
    assert (refresh.cron_schedule, refresh.default_status) == ("0 4 * * *", dg.DefaultScheduleStatus.RUNNING)


def test_two_knowledge_bases_share_neither_partitions_nor_homes_nor_an_index(
    project: Path, instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    definitions = load(project)
    ingested = definitions.resolve_job_def("support_ingest_articles").execute_in_process(instance=instance)
    assert ingested.success
    assert instance.get_dynamic_partitions("support_articles") == ["about-support"]
    assert instance.get_dynamic_partitions("handbook_articles") == []
    assert not (project / "made" / "handbook" / "state").exists()

    instance.add_dynamic_partitions("handbook_articles", ["about-handbook"])
    keys = [dg.AssetKey(["handbook", layer]) for layer in LAYER_NAMES]
    materialized = definitions.resolve_implicit_global_asset_job_def().execute_in_process(
        instance=instance, partition_key="about-handbook", asset_selection=keys
    )
    assert materialized.success
    for name in ("support", "handbook"):
        assert published(definitions, name) == {f"about-{name}"}
        assert (project / "made" / name / "state" / f"about-{name}.json").is_file()
        for layer in LAYER_NAMES:
            assert instance.get_materialized_partitions(dg.AssetKey([name, layer])) == {f"about-{name}"}
        latest = instance.get_latest_materialization_event(dg.AssetKey([name, "failing_articles"]))
        assert latest, "the control room was not recorded"
    assert not instance.get_materialized_partitions(PLAIN.asset("chunks"))
    assert not [*tmp_path.glob("* of the environment")]


def test_what_failed_is_shown_by_the_assets_of_its_knowledge_base(project: Path, instance: dg.DagsterInstance) -> None:
    (project / "articles" / "support" / "bad").mkdir()
    (project / "articles" / "support" / "bad" / "index.html").write_text("<body></body>")
    load(project).resolve_job_def("support_ingest_articles").execute_in_process(instance=instance)
    (failed,) = instance.get_runs(dg.RunsFilter(statuses=[dg.DagsterRunStatus.FAILURE]))
    assert failed.job_name == "support_failed_articles"
    planned = instance.all_logs(failed.run_id, of_type=dg.DagsterEventType.ASSET_MATERIALIZATION_PLANNED)
    assert {entry.get_dagster_event().asset_key for entry in planned} == {
        dg.AssetKey(["support", "converted_markdown"])
    }


def test_the_sensor_of_one_knowledge_base_asks_for_its_own_job_and_partitions(
    project: Path, instance: dg.DagsterInstance
) -> None:
    (defs_yaml,) = (project / "hosting" / "defs" / "support").iterdir()
    defs_yaml.write_text(defs_yaml.read_text() + "    KB_SETTLE_SECONDS: 0\n")
    sensor = load(project).get_repository_def().get_sensor_def("support_staging_sensor")
    requested: list[dg.RunRequest] = []
    cursor = None
    for _ in range(2):  # an article is taken when it is seen unchanged
        with dg.build_sensor_context(instance, cursor=cursor) as context:
            result = sensor(context)
        assert isinstance(result, dg.SensorResult)
        cursor = result.cursor
        requested += result.run_requests or []
        if requested:
            (partitions,) = result.dynamic_partitions_requests or []
            break
    assert [request.job_name for request in requested] == ["support_ingest_articles"]
    assert partitions.partitions_def_name == "support_articles"


def test_a_setting_that_is_none_is_refused(project: Path) -> None:
    (defs_yaml,) = (project / "hosting" / "defs" / "support").iterdir()
    defs_yaml.write_text(defs_yaml.read_text() + "    KB_CHUNKS_MAX: 3\n")
    with pytest.raises(ComponentTreeException) as raised:
        load(project).get_repository_def()
    assert isinstance(raised.value.__cause__, SettingsError)
    assert "chunks_max" in str(raised.value.__cause__)


def test_dg_lists_the_component() -> None:
    pyproject = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    registered = pyproject["project"]["entry-points"]["dagster_dg_cli.registry_modules"]
    assert registered == {"kb_pipeline": kb_pipeline.__name__}
    assert [name for name, _ in get_package_objects_in_module(kb_pipeline)] == ["KnowledgeBaseComponent"]
