"""Investigations over HTTP: streams that a dashboard of others understands, and to which their reader comes back."""

import asyncio
import json
import signal
import threading
import time
from collections.abc import AsyncGenerator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from app.api.server import application
from app.client import Client, ClientError
from app.client.network import read_events
from app.network.base import Investigator, ReportedEvent
from app.network.running import Investigations
from app.schema.network import InvestigationEvent as Told
from app.service import open_service
from app.settings import AppSettings
from kb_pipeline.flow.access import Access
from kb_pipeline.flow.build import build_article
from kb_pipeline.flow.layers import LAYER_NAMES, Run
from kb_pipeline.flow.publish import publish
from kb_pipeline.flow.workspace import open_workspace
from kb_pipeline_tests.app.api.conftest import signed_in
from kb_pipeline_tests.app.api.networks import FOR_NOC, STORM, client_of, with_network
from kb_pipeline_tests.app.network.streams import check_stream, follow_as_a_dashboard
from kb_pipeline_tests.app.service_process import service_process
from kb_pipeline_tests.app.serving import serving_app

RUN_START = {"run_id": "", "alert": "", "timestamp": "2026-01-01T00:00:00+00:00"}


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A client of a service with the sample scenario."""
    with client_of(with_network(tmp_path_factory.mktemp("network")), runs_at_once=32) as client:
        yield client


def url_of(client: httpx.Client) -> str:
    return str(client.base_url).rstrip("/")


def test_an_alert_is_answered_by_a_stream_of_events_with_ids(network: httpx.Client) -> None:
    with network.stream("POST", "/api/alert", json={"text": STORM}) as reply:
        assert reply.headers["content-type"].startswith("text/event-stream")
        assert reply.headers["cache-control"] == "no-cache"
        events = list(read_events(reply.iter_lines()))
    check_stream(events)
    assert reply.headers["location"] == f"/api/investigations/{events[0].data['run_id']}"
    assert "LINK-SYD-MEL" in next(event.data["text"] for event in events if event.event == "message").splitlines()[2]
    assert events[0].data["alert"] == STORM.strip()


def test_a_dashboard_that_knows_the_seven_events_alone_shows_it(network: httpx.Client) -> None:
    with network.stream("POST", "/api/alert", json={"text": STORM}) as reply:
        state = follow_as_a_dashboard(reply.iter_lines())
    assert (state.running, state.run_started, state.error_message) == (False, True, "")
    assert state.run_meta and state.run_meta["steps"] == len(state.steps) > 0
    assert state.final_message.startswith("# Situation report")
    assert any("SELECT" in step["query"] for step in state.steps)


@pytest.mark.parametrize("body", [{}, {"text": ""}, {"text": "  "}, {"text": 5}, [], "x"])
def test_an_alert_without_a_text_is_refused(network: httpx.Client, body: object) -> None:
    reply = network.post("/api/alert", json=body)
    assert (reply.status_code, reply.json()["error"]["code"]) == (422, "invalid_request")


@pytest.mark.parametrize(
    "text",
    [
        "x\u2028event: message\u2029data: {}\x85\x0b\x0c\x1e z",
        "x\r\n\r\nevent: run_complete\r\ndata: {}\n\n",
        "\0" * 1000,
        "LINK-XXX-YYY " * 1000,
        "\n" * 100_000 + "LINK-SYD-MEL",
        "LINK-SYD-MEL " * 10_000,
        "[" * 15_000,
        "9" * 50_000,
        '[{"a": NaN, "b": 1e999}]',
        "'; DROP TABLE alerts; --",
    ],
    ids=range(10),
)
def test_whatever_is_pasted_is_one_whole_stream(network: httpx.Client, text: str) -> None:
    with network.stream("POST", "/api/alert", json={"text": text}) as reply:
        events = list(read_events(reply.iter_lines()))
    check_stream(events)
    assert events[0].data["alert"] == text.strip()
    assert "message" in [event.event for event in events]


def test_an_alert_of_a_megabyte_is_refused(network: httpx.Client) -> None:
    assert network.post("/api/alert", json={"text": "x" * 1_000_000}).status_code == 413


def test_the_client_follows_lists_and_opens_investigations(network: httpx.Client) -> None:
    with Client(url_of(network)) as client:
        events = list(client.investigate(STORM))
        check_stream(events)
        run_id = events[0].data["run_id"]
        summary = client.investigations()[0]
        assert (summary.id, summary.status, summary.cause) == (run_id, "finished", "LINK-SYD-MEL")
        assert STORM.startswith(summary.alert) and len(summary.alert) == 200
        whole = client.investigation(run_id)
        assert (whole.events, whole.alert) == (tuple(events), STORM.strip())
        assert whole.report and whole.findings and whole.findings.causes[0].id == "LINK-SYD-MEL"
        assert {"VPN-ACME"} <= set(whole.findings.down) and ("VPN-BANK" in whole.findings.weakened)
        assert ("BGP-SYD-MEL", "LINK-SYD-MEL") in whole.findings.paths
        assert client.investigating_agents().mode == "rules"
        with pytest.raises(ClientError, match="there is no investigation"):
            next(client.investigation_events("20260101-000000000-0123456789abcdef"))


@pytest.mark.parametrize("place", [0, 1, 7, 20, 21, 500])
def test_who_comes_back_gets_exactly_what_is_missing(network: httpx.Client, place: int) -> None:
    with Client(url_of(network)) as client:
        events = list(client.investigate(STORM))
        path = f"/api/investigations/{events[0].data['run_id']}/events"
        reply = network.get(path, headers={"last-event-id": str(place)})
        assert list(read_events(reply.text.splitlines())) == events[place:]


@pytest.mark.parametrize("place", ["x", "-1", "1e3", "9" * 400])
def test_a_place_that_is_none_is_refused(network: httpx.Client, place: str) -> None:
    path = "/api/investigations/20260101-000000000-0123456789abcdef/events"
    assert network.get(path, headers={"last-event-id": place}).status_code == 422


def test_nobody_sees_what_another_asked(tmp_path: Path) -> None:
    ann, bob = signed_in("ann", "group-noc"), signed_in("bob", "group-noc")
    with client_of(with_network(tmp_path), easy_auth=True) as client:
        with Client(url_of(client), headers=ann) as hers:
            run_id = list(hers.investigate(STORM))[0].data["run_id"]  # noqa: RUF015  (to the end)
        assert client.get("/api/investigations", headers=bob).json() == {"investigations": []}
        for path in (f"/api/investigations/{run_id}", f"/api/investigations/{run_id}/events"):
            assert client.get(path, headers=ann).status_code == 200
            assert client.get(path, headers=bob).status_code == 404
        manifest = tmp_path / "scenarios" / "telco" / "scenario.yaml"
        manifest.write_text(
            manifest.read_text().replace("access_control_list: []", "access_control_list: [group-board]")
        )
        assert client.get(f"/api/investigations/{run_id}", headers=ann).status_code == 404


RUNBOOK = """<h1>Link down: fibre cut</h1><h2>Steps</h2><p>When a TransportLink raises LINK_DOWN:</p>
<ol><li>Call the okapi crew about the fibre of the TransportLink.</li><li>Reroute traffic.</li></ol>"""


def test_one_that_quotes_a_runbook_is_withheld_when_that_is_restricted(tmp_path: Path) -> None:
    knowledge_base = with_network(tmp_path)
    folder = Path(knowledge_base.staging) / "extra-runbook"
    folder.mkdir()
    (folder / "index.html").write_text(RUNBOOK)
    (folder / "metadata.json").write_text('{"key_topics": ["telco/runbook"]}')
    run = Run("run-1", "2026-01-01T00:00:00+00:00")
    workspace = open_workspace(knowledge_base)
    publish(workspace, [build_article(knowledge_base, "extra-runbook", LAYER_NAMES, run)], LAYER_NAMES, run)
    with client_of(knowledge_base) as client:
        told = client.post("/api/alert", json={"text": "LINK_DOWN on LINK-SYD-MEL"})
        assert "okapi" in told.text
        place = told.headers["location"]
        assert "okapi" in client.get(place).text
        workspace.access.record("extra-runbook", Access(readers=("group-board",)), pending=True)
        for path in (place, f"{place}/events", "/api/investigations"):
            reply = client.get(path)
            assert "okapi" not in reply.text and "fibre cut" not in reply.text
            assert reply.status_code == (200 if path == "/api/investigations" else 404)
        assert "may no longer read" in client.get(place).json()["error"]["message"]


@pytest.mark.slow("waits for a silent or slow service")
def test_many_people_at_once_lose_nothing_and_mix_up_nothing(network: httpx.Client) -> None:
    def one(number: int) -> None:
        alert = f"{STORM}\nshift {number}"
        with Client(url_of(network)) as client:
            events = list(client.investigate(alert))
            check_stream(events)
            assert events[0].data["alert"] == alert
            assert client.investigation(events[0].data["run_id"]).alert == alert

    with ThreadPoolExecutor(32) as people:
        list(people.map(one, range(32)))


# --- an investigator that waits to be told -------------------------------------------------------


class Waiting(Investigator):
    """Takes one step, and waits for the test before the next."""

    def __init__(self) -> None:
        self.going_on = threading.Event()
        self.under_way = 0

    async def investigate(self, alert: str, run_id: str = "") -> AsyncGenerator[ReportedEvent, None]:
        self.under_way += 1
        try:
            yield ReportedEvent("step_start", {"step": 1, "agent": "TelemetryAgent"})
            while not self.going_on.is_set():
                await asyncio.sleep(0.01)
            done = {"step": 1, "agent": "TelemetryAgent", "duration": 0.1, "query": "", "response": ""}
            yield ReportedEvent("step_complete", done)
            yield ReportedEvent("message", {"text": "# Report"})
            yield ReportedEvent("run_complete", {"steps": 1, "tokens": 0, "time": 0.1})
        finally:
            self.under_way -= 1


@contextmanager
def waiting(folder: Path, at_once: int = 2) -> Iterator[tuple[httpx.Client, Waiting]]:
    investigator = Waiting()
    knowledge_base = with_network(folder)
    service = open_service(AppSettings(), knowledge_base)
    runs = Investigations(
        service.networks,
        knowledge_base.home_path,
        lambda *_: investigator,
        service.articles,
        at_once=at_once,
        seconds=60,
    )
    with (
        serving_app(application(replace(service, investigations=runs))) as url,
        httpx.Client(base_url=url, timeout=30) as client,
    ):
        yield client, investigator


def first_events(reply: httpx.Response, count: int) -> list[Told]:
    events = read_events(reply.iter_lines())
    return [next(events) for _ in range(count)]


def eventually(is_so: object, seconds: float = 60) -> bool:
    deadline = time.monotonic() + seconds
    while not (so := is_so()) and time.monotonic() < deadline:  # type: ignore[operator]
        time.sleep(0.02)
    return bool(so)


@pytest.mark.slow("waits for a silent or slow service")
def test_when_its_only_reader_leaves_the_investigation_ends_and_says_so(tmp_path: Path) -> None:
    with waiting(tmp_path) as (client, investigator):
        with client.stream("POST", "/api/alert", json={"text": "x"}) as reply:
            run_id = first_events(reply, 2)[0].data["run_id"]
        assert eventually(lambda: not investigator.under_way)
        assert eventually(lambda: client.get(f"/api/investigations/{run_id}").json()["status"] == "broken_off")
        events = [Told.model_validate(each) for each in client.get(f"/api/investigations/{run_id}").json()["events"]]
        check_stream(events, cancelled=True)


def test_while_somebody_reads_it_goes_on_and_every_reader_gets_all_of_it(tmp_path: Path) -> None:
    with waiting(tmp_path) as (client, investigator):
        with client.stream("POST", "/api/alert", json={"text": "x"}) as first:
            begun = first_events(first, 2)
            path = f"/api/investigations/{begun[0].data['run_id']}"
            assert client.get(path).json()["status"] == "running"
            assert client.get("/api/investigations").json()["investigations"][0]["status"] == "running"
            other = client.stream("GET", f"{path}/events", headers={"last-event-id": "2"})
            reply = other.__enter__()
        investigator.going_on.set()
        rest = list(read_events(reply.iter_lines()))
        other.__exit__(None, None, None)
        check_stream([*begun, *rest])
        assert client.get(path).json()["status"] == "finished"


def test_a_reader_who_may_not_see_the_network_any_more_gets_no_further_event(tmp_path: Path) -> None:
    with waiting(tmp_path) as (client, investigator):
        with client.stream("POST", "/api/alert", json={"text": "x"}) as reply:
            events = read_events(reply.iter_lines())
            assert [next(events).event for _ in range(2)] == ["run_start", "step_start"]
            manifest = tmp_path / "scenarios" / "telco" / "scenario.yaml"
            manifest.write_text(manifest.read_text().replace("access_control_list: []", FOR_NOC))
            investigator.going_on.set()
            assert list(events) == []
        assert client.post("/api/alert", json={"text": "x"}).status_code == 404


def test_more_at_once_than_may_be_are_told_when_to_try_again(tmp_path: Path) -> None:
    with waiting(tmp_path, at_once=1) as (client, investigator):
        with client.stream("POST", "/api/alert", json={"text": "x"}) as reply:
            events = read_events(reply.iter_lines())
            next(events)
            refused = client.post("/api/alert", json={"text": "y"})
            assert (refused.status_code, refused.json()["error"]["code"]) == (503, "too_many_investigations")
            assert int(refused.headers["retry-after"]) > 0
            investigator.going_on.set()
            check_stream([Told(id=1, event="run_start", data=RUN_START), *events])
        assert eventually(lambda: client.post("/api/alert", json={"text": "y"}).status_code == 200)


@pytest.mark.rare("kills")
def test_one_that_a_killed_service_was_at_is_listed_as_broken_off_with_its_steps(tmp_path: Path) -> None:
    knowledge_base = with_network(tmp_path)
    places = {"KB_SCENARIOS": knowledge_base.scenarios}
    with (
        service_process(knowledge_base, tmp_path / "one.log", **places) as served,
        served.client.stream("POST", "/api/alert", json={"text": STORM}) as reply,
    ):
        run_id = first_events(reply, 7)[0].data["run_id"]
        served.process.send_signal(signal.SIGKILL)
        served.process.wait(20)
    # what a process is killed at depends on chance: what it had written is cut after the step that it was at
    record = knowledge_base.home_path / "investigations" / f"{run_id}.jsonl"
    lines = record.read_bytes().splitlines(keepends=True)
    kept = [json.loads(line)["event"] for line in lines[:6]]
    assert kept[-1] == "step_start"
    record.write_bytes(b"".join(lines[:6]) + lines[6][:20])
    with service_process(knowledge_base, tmp_path / "two.log", **places) as served:
        whole = served.client.get(f"/api/investigations/{run_id}").json()
        assert (whole["status"], whole["steps"]) == ("broken_off", 2)
        check_stream([Told.model_validate(each) for each in whole["events"]], cancelled=True)
        replayed = list(read_events(served.client.get(f"/api/investigations/{run_id}/events").text.splitlines()))
        assert [event.model_dump() for event in replayed] == whole["events"]
