"""A Dagster instance as ``dagster.yaml`` sets it up, and the assets run on it."""

from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from kb_pipeline.defs.sqlite_storage import BatchingSqliteStorage
from kb_pipeline.settings import Settings


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    storage = {
        "module": BatchingSqliteStorage.__module__,
        "class": BatchingSqliteStorage.__name__,
        "config": {"base_dir": str(tmp_path / "dagster")},
    }
    (tmp_path / "dagster").mkdir()
    with dg.instance_for_test(
        temp_dir=str(tmp_path / "dagster"), overrides={"storage": {"custom": storage}}
    ) as instance:
        yield instance


@pytest.fixture(autouse=True)
def _environment(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """The resource reads its settings from the environment, like in a real run."""
    monkeypatch.setenv("KB_STAGING", settings.staging)
    monkeypatch.setenv("KB_HOME", settings.home)
    monkeypatch.setenv("KB_EMBEDDER", settings.embedder)
    monkeypatch.setenv("KB_WORKERS", "2")
