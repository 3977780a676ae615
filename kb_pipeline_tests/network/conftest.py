"""A copy of the sample scenario that tests may spoil, and its stores."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from kb_pipeline.network.cosmos.store import CosmosStore
from kb_pipeline.network.loading import load
from kb_pipeline.network.local.store import LocalStore
from kb_pipeline.network.scenario import ScenarioFolder
from kb_pipeline_tests.app.cosmos_server import CosmosServer
from kb_pipeline_tests.contracts.network_store_contract import done
from kb_pipeline_tests.network.cosmos.accounts import loaded_accounts
from kb_pipeline_tests.network.data_centre import data_centre

SAMPLE = Path(__file__).parents[2] / "samples" / "scenarios" / "telco"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(SAMPLE, tmp_path / "scenarios" / "telco"))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> LocalStore:
    home = tmp_path_factory.mktemp("home")
    load(ScenarioFolder(SAMPLE), home)
    return LocalStore(home, "telco")


@pytest.fixture(scope="module")
def cosmos_store(tmp_path_factory: pytest.TempPathFactory, cosmos_server: CosmosServer) -> Iterator[CosmosStore]:
    beside = data_centre(tmp_path_factory.mktemp("beside"))
    with loaded_accounts(SAMPLE, cosmos_server, tmp_path_factory.mktemp("home"), beside) as (settings, _):
        store = CosmosStore(settings, ScenarioFolder(SAMPLE))
        yield store
        done(store.close())
