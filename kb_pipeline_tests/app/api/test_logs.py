"""The service's log over HTTP: its newest lines without secrets, and readers that hold up nobody."""

import json
import logging
import socket
import time
from collections.abc import Iterator

import httpx
import pytest

from app.log_lines import MOST, LogTail, keep_log_lines, log_tail, note
from kb_pipeline_tests.app.api.conftest import Serve

SECRET = "http://me:planted-secret@host/x api-key: planted-secret"


@pytest.fixture(autouse=True)
def _empty() -> Iterator[None]:
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


def test_a_reader_that_does_not_read_loses_lines_and_nothing_else(service: httpx.Client) -> None:
    with socket.create_connection((service.base_url.host, service.base_url.port or 80)) as lazy:
        lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        lazy.sendall(f"GET /api/logs HTTP/1.1\r\nHost: {service.base_url.host}\r\n\r\n".encode())
        for number in range(3000):
            note(f"line {number} {'x' * 1500}")
        assert len(log_tail().after(0)) == MOST
        began = time.monotonic()
        assert service.get("/readiness").is_success
        assert lines_of(service)[-1].startswith(log_tail().after(0)[-1][1][:30])
        assert time.monotonic() - began < 20


def test_a_line_has_an_end_and_one_that_cannot_be_written_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging, "raiseExceptions", False)
    tail = LogTail()
    tail.handle(logging.LogRecord("app", logging.INFO, "", 1, "x " * 5_000, (), None))
    tail.handle(logging.LogRecord("app", logging.INFO, "", 1, "%d", ("no number",), None))
    ((_, line),) = tail.after(0)
    assert len(line) == 2000


def test_behind_sign_in_nobody_else_reads_it(serve: Serve) -> None:
    reply = serve(easy_auth=True).get("/api/logs")
    assert (reply.status_code, reply.json()["error"]["code"]) == (401, "not_signed_in")
