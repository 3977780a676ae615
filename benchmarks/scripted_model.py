"""A chat model that streams one fixed sentence after a latency, so that the remaining time is our own.

    python -m benchmarks.scripted_model PORT [--latency 0.0]

It repeats a word of the question, so that an answer that reached the wrong client is detected. It speaks chat
completions, streaming (https://platform.openai.com/docs/api-reference/chat-streaming), and calls the search tool once
if it is offered one.
"""

import argparse
import asyncio
import json
import re
from collections.abc import AsyncIterator
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

_MARK = re.compile(r"\bnr\d+\b")


async def _complete(request: Request) -> StreamingResponse:
    body = await request.json()
    await asyncio.sleep(request.app.state.latency)
    return StreamingResponse(_events(body), media_type="text/event-stream")


async def _events(body: dict[str, Any]) -> AsyncIterator[str]:
    asked = json.dumps([message for message in body["messages"] if message["role"] == "user"])
    marks = _MARK.findall(asked)
    if body.get("tools") and not any(message["role"] == "tool" for message in body["messages"]):
        arguments = json.dumps({"query": asked[-400:]})
        call = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "search_knowledge_base"}}
        call["function"] = {"name": "search_knowledge_base", "arguments": arguments}  # type: ignore[assignment]
        yield _event({"role": "assistant", "tool_calls": [call]})
        yield _event({}, "tool_calls")
    else:
        for word in ["Asked: ", *(f"{mark} " for mark in marks[-1:]), "as the article says ", "[Ref #1]", "."]:
            yield _event({"content": word})
        yield _event({}, "stop")
    yield "data: [DONE]\n\n"


def _event(delta: dict[str, Any], finish: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "scripted", "choices": [choice]}
    return f"data: {json.dumps(chunk)}\n\n"


def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("port", type=int)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before its first word")
    arguments = parser.parse_args()
    app = Starlette(routes=[Route("/v1/chat/completions", _complete, methods=["POST"])])
    app.state.latency = arguments.latency
    uvicorn.run(app, host="127.0.0.1", port=arguments.port, log_level="warning")


if __name__ == "__main__":
    main()
