"""A Dagster instance as ``dagster.yaml`` sets it up, and the assets run on it."""

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import dagster as dg
import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory
from dagster._core.storage.local_compute_log_manager import LocalComputeLogManager
from dagster._core.storage.noop_compute_log_manager import NoOpComputeLogManager
from dagster._serdes import ConfigurableClassData
from sqlalchemy import Engine, event

from kb_pipeline.defs.partitions import add_articles
from kb_pipeline.defs.sqlite_storage import BatchingSqliteStorage
from kb_pipeline.settings import Settings
from kb_pipeline_tests.building import made_once, stage
from kb_pipeline_tests.defs.runs import execute
from kb_pipeline_tests.pictures import screenshot

HISTORY = "history"
THREE = ("alpha", "beta", "gamma")
GOOD = "<body><h1>Good</h1><p>Some text about tickets.</p><p><img src='a.image'></p></body>"


@pytest.fixture(scope="session", autouse=True)
def _unsafe_and_fast() -> Iterator[None]:
    """No test outlives a power failure: SQLite need not wait for the disk."""

    def do_not_wait(connection: object, _record: object) -> None:
        if isinstance(connection, sqlite3.Connection):
            connection.execute("PRAGMA synchronous = OFF")

    event.listen(Engine, "connect", do_not_wait)
    yield
    event.remove(Engine, "connect", do_not_wait)


@pytest.fixture(scope="session", autouse=True)
def _migrations_read_once() -> Iterator[None]:
    """Every database that Dagster makes is stamped, for which its 60 migrations are else read anew, twice."""
    read, known = ScriptDirectory.from_config, dict[str | None, ScriptDirectory]()

    def once(config: Config) -> ScriptDirectory:
        place = config.get_main_option("script_location")
        if place not in known:
            known[place] = read(config)
        return known[place]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ScriptDirectory, "from_config", once)
        yield


@pytest.fixture(scope="module", autouse=True)
def _no_output_is_kept() -> Iterator[None]:
    """Nobody looks at what a run of a test printed, of which Dagster keeps a copy by four processes for each run."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(LocalComputeLogManager, "capture_logs", NoOpComputeLogManager.capture_logs)
        yield


@pytest.fixture(scope="session", autouse=True)
def _tables_made_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Dagster's tables without a row take longer to make than to copy."""
    make, tables = BatchingSqliteStorage.__init__, tmp_path_factory.mktemp("tables")
    make(BatchingSqliteStorage.__new__(BatchingSqliteStorage), str(tables))

    def copy(storage: BatchingSqliteStorage, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        place = Path(base_dir)
        if not (place / "history").exists() and not place.is_file():
            shutil.copytree(tables, place, dirs_exist_ok=True)
        make(storage, base_dir, inst_data)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(BatchingSqliteStorage, "__init__", copy)
        yield


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    with instance_with(tmp_path / HISTORY) as instance:
        yield instance


@contextmanager
def instance_with(history: Path) -> Iterator[dg.DagsterInstance]:
    """An instance that keeps its history in this folder."""
    storage = {
        "module": BatchingSqliteStorage.__module__,
        "class": BatchingSqliteStorage.__name__,
        "config": {"base_dir": str(history)},
    }
    with dg.instance_for_test(
        overrides={"storage": {"custom": storage}, "run_monitoring": {"free_slots_after_run_end_seconds": 1}}
    ) as instance:
        yield instance


@pytest.fixture(autouse=True)
def _environment(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """The resource reads its settings from the environment, like in a real run."""
    for name, value in environment_of(settings).items():
        monkeypatch.setenv(name, value)


def environment_of(settings: Settings) -> dict[str, str]:
    return {
        "KB_STAGING": settings.staging,
        "KB_HOME": settings.home,
        "KB_EMBEDDER": settings.embedder,
        "KB_CHUNK_MIN_TOKENS": str(settings.chunk_min_tokens),
        "KB_WORKERS": "2",
        "KB_ENGINE": "kb_pipeline_tests.doubles:WorkersHere",
    }


@pytest.fixture
def worker_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Builds in worker processes, as in a real run, instead of in the test's own."""
    monkeypatch.delenv("KB_ENGINE")


@pytest.fixture
def three(settings: Settings, instance: dg.DagsterInstance) -> list[str]:
    """Three articles that are staged, and partitions."""
    names = stage_three(settings)
    add_articles(instance, names)
    return names


def stage_three(settings: Settings) -> list[str]:
    for name in THREE:
        stage(settings, name, GOOD, {"a.image": screenshot(name)})
    return list(THREE)


@pytest.fixture
def ingested(settings: Settings, instance: dg.DagsterInstance) -> list[str]:
    """The three articles after a run of ``ingest_articles``, which the instance remembers."""
    made_once(ingest_three, settings)
    return list(THREE)


def ingest_three(settings: Settings) -> None:
    stage_three(settings)
    assert ingest(settings).success


def ingest(settings: Settings, **config: object) -> dg.ExecuteInProcessResult:
    """A run of ``ingest_articles``, whose history stays beside the home: for :func:`.building.made_once`."""
    with (
        patch.dict(os.environ, environment_of(settings)),
        instance_with(Path(settings.home).with_name(HISTORY)) as instance,
    ):
        return execute(instance, "ingest_articles", **config)
