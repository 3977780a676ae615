"""The route of the service's log: its newest lines, and those that follow."""

import asyncio
import json
from collections.abc import AsyncGenerator

from fastapi import APIRouter
from fastapi.sse import format_sse_event

from app.api.event_streams import KEPT_ALIVE, KEPT_ALIVE_SECONDS, EventStream
from app.api.gate import Who
from app.log_lines import LogTail, log_tail
from app.schema.network import LogLines

router = APIRouter(prefix="/api", tags=["service"])
_LOOK_SECONDS = 0.25


@router.get("/logs", response_model=LogLines)
async def logs(_: Who, follow: bool = True) -> LogLines | EventStream:
    """The newest lines as a stream that goes on, or as JSON. A reader that is too slow loses lines."""
    tail = log_tail()
    if not follow:
        return LogLines(lines=tuple(line for _, line in tail.after(0)))
    return EventStream(_lines(tail), lambda: None)


async def _lines(tail: LogTail) -> AsyncGenerator[bytes, None]:
    number, silent = 0, 0.0
    while True:
        fresh = tail.after(number)
        for number, line in fresh:
            yield format_sse_event(data_str=json.dumps({"line": line}), event="log", id=str(number))
        silent = 0.0 if fresh else silent + _LOOK_SECONDS
        if silent >= KEPT_ALIVE_SECONDS:
            yield KEPT_ALIVE
            silent = 0.0
        await asyncio.sleep(_LOOK_SECONDS)
