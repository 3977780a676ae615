"""A server before another one, which passes on what is asked, and answers wrongly when a test says so."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import NamedTuple

import httpx


class Answer(NamedTuple):
    """What is sent: ``missing`` bytes of the body are announced and not sent."""

    status: int
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    missing: int = 0


_PASSED = frozenset({"content-type", "cookie", "authorization"})
_ANSWERED = ("content-type", "set-cookie", "location")

Fault = Callable[[Answer], Answer]
"""The wrong answer, from the right one."""

FAULTS: dict[str, Fault] = {
    "500": lambda right: Answer(500, b"broken"),
    "503": lambda right: Answer(503, b"later", (("Retry-After", "0"),)),
    "429": lambda right: Answer(429, b"too many", (("Retry-After", "0"),)),
    "cut off": lambda right: right._replace(body=right.body[: len(right.body) // 2], missing=len(right.body) // 2 + 1),
    "half": lambda right: right._replace(body=right.body[: len(right.body) // 2]),
    "empty": lambda right: right._replace(body=b""),
    "a page": lambda right: Answer(200, b"<html>The database is locked</html>", (("Content-Type", "text/html"),)),
}


class Proxy:
    """``fault(number, path)`` names the fault of each request, or nothing."""

    def __init__(self, target: str) -> None:
        self.url, self.asked = "", 0
        self.fault: Callable[[int, str], Fault | None] = lambda number, path: None
        self._client = httpx.Client(base_url=target, timeout=60, trust_env=False)
        self._lock = Lock()

    def answer(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> Answer:
        with self._lock:
            self.asked += 1
            fault = self.fault(self.asked, path)
        kept = {name: value for name, value in headers.items() if name.lower() in _PASSED}
        got = self._client.request(method, path, content=body, headers=kept)
        self._client.cookies.clear()
        passed = tuple((name, got.headers[name]) for name in _ANSWERED if name in got.headers)
        right = Answer(got.status_code, got.content, passed)
        return fault(right) if fault else right


@contextmanager
def proxy_of(target: str) -> Iterator[Proxy]:
    """Run a proxy on loopback."""
    proxy = Proxy(target)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            answer = proxy.answer(self.command, self.path, self.rfile.read(length), dict(self.headers))
            self.send_response(answer.status)
            for name, value in answer.headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.body) + answer.missing))
            self.end_headers()
            self.wfile.write(answer.body)

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    proxy.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield proxy
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
