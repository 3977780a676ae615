"""A copy of the sample scenario that tests may spoil, and its store."""

import shutil
from pathlib import Path

import pytest

from kb_pipeline.network.loading import load
from kb_pipeline.network.local import LocalStore
from kb_pipeline.network.scenario import ScenarioFolder
from kb_pipeline_tests.app.cosmos_server import cosmos_server

__all__ = ["cosmos_server"]

SAMPLE = Path(__file__).parents[2] / "samples" / "scenarios" / "telco"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(SAMPLE, tmp_path / "scenarios" / "telco"))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> LocalStore:
    home = tmp_path_factory.mktemp("home")
    load(ScenarioFolder(SAMPLE), home)
    return LocalStore(home, "telco")
