"""Notes each request with its status and duration, for readers of the service's log."""

from time import perf_counter

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.logs.lines import note

_SILENT = frozenset({"/health", "/readiness", "/api/logs"})
"""Paths that are asked for all the time."""


class RequestLog:
    """Plain ASGI middleware around everything else, so that refused requests are noted as well."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and note it when its response is complete."""
        if scope["type"] != "http" or scope["path"] in _SILENT:
            await self._app(scope, receive, send)
            return
        began, status = perf_counter(), 500

        async def noticing(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noticing)
        finally:
            note(f"{scope['method']} {_shown(scope['path'])} {status} {(perf_counter() - began) * 1000:.0f} ms")


def _shown(path: str) -> str:
    """The beginning of a path: what follows may be the id of somebody's conversation, or anything at all."""
    named = "/".join(path.split("/")[:3])
    more = "/…" if named != path else ""
    return "".join(letter if letter.isprintable() else "?" for letter in named[:60]) + more
