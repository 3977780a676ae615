"""An investigation by rules gives the same report whichever backend holds the network."""

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.network.by_rules import RulesInvestigator
from kb_pipeline.network.base import NetworkStore
from kb_pipeline.network.cosmos.store import CosmosStore
from kb_pipeline.network.loading import load
from kb_pipeline.network.local.store import LocalStore
from kb_pipeline.network.scenario import ScenarioFolder
from kb_pipeline_tests.app.cosmos_server import CosmosServer
from kb_pipeline_tests.contracts.network_store_contract import SAMPLE
from kb_pipeline_tests.network.cosmos.accounts import loaded_accounts
from kb_pipeline_tests.network.sql_words import named_by_sql_words

Stores = tuple[ScenarioFolder, list[NetworkStore]]


@pytest.fixture(scope="module", params=["sample", "sql words"])
def stores(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, cosmos_server: CosmosServer
) -> Iterator[Stores]:
    home = tmp_path_factory.mktemp("home")
    copy = shutil.copytree(SAMPLE.folder, tmp_path_factory.mktemp("scenarios") / "telco")
    scenario = ScenarioFolder(named_by_sql_words(copy) if request.param == "sql words" else copy)
    load(scenario, home)
    with loaded_accounts(scenario.folder, cosmos_server, tmp_path_factory.mktemp("tables")) as (settings, _):
        here, there = LocalStore(home, "telco"), CosmosStore(settings, scenario)
        yield scenario, [here, there]
        asyncio.run(here.close())
        asyncio.run(there.close())


NOW = 1_795_000_000.0


def report(store: NetworkStore, scenario: ScenarioFolder, alert: str) -> str:
    async def told() -> list[str]:
        events = [event async for event in RulesInvestigator(store, scenario, clock=lambda: NOW).investigate(alert)]
        assert not [event for event in events if event.data.get("error")]
        return [str(event.data["text"]) for event in events if event.event == "message"]

    (text,) = asyncio.run(told())
    return text


@pytest.mark.slow("many requests to the double of Cosmos DB")
@pytest.mark.parametrize("alert", ["", "LINK_DOWN on LINK-SYD-MEL", "hello"], ids=["storm", "link", "nothing"])
def test_the_report_is_the_same_byte_for_byte(stores: Stores, alert: str) -> None:
    scenario, both = stores
    pasted = alert or (Path(SAMPLE.folder) / "alert_storm.md").read_text()
    here, there = (report(store, scenario, pasted) for store in both)
    assert here == there
    assert alert == "hello" or "LINK-SYD-MEL" in here
