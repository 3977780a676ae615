"""The page of a network: its map, and investigations of alerts, step by step. It is there where a scenario is."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

import pandas as pd
import streamlit as st

from app.client import Client, ClientError
from app.page import bridge, network_log, places, session, source, timeline, topology
from app.page.chat import label_of_quotes
from app.page.failures import failure_html, panel, sentence
from app.page.investigations import Following, followings
from app.page.labels import chosen, moment
from app.page.markup import Chip, plain_chip
from app.page.sections import CitedSection, sections_of
from app.page.templates import render
from app.schema.network import Agents, Investigation, NetworkHealth, ScenarioInfo
from app.schema.passages import Citation
from kb_pipeline.wording import counted

Layout = Literal["map", "split", "investigation"]
_LAYOUTS: dict[Layout, str] = {"map": "Map large", "split": "Split", "investigation": "Investigation large"}
_WIDTHS: dict[Layout, tuple[int, int]] = {"map": (66, 34), "split": (50, 50), "investigation": (34, 66)}
"""Percent of the page for map and investigation."""
_TICK_SECONDS = 0.4
"""Steps of an investigation take seconds; each shows as soon as it is there."""
_LOOK_SECONDS = 2.0
"""Loading a network takes seconds to minutes."""
_LONGEST = 1_000_000
"""Characters of an alert, as the service takes them."""
_ALERT, _FAILED, _CHOSEN = "network-alert", "network-failed", "network-of-several"
_FRESH = timedelta(seconds=20)
"""Health and agents are asked once for all reruns of this time: a click makes several."""


@dataclass(frozen=True)
class _Opened:
    """The investigation of the URL: what the service has stored of it, and what arrives of it here."""

    stored: Investigation
    following: Following | None


def is_there() -> bool:
    """Whether the service has a network to show."""
    return bool(_scenarios(session.asker()))


def show() -> None:
    """Show the map, and the investigation of the URL, or the box for an alert."""
    clicked = bridge.clicked(at=st.query_params.get(places.SOURCE))
    st.html("<style>[data-testid='stMainBlockContainer'] { max-width: 110rem; padding: 2.75rem 1.5rem 1rem; }</style>")
    st.html('<h1 class="kb-unseen">Network</h1>')
    scenarios = {each.name: each for each in _scenarios(session.asker())}
    if not scenarios:
        st.html(panel("There is no network here", "Name a folder of scenarios (KB_SCENARIOS).", kind="note"))
        return
    client = session.client()
    wanted = st.query_params.get(places.INVESTIGATION)
    opened = _open(client, wanted) if wanted else None
    name = opened.stored.scenario if opened else st.query_params.get(places.NETWORK, "")
    scenario = scenarios.get(name) or next(iter(scenarios.values()))
    layout = _head(scenario, scenarios)
    if name and name not in scenarios:
        st.html(panel("This network was not found", "It is not there any more, or it is not for you.", kind="note"))
        return
    if not scenario.loaded:
        st.fragment(_wait_for_network, run_every=_LOOK_SECONDS)(scenario.name)
        return
    if clicked and opened:
        _follow_click(opened.stored, *clicked)
    with st.container(key=f"network-{layout}"):
        map_side, investigation_side = st.columns(_WIDTHS[layout], gap="medium")
        with map_side, st.container(key="network-map-side", gap="small"):
            _show_map(scenario, opened)
            network_log.show()
        with investigation_side, st.container(key="network-investigation-side", gap="xsmall"):
            if opened:
                _show_investigation(client, scenario, opened)
            elif wanted:
                st.html(panel("This investigation was not found", "It was deleted, or it is not yours.", kind="note"))
                st.html(render("network", "actions", "", "", places.network_link()))
            else:
                _show_beginning(client, scenario, scenarios)
    if opened:
        _show_source(opened.stored)


# --- what is there -----------------------------------------------------------------------------------


@st.cache_resource(ttl=_FRESH, max_entries=200, show_spinner=False)
def _scenarios(who: session.Who) -> tuple[ScenarioInfo, ...]:
    """The scenarios that the reader may see, the default first."""
    # ``who`` is not read here, but each reader needs a cache entry of their own.
    try:
        return session.client().scenarios()
    except ClientError:
        return ()  # a service that does not answer, or knows no networks; each page says the former


@st.cache_resource(ttl=_FRESH, max_entries=200, show_spinner=False)
def _state(who: session.Who, scenario: str) -> tuple[NetworkHealth, Agents]:
    client = session.client()
    return client.network_health(scenario), client.investigating_agents()


def _head(scenario: ScenarioInfo, scenarios: Mapping[str, ScenarioInfo]) -> Layout:
    """Show which network this is of those that there are, and its state; how the reader wants the page divided."""
    with st.container(horizontal=True, vertical_alignment="center", key="network-head"):
        if len(scenarios) > 1:
            st.session_state[_CHOSEN] = scenario.name  # the address says which, and the choice follows
            st.selectbox(
                "Network", list(scenarios), format_func=lambda name: scenarios[name].title or name, key=_CHOSEN,
                on_change=_look_at, args=(scenario.name,), label_visibility="collapsed", width=260,
            )  # fmt: skip
        title = "" if len(scenarios) > 1 else scenario.title or scenario.name
        st.html(status_html(scenario, title, *_state(session.asker(), scenario.name)))
        if not scenario.loaded:
            return "split"
        return chosen("How the page is divided", _LAYOUTS, "split", "network-layout")


def _look_at(shown: str) -> None:
    """Go to the network that was chosen; what was written about an alert stays."""
    if (name := st.session_state[_CHOSEN]) != shown:  # the browser also reports what the address changed
        st.query_params.from_dict({places.NETWORK: name})


def _wait_for_network(name: str) -> None:
    """Say how to load the network, or that the service opens it, and look again until it is there."""
    _scenarios.clear()
    _state.clear()
    scenario = next((each for each in _scenarios(session.asker()) if each.name == name), None)
    if scenario is None or scenario.loaded:
        st.rerun()
    elif scenario.problem is None:
        st.html(render("answer", "pulse", "Opening the network"))
    else:
        st.html(render("network", "begin", scenario.name, scenario.title or scenario.name, sentence(scenario.problem)))


def status_html(scenario: ScenarioInfo, title: str, health: NetworkHealth, agents: Agents) -> str:
    """The state of the network in one line: whether it can be read, how large it is, who investigates."""
    if not scenario.loaded:
        tone, state = "warn", "not ready"
    elif health.reachable is False or health.problem:
        tone, state = "bad", health.problem or "the store does not answer"
    else:
        tone, state = "good", "ready"
    facts = [] if health.backend == "local" else [health.backend]
    if scenario.loaded:
        facts.append(f"{counted(scenario.vertices, 'element')}, {scenario.edges:,} dependencies")
        if scenario.telemetry_until:
            facts.append(f"telemetry until {moment(scenario.telemetry_until)}")
    facts.append(counted(len(agents.agents), "agent") if agents.mode == "agents" else "rules, no model")
    return render("network", "status", tone, state, title, facts)


def _show_map(scenario: ScenarioInfo, opened: _Opened | None) -> None:
    findings = opened.stored.findings if opened else None
    try:
        shown = topology.read(scenario, findings)
    except ClientError as exc:
        _map_failed(failure_html(exc))
        return
    if shown.topology.error:
        _map_failed(panel("The network could not be read", sentence(shown.topology.error)))
        return
    topology.show(scenario, shown, findings)
    if shown.of:
        rest = shown.topology.meta.node_count - len(shown.topology.nodes)
        st.html(f'<p class="kb-how">{render("network", "part", shown.of, len(shown.topology.nodes), rest)}</p>')


def _map_failed(html: str) -> None:
    st.html(html)
    st.button("Try again", icon=":material/refresh:", key="map-again")


# --- an investigation --------------------------------------------------------------------------------


def _open(client: Client, investigation_id: str) -> _Opened | None:
    """The investigation with this id, followed if it is under way."""
    who = session.asker()
    try:
        stored = client.investigation(investigation_id)
    except ClientError as exc:
        if exc.status != 404:
            raise
        return None
    following = followings().find(who, investigation_id)
    if stored.status != "running":
        followings().forget(who, investigation_id)
        return _Opened(stored, None)
    return _Opened(stored, following or followings().follow(client, who, investigation_id, stored.events))


def _follow_click(stored: Investigation, action: str, target: str) -> None:
    if action == "element":
        topology.choose(stored.scenario, target)
    elif action == "ask" and target.isdecimal():
        step = next((each for each in timeline.steps_of(stored.events) if each.number == int(target)), None)
        if step and step.can_be_asked:
            _ask(step, stored.scenario)
    elif action == "source":
        number = target.rpartition(".")[2]
        if number.isdecimal():
            st.query_params[places.SOURCE] = places.reference(stored.id, int(number))


@st.dialog("Ask again", width="large")
def _ask(step: timeline.TimelineStep, scenario: str) -> None:
    """Ask the telemetry for what a step asked it for, or for something else."""
    query = st.text_area("Query", step.query, key=f"query-{step.number}", height=160)
    st.button("Ask", type="primary", icon=":material/play_arrow:", key="ask-telemetry")
    answer = session.client().query_telemetry(query, scenario)
    if answer.error:
        st.html(panel("This query was not answered", sentence(answer.error)))
        return
    rows = counted(len(answer.rows), "row")
    more = ", and there are more" if answer.truncated else ""
    st.html(f'<p class="kb-how">{rows}{more} · {answer.seconds:.2f} s</p>')
    st.dataframe(pd.DataFrame(answer.rows, columns=[each.name for each in answer.columns]), hide_index=True)


def _show_source(stored: Investigation) -> None:
    reference = st.query_params.get(places.SOURCE)
    investigation_id, number = places.parse_reference(reference)
    if reference and investigation_id == stored.id:
        source.show_panel(sections_of(stored.citations), number, stored.began, reference)


def _show_beginning(client: Client, scenario: ScenarioInfo, scenarios: Mapping[str, ScenarioInfo]) -> None:
    """Show the box for an alert, and the investigations before.

    Unless the reader chose a network, it is the alert that says which it is of.
    """
    chosen_network = st.query_params.get(places.NETWORK, "")
    st.html("<h2>What happened?</h2>")
    st.text_area(
        "Alerts, as they came",
        label_visibility="collapsed",
        key=_ALERT,
        height=220,
        max_chars=_LONGEST,
        placeholder="Paste one alert or a whole storm: lines, JSON, or a sentence that names an element.",
    )
    with st.container(horizontal=True, key="network-begin"):
        is_asked = st.button("Investigate", type="primary", icon=":material/troubleshoot:", key="investigate")
        if scenario.sample_alert:
            st.button("Use the sample", key="sample", on_click=_use_sample, args=(scenario.sample_alert,))
    alert = str(st.session_state.get(_ALERT) or "").strip()
    if is_asked and not alert:
        st.html(panel("There is nothing to investigate yet", "Paste an alert, or use the sample.", kind="note"))
    elif is_asked:
        _begin(client, alert, chosen_network)
    if alert and (failed := st.session_state.get(_FAILED)):
        st.html(failure_html(failed))
        if st.button("Try again", icon=":material/refresh:", key="begin-again"):
            _begin(client, alert, chosen_network)
    earlier = client.investigations()
    if earlier:
        st.html("<h2>Earlier investigations</h2>")
        titles = {name: each.title or name for name, each in scenarios.items()} if len(scenarios) > 1 else {}
        st.html(render("network", "list", earlier[:50], titles))


def _use_sample(sample: str) -> None:
    st.session_state[_ALERT] = sample


def _begin(client: Client, alert: str, scenario: str) -> None:
    """Begin to investigate and go to the new investigation."""
    st.session_state.pop(_FAILED, None)
    with st.spinner("Beginning …"):
        following = followings().begin(client, session.asker(), alert, scenario)
    if not following.id:
        st.session_state[_FAILED] = ClientError(following.problem) if following.problem else TimeoutError()
        if places.INVESTIGATION in st.query_params:  # the box, which is not shown here, has the alert
            st.session_state[_ALERT] = alert
            del st.query_params[places.INVESTIGATION]
        st.rerun()
    st.query_params[places.INVESTIGATION] = following.id
    st.rerun()


def _show_investigation(client: Client, scenario: ScenarioInfo, opened: _Opened) -> None:
    stored = opened.stored
    text = timeline.ticket_of(stored) if stored.report else ""
    st.html(render("network", "actions", text, places.investigation_link(stored.id), places.network_link()))
    st.html(render("network", "alert", stored.alert, stored.began))
    if opened.following:
        st.fragment(_show_running, run_every=_TICK_SECONDS)(opened.following)
        return
    st.html(render("network", "steps", timeline.steps_of(stored.events), timeline.numbers_of(stored.events)))
    if stored.report:
        st.html(timeline.report_html(stored.report, _elements(scenario, stored), _chips(stored.citations)))
    if problem := _problem(stored):
        st.html(panel(*problem))
        if st.button("Try again", icon=":material/refresh:", key="investigate-again"):
            _begin(client, stored.alert, stored.scenario)


def _show_running(following: Following) -> None:
    """Show the steps as they come, until the investigation has ended."""
    if following.done and not following.problem:
        st.rerun()
    events = following.events
    st.html(render("answer", "pulse", timeline.now(events)))
    with st.container(key="network-steps", gap=None):
        for step in timeline.steps_of(events):
            st.html(render("network", "step", step))
    if text := timeline.text_of(events):
        st.html(timeline.report_html(text))
    if following.done and following.problem:
        st.html(failure_html(ClientError(following.problem)))
        if st.button("Follow it again", icon=":material/refresh:", key="follow-again"):
            followings().forget(session.asker(), following.id)
            st.rerun()


def _problem(stored: Investigation) -> tuple[str, str] | None:
    """What went wrong with an investigation as a whole, as a title and words."""
    if stored.status == "failed":
        return "The investigation failed", sentence(timeline.failure_of(stored.events) or "it ended without a report")
    if stored.status == "broken_off":
        return "The investigation was broken off", "Nobody followed it any more, or the service ended before it did."
    return None


def _elements(scenario: ScenarioInfo, stored: Investigation) -> set[str]:
    """The elements that can be chosen on the map from the report."""
    findings = stored.findings
    named: set[str] = set()
    if findings:
        named |= {cause.id for cause in findings.causes}
        named |= {*findings.alerting, *findings.down, *findings.weakened, *findings.perhaps}
        named |= {*(each for path in findings.paths for each in path)}
    if scenario.vertices <= topology.MOST:
        with suppress(ClientError):  # the map says it
            named |= {node.id for node in topology.read(scenario, None).topology.nodes}
    return named


def _chips(citations: Sequence[Citation]) -> Chip:
    titles = {each.number: CitedSection((each,), "").path for each in citations}
    quoted = {each.number: label_of_quotes(each.quotes) for each in citations}

    def chip(number: int) -> str:
        if number not in titles:
            return plain_chip(number)
        return render("answer", "reference", 0, number, titles[number], "", quoted[number])

    return chip
