"""With PostgreSQL as Dagster's storage everything behaves as with SQLite."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml
from sqlalchemy import Engine, event

from kb_pipeline.defs.control_room import CONTROL_ROOM
from kb_pipeline.flow.layers import LAYER_NAMES
from kb_pipeline_tests.conftest import Article
from kb_pipeline_tests.defs.conftest import instance_with
from kb_pipeline_tests.defs.test_assets import failed, materialize, materialized
from kb_pipeline_tests.defs.test_sqlite_storage import KEY
from kb_pipeline_tests.defs.test_sqlite_storage import materialized as materialization
from kb_pipeline_tests.postgres import Server

pytestmark = pytest.mark.slow("runs of Dagster on a PostgreSQL of their own")

CONFIG = Path(__file__).parents[2] / "deploy/postgres/dagster.yaml"
RANGE = {"dagster/asset_partition_range_start": "alpha", "dagster/asset_partition_range_end": "gamma"}


@pytest.fixture
def instance(postgres: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dg.DagsterInstance]:
    """As ``deploy/postgres/dagster.yaml`` sets it up, on an empty database."""
    monkeypatch.setenv("KB_POSTGRES_URL", postgres.new_database())
    with dg.instance_for_test(temp_dir=str(tmp_path), overrides=yaml.safe_load(CONFIG.read_text())) as instance:
        yield instance


@pytest.fixture
def inserts() -> Iterator[list[dict[str, Any]]]:
    """The parameters of every statement that wrote materializations."""
    seen: list[dict[str, Any]] = []

    def note(_connection: object, _cursor: object, statement: str, parameters: Any, *_rest: object) -> None:
        is_postgresql = isinstance(parameters, dict)
        is_insert = is_postgresql and statement.startswith("INSERT INTO event_logs")
        if is_insert and "ASSET_MATERIALIZATION" in parameters.values():
            seen.append(parameters)

    event.listen(Engine, "before_cursor_execute", note)
    yield seen
    event.remove(Engine, "before_cursor_execute", note)


def test_the_storage_is_postgresql(instance: dg.DagsterInstance) -> None:
    kinds = {type(storage).__name__ for storage in (instance.run_storage, instance.event_log_storage)}
    assert kinds == {"PostgresRunStorage", "PostgresEventLogStorage"}


def picture(instance: dg.DagsterInstance) -> dict[str, tuple[set[str], set[str]]]:
    return {name: (materialized(instance, name), failed(instance, name)) for name in LAYER_NAMES}


def test_the_same_picture_as_with_sqlite(
    instance: dg.DagsterInstance, three: list[str], article: Article, tmp_path: Path, inserts: list[dict[str, Any]]
) -> None:
    article("beta", b"%PDF-1.7")
    materialize(instance, tags=RANGE)
    assert len(inserts) == len(LAYER_NAMES) + len(CONTROL_ROOM), "one batch for each asset"
    with instance_with(tmp_path / "sqlite") as sqlite:
        sqlite.add_dynamic_partitions("articles", three)
        materialize(sqlite, tags=RANGE)
        assert picture(instance) == picture(sqlite)
    assert picture(instance)["converted_markdown"] == ({"alpha", "gamma"}, {"beta"})


def test_a_batch_is_one_statement(instance: dg.DagsterInstance, inserts: list[dict[str, Any]]) -> None:
    instance.event_log_storage.store_event_batch([materialization("run-1", f"p{n}") for n in range(500)])
    assert len(inserts) == 1
    assert len(instance.get_materialized_partitions(KEY)) == 500


def test_a_run_writes_one_batch_for_each_asset(
    instance: dg.DagsterInstance, three: list[str], inserts: list[dict[str, Any]]
) -> None:
    materialize(instance, tags=RANGE)
    assert len(inserts) == len(LAYER_NAMES) + len(CONTROL_ROOM)
