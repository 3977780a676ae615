"""The door of the widget: which sites' pages may ask by it, and nobody else's.

Plain ASGI middleware around all other checks. What it lets in is, for these, no request of another site any more.
"""

from collections.abc import Collection

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from app.api.gate import WIDGET
from app.api.problems import problem

_OF_A_PAGE = frozenset({b"origin", b"sec-fetch-site"})


class WidgetSites:
    """Answers requests below ``WIDGET`` only to pages of these origins, and tells browsers so."""

    def __init__(self, app: ASGIApp, *, origins: Collection[str]) -> None:
        self._app = app
        self._origins = frozenset(origins)
        self._let_in = CORSMiddleware(
            self._without_origin,
            allow_origins=tuple(origins),
            allow_methods=["GET", "POST"],
            allow_headers=["authorization", "content-type"],
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer 403."""
        if scope["type"] != "http" or not scope["path"].startswith(WIDGET):
            await self._app(scope, receive, send)
        elif Headers(scope=scope).get("origin", "") in self._origins:
            await self._let_in(scope, receive, send)
        else:
            advice = "pages of this site may not ask here; to allow it, add it to KB_WIDGET_ORIGINS"
            await problem(403, "not_a_widget_site", advice)(scope, receive, send)

    async def _without_origin(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(name, value) for name, value in scope["headers"] if name.lower() not in _OF_A_PAGE]
        await self._app({**scope, "headers": headers}, receive, send)
