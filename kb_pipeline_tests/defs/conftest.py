"""A Dagster instance as ``dagster.yaml`` sets it up, and the assets run on it."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, event

from kb_pipeline.defs.partitions import add_articles
from kb_pipeline.defs.sqlite_storage import BatchingSqliteStorage
from kb_pipeline.settings import Settings
from kb_pipeline_tests.conftest import Article
from kb_pipeline_tests.pictures import screenshot

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


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    storage = {
        "module": BatchingSqliteStorage.__module__,
        "class": BatchingSqliteStorage.__name__,
        "config": {"base_dir": str(tmp_path / "dagster")},
    }
    (tmp_path / "dagster").mkdir()
    with dg.instance_for_test(
        temp_dir=str(tmp_path / "dagster"),
        overrides={"storage": {"custom": storage}, "run_monitoring": {"free_slots_after_run_end_seconds": 1}},
    ) as instance:
        yield instance


@pytest.fixture(autouse=True)
def _environment(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """The resource reads its settings from the environment, like in a real run."""
    monkeypatch.setenv("KB_STAGING", settings.staging)
    monkeypatch.setenv("KB_HOME", settings.home)
    monkeypatch.setenv("KB_EMBEDDER", settings.embedder)
    monkeypatch.setenv("KB_CHUNK_MIN_TOKENS", str(settings.chunk_min_tokens))
    monkeypatch.setenv("KB_WORKERS", "2")
    monkeypatch.setenv("KB_ENGINE", "kb_pipeline_tests.doubles:WorkersHere")


@pytest.fixture
def worker_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Builds in worker processes, as in a real run, instead of in the test's own."""
    monkeypatch.delenv("KB_ENGINE")


@pytest.fixture
def three(article: Article, instance: dg.DagsterInstance) -> list[str]:
    """Three articles that are staged, and partitions."""
    names = ["alpha", "beta", "gamma"]
    for name in names:
        article(name, GOOD, {"a.image": screenshot(name)})
    add_articles(instance, names)
    return names
