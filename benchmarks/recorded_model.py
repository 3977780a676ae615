"""Passes chat completions on to a real model, keeps what it says, and repeats that when the same is asked again.

    python -m benchmarks.recorded_model PORT --upstream http://127.0.0.1:8080/v1 --recordings FILE.jsonl

A measurement with a slow model can so be stopped and gone on with, and a change of the code behind the model be
measured with the words that the model said before. A request is the same if its messages and options are. What the
model says is read to its end, also if nobody listens any more, because other code may want to hear more of it.
"""

import argparse
import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from kb_pipeline.steps.fingerprint import sha256

_SECONDS = 1800.0
"""Until a model on a busy machine must have said the next word."""
_END = "data: [DONE]"


@dataclass
class Recordings:
    """What the model said to each request, in a file with a line for each."""

    path: Path
    streams: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> "Recordings":
        """Read the file, if there is one."""
        lines = path.read_text(encoding="utf-8").split("\n") if path.exists() else []
        return cls(path, {entry["key"]: entry["stream"] for entry in map(json.loads, filter(None, lines))})

    def keep(self, key: str, request: dict[str, Any], stream: str) -> None:
        """Append what was said; it is repeated from now on."""
        self.streams[key] = stream
        entry = {"key": key, "messages": request.get("messages"), "said": said(stream), "stream": stream}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry, ensure_ascii=False) + "\n")


def key_of(request: dict[str, Any]) -> str:
    """Equal for requests to which a recording may be the answer."""
    return sha256(json.dumps(request, sort_keys=True, ensure_ascii=False).encode())


def said(stream: str) -> str:
    """The words of a stream of events."""
    data = (line.removeprefix("data: ") for line in stream.split("\n") if line.startswith("data: {"))
    choices = (choice for event in map(json.loads, data) for choice in event.get("choices", ()))
    return "".join(choice.get("delta", {}).get("content") or "" for choice in choices)


def application(upstream: httpx.AsyncClient, recordings: Recordings) -> Starlette:
    """The endpoint, which asks ``upstream`` what was not recorded."""
    listening: set[asyncio.Task[None]] = set()

    async def complete(request: Request) -> Response:
        asked = await request.json()
        if not asked.get("stream"):
            return JSONResponse({"error": {"message": "only streams are recorded"}}, status_code=400)
        key = key_of(asked)
        if known := recordings.streams.get(key):
            return Response(known, media_type="text/event-stream")
        lines: asyncio.Queue[str | None] = asyncio.Queue()
        task = asyncio.create_task(_listen(upstream, asked, key, recordings, lines))
        listening.add(task)
        task.add_done_callback(listening.discard)
        return StreamingResponse(_passed_on(lines), media_type="text/event-stream")

    return Starlette(routes=[Route("/v1/chat/completions", complete, methods=["POST"])])


async def _listen(
    upstream: httpx.AsyncClient,
    asked: dict[str, Any],
    key: str,
    recordings: Recordings,
    lines: "asyncio.Queue[str | None]",
) -> None:
    """Read the answer to its end, pass each line on, and keep the whole unless it broke off."""
    heard: list[str] = []
    try:
        async with upstream.stream("POST", "chat/completions", json=asked) as response:
            response.raise_for_status()
            async for line in response.aiter_lines():
                heard.append(line)
                lines.put_nowait(line)
        if _END in heard:
            recordings.keep(key, asked, "\n".join(heard) + "\n")
    finally:
        lines.put_nowait(None)


async def _passed_on(lines: "asyncio.Queue[str | None]") -> AsyncIterator[str]:
    while (line := await lines.get()) is not None:
        yield f"{line}\n"


def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("port", type=int)
    parser.add_argument("--upstream", required=True)
    parser.add_argument("--recordings", type=Path, required=True)
    arguments = parser.parse_args()
    upstream = httpx.AsyncClient(base_url=arguments.upstream, timeout=_SECONDS)
    app = application(upstream, Recordings.read(arguments.recordings))
    uvicorn.run(app, host="127.0.0.1", port=arguments.port, log_level="warning")


if __name__ == "__main__":
    main()
