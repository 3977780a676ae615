"""The service's log over HTTP: its newest lines without secrets, and readers that hold up nobody."""

import json
import logging
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from app.logs.lines import MOST, LogTail, keep_log_lines, log_tail, note
from kb_pipeline_tests.app.api.conftest import Serve, signed_in
from kb_pipeline_tests.app.api.networks import FOR_NOC, client_of, with_network

SECRET = "http://me:planted-secret@host/x api-key: planted-secret"


@pytest.fixture(autouse=True)
def _empty(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    # Streamlit, whose pages other tests open in this process, lets the server's lines go no further
    monkeypatch.setattr(logging.getLogger("uvicorn.error"), "propagate", True)
    monkeypatch.setattr(log_tail(), "_readers", {})  # scenarios of other tests have other readers
    keep_log_lines()
    log_tail()._lines.clear()
    yield
    log_tail()._lines.clear()


def lines_of(client: httpx.Client) -> list[str]:
    reply = client.get("/api/logs", params={"follow": "false"})
    assert reply.status_code == 200
    return list(reply.json()["lines"])


@pytest.mark.parametrize("name", ["app.some.module", "azure.core", "uvicorn.error"])
def test_lines_of_the_service_of_azure_and_of_the_server_are_told(service: httpx.Client, name: str) -> None:
    keep_log_lines()  # Uvicorn of the tests configures its own logging, which ours is told not to
    logging.getLogger(name).error("something happened to %s", "it")
    (line,) = [each for each in lines_of(service) if "something happened" in each]
    assert line.endswith(f"ERROR {name}: something happened to it")


def test_lines_of_others_and_secrets_are_not_told(service: httpx.Client) -> None:
    logging.getLogger("elsewhere").warning("not ours")
    logging.getLogger("app.x").warning(SECRET)
    told = "\n".join(lines_of(service))
    assert "not ours" not in told
    assert "planted" not in told and told.count("***") == 2


def test_requests_are_told_with_their_time_and_without_what_was_asked(service: httpx.Client) -> None:
    service.get("/api/conversations/conv_of_somebody?search=secret-word")
    service.post("/query/graph", json={"query": "SELECT 'secret-word'"})
    service.get("/health")
    service.get("/a%0Ab")
    told = [line for line in lines_of(service) if " app.notes: " in line]
    assert any("GET /api/conversations/… 404" in line and line.endswith(" ms") for line in told)
    assert any("POST /query/graph 200" in line for line in told)
    assert any("GET /a?b 404" in line for line in told)
    assert not any("secret-word" in line or "conv_of" in line or "/health" in line for line in told)


def test_the_last_lines_come_first_then_what_follows(service: httpx.Client) -> None:
    for number in range(MOST + 20):
        note(f"line {number}")
    with service.stream("GET", "/api/logs") as reply:
        assert reply.headers["content-type"].startswith("text/event-stream")
        told = (json.loads(line.removeprefix("data: "))["line"] for line in reply.iter_lines() if "data: " in line)
        first = [next(told) for _ in range(MOST)]
        assert [line.rpartition(" ")[2] for line in first] == [str(number) for number in range(20, MOST + 20)]
        note("and another")
        assert any("and another" in line for line in told)


@pytest.mark.slow("starts the service and a collector")
def test_a_reader_that_does_not_read_loses_lines_and_nothing_else(service: httpx.Client) -> None:
    with socket.create_connection((service.base_url.host, service.base_url.port or 80)) as lazy:
        lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        lazy.sendall(f"GET /api/logs HTTP/1.1\r\nHost: {service.base_url.host}\r\n\r\n".encode())
        for number in range(3000):
            note(f"line {number} {'x' * 1500}")
        assert len(log_tail().after(0)) == MOST
        began = time.monotonic()
        assert service.get("/readiness").is_success
        assert lines_of(service)[-1].startswith(log_tail().after(0)[-1].text[:30])
        assert time.monotonic() - began < 20


def test_a_line_has_an_end_and_one_that_cannot_be_written_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging, "raiseExceptions", False)
    tail = LogTail()
    tail.handle(logging.LogRecord("app", logging.INFO, "", 1, "x " * 5_000, (), None))
    tail.handle(logging.LogRecord("app", logging.INFO, "", 1, "%d", ("no number",), None))
    (line,) = tail.after(0)
    assert len(line.text) == 2000


def test_behind_sign_in_nobody_else_reads_it(serve: Serve) -> None:
    reply = serve(easy_auth=True).get("/api/logs")
    assert (reply.status_code, reply.json()["error"]["code"]) == (401, "not_signed_in")


NOC, BOB = signed_in("nina", "group-noc"), signed_in("bob", "group-it")
LOGS = "/api/logs?follow=false"


class Restricted:
    """A service with a scenario for the network operations centre, whose manifest can be changed."""

    def __init__(self, folder: Path, client: httpx.Client) -> None:
        self.manifest = folder / "scenarios" / "telco" / "scenario.yaml"
        self.client = client

    def readers(self, line: str) -> None:
        self.manifest.write_text(self.manifest.read_text().replace(FOR_NOC, line))

    def told(self, who: dict[str, str]) -> str:
        reply = self.client.get(LOGS, headers=who)
        return "\n".join(reply.json()["lines"]) if reply.status_code == 200 else ""


@pytest.fixture
def restricted(tmp_path: Path) -> Iterator[Restricted]:
    with client_of(with_network(tmp_path, FOR_NOC), easy_auth=True) as client:
        client.post("/query/graph", json={"query": "SELECT 1"}, headers=NOC)
        note("about the network")
        yield Restricted(tmp_path, client)


@pytest.mark.slow("starts the service and a collector")
def test_the_log_of_a_network_is_for_those_who_may_read_its_scenario(restricted: Restricted) -> None:
    assert "about the network" in restricted.told(NOC)
    for path in ("/api/logs", LOGS):
        reply = restricted.client.get(path, headers=BOB)
        assert (reply.status_code, reply.json()["error"]["code"]) == (404, "not_found")


@pytest.mark.slow("starts the service and a collector")
def test_a_list_that_becomes_narrower_closes_the_log_and_ends_what_follows(restricted: Restricted) -> None:
    with restricted.client.stream("GET", "/api/logs", headers=NOC) as reply:
        lines = reply.iter_lines()
        assert any("about the network" in line for line in lines)
        restricted.readers("access_control_list: [group-board]")
        note("for the board")
        assert not any("for the board" in line for line in lines)  # and it ends
    assert restricted.told(NOC) == ""
    assert "for the board" not in restricted.told(signed_in("ceo", "group-board"))  # the list of then applies, too
    note("again")
    assert "again" in restricted.told(signed_in("ceo", "group-board"))


@pytest.mark.slow("starts the service and a collector")
def test_without_a_scenario_lines_are_for_operators_who_might_read_it(tmp_path: Path) -> None:
    administrators = ("nina", "bob")
    with client_of(with_network(tmp_path, FOR_NOC), easy_auth=True, administrators=administrators) as client:
        restricted = Restricted(tmp_path, client)
        client.post("/query/graph", json={"query": "SELECT 1"}, headers=NOC)
        note("about the network")
        restricted.manifest.unlink()
        assert "about the network" not in restricted.told(BOB)
        assert "about the network" in restricted.told(NOC)


@pytest.mark.slow("starts the service and a collector")
def test_without_a_scenario_lines_are_for_nobody_but_operators(restricted: Restricted) -> None:
    restricted.manifest.unlink()
    for path in (LOGS, "/api/logs"):
        reply = restricted.client.get(path, headers=NOC)
        assert (reply.status_code, reply.json()["error"]["code"]) == (404, "not_found")


@pytest.mark.slow("starts the service and a collector")
def test_what_is_said_of_a_manifest_that_cannot_be_read_is_told_nobody(restricted: Restricted) -> None:
    whole = restricted.manifest.read_text()
    restricted.readers("access_control_list: [group-noc\ntitle: planted-title")
    restricted.client.get("/api/scenarios", headers=BOB)
    restricted.client.post("/query/graph", json={"query": "SELECT 1"}, headers=BOB)
    assert restricted.client.get(LOGS, headers=NOC).status_code == 503
    restricted.manifest.write_text(whole.replace(FOR_NOC, "access_control_list: []"))
    restricted.client.post("/query/graph", json={"query": "SELECT 1"}, headers=BOB)
    for who in (BOB, NOC):
        assert "planted" not in restricted.told(who)
        assert "cannot be read" not in restricted.told(who)


def test_a_line_about_a_manifest_beside_the_one_that_is_served_is_told_nobody(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    knowledge_base = with_network(tmp_path, scenario="telco")
    other = tmp_path / "scenarios" / "other" / "scenario.yaml"
    other.parent.mkdir()
    other.write_text("planted-secret: [")
    with client_of(knowledge_base) as client:
        client.get("/api/scenarios")
        assert "planted" in caplog.text  # by those who run the service
        assert "planted" not in client.get(LOGS).text
