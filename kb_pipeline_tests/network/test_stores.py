"""Every backend of networks keeps the promises of a store."""

from pathlib import Path

import pytest

from kb_pipeline.errors import ScenarioError
from kb_pipeline.network.base import NetworkStore, QueryLimits
from kb_pipeline.network.cosmos.store import CosmosStore
from kb_pipeline.network.loading import load
from kb_pipeline.network.local.store import LocalStore
from kb_pipeline.network.mock import MockStore
from kb_pipeline.network.scenario import ScenarioFolder
from kb_pipeline_tests.app.cosmos_server import CosmosServer
from kb_pipeline_tests.contracts.network_store_contract import (
    SAMPLE,
    NetworkStoreContract,
    TelemetryContract,
    done,
)
from kb_pipeline_tests.network.cosmos.accounts import account_settings, running_gremlin_server
from kb_pipeline_tests.network.data_centre import data_centre


@pytest.fixture(scope="module")
def local_store(tmp_path_factory: pytest.TempPathFactory) -> LocalStore:
    home = tmp_path_factory.mktemp("home")
    load(SAMPLE, home)
    load(ScenarioFolder(data_centre(tmp_path_factory.mktemp("beside"))), home)
    return LocalStore(home, "telco")


class TestLocalStore(NetworkStoreContract, TelemetryContract):
    services = "SELECT * FROM vertices WHERE type = 'Service'"
    refused = ("DELETE FROM vertices", "INSERT INTO vertices (id) VALUES ('x')", "COPY vertices TO 'x'")

    @pytest.fixture
    def store(self, local_store: LocalStore) -> NetworkStore:
        return local_store


class TestMockStore(NetworkStoreContract):
    services = "Which services are there?"

    @pytest.fixture
    def store(self) -> NetworkStore:
        return MockStore(SAMPLE)


@pytest.mark.slow("many requests to the double of Cosmos DB")
class TestCosmosStore(NetworkStoreContract, TelemetryContract):
    services = "g.V().hasLabel('Service').valueMap(true)"
    refused = ("g.V().drop()", "g.addV('x')", "g.V().property('name', 'x')", "g.V().map{it}")

    @pytest.fixture
    def store(self, cosmos_store: CosmosStore) -> NetworkStore:
        return cosmos_store


def names(store: CosmosStore, query: str) -> list[object]:
    return [row["value"] for row in done(store.graph(query, QueryLimits())).rows]


def test_walks_of_a_graph_lead_to_what_is_affected_and_to_causes(cosmos_store: CosmosStore) -> None:
    affected = names(cosmos_store, "g.V('LINK-SYD-MEL').repeat(__.in().simplePath()).emit().times(4).dedup().id()")
    assert {"MPLS-SYD-MEL-1", "VPN-ACME", "SLA-ACME", "BGP-SYD-MEL"} <= set(affected)
    causes = names(cosmos_store, "g.V('VPN-ACME').repeat(out().simplePath()).emit().times(3).dedup().id()")
    assert {"MPLS-SYD-MEL-1", "LINK-SYD-MEL", "CORE-SYD-01", "CORE-MEL-01"} <= set(causes)


@pytest.mark.parametrize("example", CosmosStore.language.examples)
def test_the_examples_of_the_language_can_be_asked(cosmos_store: CosmosStore, example: str) -> None:
    assert done(cosmos_store.graph(example, QueryLimits())).rows


def test_results_are_columns_and_hold_nothing_of_the_loader(cosmos_store: CosmosStore) -> None:
    for query in ("g.V('VPN-ACME')", "g.V('VPN-ACME').valueMap(true)"):
        (row,) = done(cosmos_store.graph(query, QueryLimits())).rows
        assert (row["id"], row["label"]) == ("VPN-ACME", "Service")
        assert not {"partitionKey", "kb_version", "kb_page"} & set(row)
    ways = done(cosmos_store.graph("g.V('VPN-ACME').out().path().by(id)", QueryLimits())).rows
    assert {"path": ["VPN-ACME", "MPLS-SYD-MEL-1"]} in ways


def test_a_scenario_that_is_not_loaded_says_how_to_load_it(cosmos_server: CosmosServer, tmp_path: Path) -> None:
    with running_gremlin_server() as server:
        store = CosmosStore(account_settings(server.endpoint, cosmos_server), SAMPLE)
        with pytest.raises(ScenarioError, match="kb scenario load telco"):
            done(store.graph("g.V()", QueryLimits()))
        done(store.close())
