"""Clients that are slow, huge or silent: each loses its connection, and the others notice nothing."""

import asyncio
import gc
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from select import select

import httpx
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route

from kb_pipeline.web import server as server_module
from kb_pipeline.web.server import HEADER_BYTES, GuardedProtocol, pass_over_what_is_loaded

PATIENCE = 30
"""Seconds in which a busy machine has done what takes it a moment."""
ROOT = Path(__file__).parents[2]
seen: list[str] = []


async def echo(request: Request) -> PlainTextResponse:
    try:
        body = await request.body()
    except ClientDisconnect:
        seen.append("disconnected")
        raise
    return PlainTextResponse(f"{len(body)} bytes")


async def endless(_: Request) -> StreamingResponse:
    async def blocks():
        try:
            while True:
                yield b"x" * 65536
                await asyncio.sleep(0)
        finally:
            seen.append("stopped")

    return StreamingResponse(blocks())


async def early(_: Request) -> PlainTextResponse:
    return PlainTextResponse("no body is read here", 413)


@contextmanager
def served() -> Iterator[tuple[str, int]]:
    app = Starlette(
        routes=[
            Route("/", echo, methods=["GET", "POST"]),
            Route("/endless", endless),
            Route("/early", early, methods=["POST"]),
        ]
    )
    config = uvicorn.Config(
        app,
        port=0,
        http=GuardedProtocol,
        h11_max_incomplete_event_size=HEADER_BYTES,
        log_level="critical",
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield "127.0.0.1", server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(20)


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, int]]:
    """A server that is in a hurry."""
    seen.clear()
    for name in ("HEADER_SECONDS", "BODY_SECONDS", "UNREAD_SECONDS"):
        monkeypatch.setattr(server_module, name, 0.5)
    with served() as at:
        yield at


def is_well(address: tuple[str, int]) -> bool:
    return httpx.get(f"http://127.0.0.1:{address[1]}/", timeout=PATIENCE).text == "0 bytes"


def all_said(connection: socket.socket) -> bytes:
    """What the server says until it closes the connection."""
    connection.settimeout(PATIENCE)
    said = b""
    try:
        while some := connection.recv(65536):
            said += some
    except ConnectionResetError:
        pass
    return said


BEGINNINGS = {
    "nothing": b"",
    "half a request line": b"GET / HT",
    "headers without end": b"GET / HTTP/1.1\r\nhost: x\r\na: b\r\n",
    "a body without end": b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\nabc",
    "a chunk without end": b"POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n5\r\nab",
    "trailers without end": b"POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n0\r\na: b\r\n",
    "a second request without end": b"GET / HTTP/1.1\r\nhost: x\r\n\r\nGET / HTTP/1.1\r\nhost:",
    "a body that nobody reads": b"POST /early HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\nabc",
}


@pytest.mark.slow("builds a whole knowledge base")
@pytest.mark.parametrize("beginning", BEGINNINGS)
def test_who_does_not_go_on_loses_the_connection(address: tuple[str, int], beginning: str) -> None:
    with closing(socket.create_connection(address)) as connection:
        connection.sendall(BEGINNINGS[beginning])
        said = all_said(connection)
    assert said.count(b"HTTP/1.1 408") == (beginning not in ("nothing", "a body that nobody reads"))
    assert is_well(address)


@pytest.mark.slow("builds a whole knowledge base")
def test_who_sends_a_byte_now_and_then_loses_the_connection(address: tuple[str, int]) -> None:
    deadline = time.monotonic() + PATIENCE
    with closing(socket.create_connection(address)) as connection, pytest.raises(ConnectionError):
        connection.sendall(b"GET / HTTP/1.1\r\nhost: x\r\n")
        while time.monotonic() < deadline:
            connection.sendall(b"a: b\r\n")
            time.sleep(0.1)


def test_the_application_hears_that_a_slow_body_never_comes(address: tuple[str, int]) -> None:
    with closing(socket.create_connection(address)) as connection:
        connection.sendall(BEGINNINGS["a body without end"])
        all_said(connection)
    assert seen == ["disconnected"]


HUGE = {
    "one header": (b"GET / HTTP/1.1\r\nhost: x\r\na: ", b"a" * 65536),
    "many headers": (b"GET / HTTP/1.1\r\nhost: x\r\n", b"a: b\r\n" * 10_000),
    "an address": (b"GET /", b"a" * 65536),
    "a chunk's header": (b"POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n1;", b"a" * 65536),
    "trailers": (b"POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n0\r\n", b"a: b\r\n" * 10_000),
    "no HTTP at all": (b"", b"\x16\x03\x01" + b"a" * 65536),
}


@pytest.mark.parametrize("huge", HUGE)
def test_headers_that_do_not_end_are_refused_before_they_fill_the_memory(huge: str) -> None:
    beginning, block = HUGE[huge]
    sent = 0
    with served() as address, closing(socket.create_connection(address)) as connection:
        with pytest.raises(ConnectionError):
            connection.sendall(beginning)
            while sent < 150_000_000:
                connection.sendall(block)
                sent += len(block)
        assert is_well(address)
    assert sent < 20_000_000  # of which the server has read 64 KB; the rest lies in buffers of the system


def test_who_does_not_read_an_answer_loses_the_connection(address: tuple[str, int]) -> None:
    with closing(socket.create_connection(address)) as connection:
        connection.sendall(b"GET /endless HTTP/1.1\r\nhost: x\r\n\r\n")
        deadline = time.monotonic() + PATIENCE
        while not seen and time.monotonic() < deadline:
            time.sleep(0.05)
    assert seen == ["stopped"]


@pytest.mark.slow("builds a whole knowledge base")
def test_more_connections_than_there_may_be_are_refused_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "MOST_CONNECTIONS", 5)
    with served() as address, httpx.Client(base_url=f"http://127.0.0.1:{address[1]}") as client:
        assert client.get("/").text == "0 bytes"
        idle = {socket.create_connection(address) for _ in range(10)}
        refused: set[socket.socket] = set()
        while len(refused) < 6:
            ended, _, _ = select(idle - refused, [], [], 60)
            assert ended, f"only {len(refused)} were refused"
            assert all(_is_closed(connection) for connection in ended)
            refused |= set(ended)
        assert client.get("/").text == "0 bytes"
        assert select(idle - refused, [], [], 0) == ([], [], [])
        for connection in idle:
            connection.close()


def _is_closed(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def test_requests_of_one_connection_are_answered_one_after_another(address: tuple[str, int]) -> None:
    asked = b"".join(
        b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n%s" % (size, b"a" * size)
        for size in (1, 0, 200_000, 5)
    )
    with closing(socket.create_connection(address)) as connection:
        connection.sendall(asked)
        said = all_said(connection)
    assert re.findall(rb"(\d+) bytes", said) == [b"1", b"0", b"200000", b"5"]


def test_a_broken_chunk_breaks_off_an_answer_that_has_begun(address: tuple[str, int]) -> None:
    asked = b"GET /endless HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nnot a number\r\n"
    with closing(socket.create_connection(address)) as connection:
        connection.sendall(asked)
        assert all_said(connection).count(b"HTTP/1.1 ") == 1
    assert is_well(address)


def test_a_flood_of_silent_connections_leaves_the_server_answering(address: tuple[str, int]) -> None:
    async def flood() -> list[bool]:
        silent = [await asyncio.open_connection(*address) for _ in range(200)]
        try:
            return [await asyncio.to_thread(is_well, address) for _ in range(3)]
        finally:
            for _, writer in silent:
                writer.close()

    assert all(asyncio.run(flood()))


@pytest.mark.slow("builds a whole knowledge base")
def test_every_server_of_ours_is_run_like_that() -> None:
    sources = [path for folder in ("app", "kb_pipeline") for path in (ROOT / folder).rglob("*.py")]
    running = [path.name for path in sources if re.search(r"uvicorn\.(run|Server|Config)\(", path.read_text())]
    assert running == ["server.py"]


def test_garbage_is_looked_for_only_in_what_came_after_the_start() -> None:
    loaded: list[object] = [{}]
    pass_over_what_is_loaded()
    came: list[object] = [{}]
    looked_at = {id(each) for each in gc.get_objects()}
    assert id(came) in looked_at
    assert id(loaded) not in looked_at
