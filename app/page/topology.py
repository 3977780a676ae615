"""The map of a network, a component of ours around force-graph: what it is given, and what a reader does on it."""

import hashlib
import time
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import streamlit as st

from app.page import session
from app.page.kept import address
from app.schema.network import Findings, ScenarioInfo, TopologyRequest, TopologyResponse

ENGINE_FILE = Path(__file__).with_name("vendor") / "force-graph.min.js"
MOST = 2000
"""Elements of a network that are all shown; of a larger one, a part is."""

_HTML, _CSS, _JS = (Path(__file__).with_name(f"topology.{kind}") for kind in ("html", "css", "js"))
_FRESH = timedelta(minutes=5)
"""A network changes only when it is loaded again."""
_AROUND = 200
"""Elements around which a part of the network is asked for."""
_CHOSEN, _SEARCHED = "network-chosen", "network-searched"


@dataclass(frozen=True)
class ShownNetwork:
    """What is shown of a network. ``version`` differs when it does."""

    topology: TopologyResponse
    version: str
    of: str
    """Which part this is, for people; empty if it is the whole."""


def choose(scenario: str, element: str) -> None:
    """Let the map of a network choose an element, and go there."""
    st.session_state[f"{_CHOSEN} {scenario}"] = {"id": element, "at": time.monotonic_ns()}


def read(scenario: ScenarioInfo, findings: Findings | None) -> ShownNetwork:
    """The network, or the part of a large one that the reader or an investigation looks at."""
    wanted, part = _wanted(scenario, findings)
    if wanted is None:
        return ShownNetwork(TopologyResponse(), f"{scenario.name} nothing", "")
    topology, version = _topology(session.asker(), scenario.name, wanted.model_dump_json())
    if topology.error:
        _topology.clear()  # to be asked again
    is_whole = len(topology.nodes) >= topology.meta.node_count
    return ShownNetwork(topology, version, "" if is_whole else part)


def show(scenario: ScenarioInfo, shown: ShownNetwork, findings: Findings | None) -> None:
    """Show the map; what a reader asks of it is shown in the next run."""
    mount = st.components.v2.component(
        "kb_topology",
        html=_HTML.read_text(encoding="utf-8"),
        css=_CSS.read_text(encoding="utf-8"),
        js=_JS.read_text(encoding="utf-8"),
    )
    result = mount(
        key=f"kb_network_map_{scenario.name}",
        data=data_of(scenario, shown, findings, st.session_state.get(f"{_CHOSEN} {scenario.name}")),
        on_chosen_change=lambda: None,
        on_searched_change=lambda: None,
        on_refreshed_change=lambda: None,
    )
    if result.refreshed:
        _topology.clear()
        st.rerun()
    if result.searched:
        st.session_state[f"{_SEARCHED} {scenario.name}"] = str(result.searched)[:1000]
        st.session_state.pop(f"{_CHOSEN} {scenario.name}", None)
        st.rerun()
    if result.chosen:
        choose(scenario.name, str(result.chosen))
        st.rerun()


def data_of(
    scenario: ScenarioInfo, shown: ShownNetwork, findings: Findings | None, chosen: dict[str, Any] | None = None
) -> dict[str, Any]:
    """What the component is given."""
    topology = shown.topology
    return {
        "engine": address(ENGINE_FILE),
        "scenario": scenario.name,
        "version": shown.version,
        "whole": not shown.of and bool(topology.nodes),
        "empty": "" if scenario.vertices <= MOST else _TOO_MANY.format(count=scenario.vertices),
        "types": [{"name": each.name, "color": each.color, "size": each.size} for each in scenario.types],
        "nodes": [node.model_dump(mode="json") for node in topology.nodes],
        "edges": [edge.model_dump(mode="json") for edge in topology.edges],
        "marks": findings.model_dump(mode="json") if findings else None,
        "chosen": chosen,
    }


_TOO_MANY = (
    "This network has {count:,} elements. Look for one above, or investigate an alert, to see what lies around it."
)


def _wanted(scenario: ScenarioInfo, findings: Findings | None) -> tuple[TopologyRequest | None, str]:
    """Which part is asked for, and what to call it."""
    if scenario.vertices <= MOST:
        return TopologyRequest(limit=MOST), "the first of them"
    if chosen := st.session_state.get(f"{_CHOSEN} {scenario.name}"):
        return TopologyRequest(around=(chosen["id"],), depth=2, limit=MOST), f"what lies around {chosen['id']}"
    if searched := st.session_state.get(f"{_SEARCHED} {scenario.name}"):
        return TopologyRequest(query=searched, limit=MOST), f"those with “{searched}” in their name"
    if findings and (ids := _of_interest(findings)):
        return TopologyRequest(around=ids, depth=1, limit=MOST), "what lies around the alerts"
    return None, ""


def _of_interest(findings: Findings) -> tuple[str, ...]:
    ways = (each for path in findings.paths for each in path)
    causes = (cause.id for cause in findings.causes)
    everything = (*causes, *ways, *findings.alerting, *findings.down, *findings.weakened)
    return tuple(dict.fromkeys(everything))[:_AROUND]


@st.cache_resource(ttl=_FRESH, max_entries=50, show_spinner=False)
def _topology(who: session.Who, scenario: str, wanted: str) -> tuple[TopologyResponse, str]:
    # ``who`` is not read here, but each reader needs a cache entry of their own.
    response = session.client().topology(TopologyRequest.model_validate_json(wanted), scenario)
    return response, hashlib.sha256(response.model_dump_json().encode()).hexdigest()[:16]
