"""The network as tools: what a model asks, gets, and is told when a query fails."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from app.callers.principal import Principal
from app.library.retrieval import Retrieval
from app.network.networks import Networks
from app.network.queries import NetworkQueries
from app.network.tools import network_tools
from app.tools import AnyTool
from app.tools.base import ToolServices
from kb_pipeline_tests.app.api.networks import with_network
from kb_pipeline_tests.app.tools.conftest import Call


@pytest.fixture(scope="module")
def tools(finding: Retrieval, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, AnyTool]]:
    networks = Networks(with_network(tmp_path_factory.mktemp("network"), network="mock"))
    offered = asyncio.run(networks.offered_to(Principal()))
    yield dict(network_tools(ToolServices(finding), NetworkQueries(networks), offered))
    asyncio.run(networks.close())


def test_there_is_a_tool_for_the_graph_one_for_telemetry_and_one_for_neighbourhoods(tools: dict[str, AnyTool]) -> None:
    assert [*tools] == ["query_graph", "query_telemetry", "network_neighbourhood"]


def test_descriptions_name_what_the_scenario_holds(tools: dict[str, AnyTool]) -> None:
    assert "CoreRouter" in tools["query_graph"].description
    assert "link_metrics" in tools["query_telemetry"].description


def test_the_graph_is_queried_in_the_language_of_the_backend(call: Call) -> None:
    found = call("query_graph", query="what does LINK-SYD-MEL connect?")
    assert found["columns"][0]["name"] == "id"
    assert "LINK-SYD-MEL" in {row["id"] for row in found["data"]}
    assert "error" not in found


def test_telemetry_is_queried_in_sql(call: Call) -> None:
    found = call("query_telemetry", query="SELECT alert_type FROM alerts")
    assert {"alert_type", "source_id"} <= found["rows"][0].keys()


@pytest.mark.parametrize(
    ("direction", "ids"),
    [("up", {"LINK-SYD-MEL", "CORE-SYD-01", "CORE-MEL-01"}), ("down", {"LINK-SYD-MEL", "BGP-SYD-MEL"})],
)
def test_a_neighbourhood_follows_dependencies_in_a_direction(call: Call, direction: str, ids: set[str]) -> None:
    found = call("network_neighbourhood", ids=["LINK-SYD-MEL"], depth=1, direction=direction)
    assert ids <= {node["id"] for node in found["nodes"]}
    assert {edge["source" if direction == "up" else "target"] for edge in found["edges"]} == {"LINK-SYD-MEL"}


def test_a_query_that_fails_says_what_can_be_asked(call: Call) -> None:
    failed = call("query_telemetry", query="how is the weather?")
    assert failed["type"] == "QueryFailed"
    assert "link_metrics" in failed["error"]
    assert failed["hints"] == ["correct the query as the error says, and call it again"]


@pytest.mark.parametrize(
    ("name", "arguments", "argument"),
    [
        ("query_graph", {}, "query"),
        ("query_telemetry", {"query": " "}, "query"),
        ("network_neighbourhood", {"ids": []}, "ids"),
        ("network_neighbourhood", {"ids": ["a"], "depth": 13}, "depth"),
        ("network_neighbourhood", {"ids": ["a"], "direction": "left"}, "direction"),
    ],
)
def test_wrong_arguments_are_named(call: Call, name: str, arguments: dict[str, Any], argument: str) -> None:
    failed = call(name, **arguments)
    assert failed["type"] == "InvalidArgument"
    assert argument in failed["error"]
