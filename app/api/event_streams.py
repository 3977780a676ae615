"""Server-sent events as a response: they begin at once, do not fall silent, and notice when the reader leaves."""

from collections.abc import AsyncGenerator, Callable

from fastapi.sse import KEEPALIVE_COMMENT
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

_HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
KEPT_ALIVE_SECONDS = 15.0
"""After so long without an event a comment is sent."""
KEPT_ALIVE = KEEPALIVE_COMMENT


class EventStream(StreamingResponse):
    """The events of a generator. When the stream ends, however it does, it is closed, and then ``left`` is called.

    FastAPI's own streams of events cannot answer with another status, nor say what follows when they end.
    """

    media_type = "text/event-stream"

    def __init__(
        self, events: AsyncGenerator[bytes, None], left: Callable[[], None], headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(events, headers={**_HEADERS, **(headers or {})})
        self._events, self._left = events, left

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events until the reader leaves."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            try:
                await self._events.aclose()
            finally:
                self._left()
