"""The agent service and the chat page as one application, on one port (``KB_ONE_PORT``).

Each keeps all that it has by itself: its checks of host names and origins, its headers, its routes. The page goes on
asking the service by HTTP, with the reader's identity, so rights are what they are on two ports. Pictures and original
files, which the page's server otherwise fetches for the browser, come from the service directly.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.routing import Mount, Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit.starlette import App

_OF_FOUNDRY = "responses"
"""A route that the service takes for one of ``/v1``; see :mod:`app.api.gate`."""


class OnePort:
    """Passes each request to the service or to the page, by the first part of its path."""

    def __init__(self, service: FastAPI, page: App) -> None:
        self._service, self._page = service, page
        paths = (route.path for route in service.routes if isinstance(route, (Route, Mount)))
        self.of_service = frozenset(_first(path) for path in paths) | {_OF_FOUNDRY}
        """First parts of the service's paths; all others are the page's, which has a place for any of them."""
        # the page is ready before anybody is let in, and closed first: it asks the service
        self._both = Router(lifespan=self._lifespan)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._both(scope, receive, send)
            return
        is_of_service = scope["type"] == "http" and _first(scope["path"]) in self.of_service
        app: ASGIApp = self._service if is_of_service else self._page
        await app(scope, receive, send)

    @asynccontextmanager
    async def _lifespan(self, _: object) -> AsyncIterator[None]:
        async with self._service.router.lifespan_context(self._service), self._page.lifespan()(self._page):
            yield


def _first(path: str) -> str:
    """``api`` of ``/api/articles``."""
    return path.split("/", 2)[1] if "/" in path else path
