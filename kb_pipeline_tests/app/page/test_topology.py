"""What the map is given: all of a small network, of a large one what the reader or an investigation looks at."""

from collections.abc import Iterator
from typing import cast

import pytest
import streamlit as st

from app.client import Client
from app.page import session, topology
from app.page.network import status_html
from app.schema.network import (
    AgentInfo,
    Agents,
    Findings,
    FoundCause,
    NetworkHealth,
    ScenarioInfo,
    ScenarioType,
    TopologyMeta,
    TopologyNode,
    TopologyRequest,
    TopologyResponse,
)

SMALL = ScenarioInfo(
    name="telco",
    title="Metro",
    loaded=True,
    vertices=2,
    types=(ScenarioType(name="Router", kind="infrastructure", color="#38bdf8", size=10),),
)
LARGE = SMALL.model_copy(update={"vertices": 25_000})
FOUND = Findings(
    causes=(FoundCause(id="R-1", type="Router", name="", probability=0.9, certainty="very likely"),),
    alerting=("R-2", "R-3"),
    paths=(("R-3", "R-1"),),
)


class Network:
    """Answers every request with two of its elements, and remembers what it was asked."""

    def __init__(self, whole: int, error: str | None = None) -> None:
        self.asked: list[TopologyRequest] = []
        self.whole, self.error = whole, error

    def topology(self, wanted: TopologyRequest, scenario: str) -> TopologyResponse:
        self.asked.append(wanted)
        nodes = tuple(TopologyNode(id=each, label=each, type="Router") for each in ("R-1", "R-2"))
        return TopologyResponse(nodes=nodes, meta=TopologyMeta(node_count=self.whole), error=self.error)


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(session, "asker", lambda: ())
    topology._topology.clear()
    yield
    topology._topology.clear()


def serve(monkeypatch: pytest.MonkeyPatch, network: Network) -> Network:
    monkeypatch.setattr(session, "client", lambda: cast(Client, network))
    return network


def test_a_small_network_is_shown_whole_and_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    network = serve(monkeypatch, Network(2))
    shown = topology.read(SMALL, FOUND)
    assert topology.read(SMALL, None) == shown and shown.of == ""
    assert [each.around for each in network.asked] == [()]
    data = topology.data_of(SMALL, shown, FOUND)
    assert data["whole"] is True and data["types"] == [{"name": "Router", "color": "#38bdf8", "size": 10}]
    assert data["marks"]["alerting"] == ["R-2", "R-3"] and data["marks"]["causes"][0]["id"] == "R-1"


def test_of_a_large_network_nothing_is_asked_for_before_somebody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    network = serve(monkeypatch, Network(25_000))
    shown = topology.read(LARGE, None)
    assert not network.asked and not shown.topology.nodes
    data = topology.data_of(LARGE, shown, None)
    assert data["whole"] is False and "25,000 elements" in data["empty"]


def test_of_a_large_network_what_lies_around_alerts_a_search_or_an_element_is_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    network = serve(monkeypatch, Network(25_000))
    assert topology.read(LARGE, FOUND).of == "what lies around the alerts"
    assert network.asked[-1].around == ("R-1", "R-3", "R-2")
    st.session_state["network-searched telco"] = "R-7"
    assert topology.read(LARGE, FOUND).of == "those with “R-7” in their name"
    assert network.asked[-1].query == "R-7"
    topology.choose("another", "R-8")
    topology.choose("telco", "R-9")
    assert topology.read(LARGE, FOUND).of == "what lies around R-9"
    assert (network.asked[-1].around, network.asked[-1].depth) == (("R-9",), 2)


def test_a_network_that_cannot_be_read_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    network = serve(monkeypatch, Network(2, error="no answer"))
    assert topology.read(SMALL, None).topology.error == "no answer"
    network.error = None
    assert topology.read(SMALL, None).topology.error is None
    assert len(network.asked) == 2


def test_one_line_says_how_the_network_is() -> None:
    rules = Agents(mode="rules", agents=())
    health = NetworkHealth(backend="local", reachable=True)
    ready = status_html(SMALL.model_copy(update={"edges": 1}), "Metro", health, rules)
    assert "ready" in ready and "2 elements, 1 dependencies" in ready and "rules, no model" in ready
    down = status_html(SMALL, "Metro", NetworkHealth(backend="cosmosdb", reachable=False, problem="no answer"), rules)
    assert "kb-bad" in down and "no answer" in down and "cosmosdb" in down
    five = Agents(mode="agents", agents=tuple(AgentInfo(name=str(each), task="") for each in range(5)))
    assert "5 agents" in status_html(SMALL, "Metro", health, five)
    assert "not ready" in status_html(SMALL.model_copy(update={"loaded": False}), "Metro", health, rules)
