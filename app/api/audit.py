"""Which routes the audit log records, and as what. A test fails if a route is in neither table.

Plain ASGI middleware behind the gate: it is told who asks, and sees with which status the request ends. The gate itself
tells of those that it refuses.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from re import Pattern
from typing import Any

from starlette.routing import compile_path
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.gate import asking
from app.logs.auditing import Noted, noted_now
from kb_pipeline.store.audit import Action, AuditLog, Outcome

RECORDED: Mapping[str, Action] = {
    "POST /chat": "ask",
    "POST /api/widget/answer": "ask",
    "GET /api/widget/images/{article_id}/{image_path:path}": "open",
    "POST /v1/responses": "ask",
    "POST /api/alert": "ask",
    "GET /api/search": "search",
    "GET /api/context": "open",
    "GET /api/articles/{article_id}": "open",
    "GET /api/articles/{article_id}/backlog": "open",
    "GET /api/articles/{article_id}/use": "open",
    "GET /api/documents/{article_id}": "open",
    "GET /api/documents/{article_id}/{file}": "open",
    "GET /api/documents/{article_id}/pages/{page}.png": "open",
    "GET /api/images/{article_id}/{image_path:path}": "open",
    # what was answered before may hold words of any article
    "GET /api/conversations/{conversation_id}": "open",
    "GET /api/conversations/{conversation_id}/markdown": "open",
    "GET /api/responses/{response_id}/answer": "open",
    "GET /api/shares/{share_id}": "open",
    "GET /v1/responses/{response_id}": "open",
    "GET /v1/responses/{response_id}/input_items": "open",  # with the answers before
    "PATCH /api/conversations/{conversation_id}": "open",  # it sends the whole conversation
    "GET /api/quality/runs/{run_id}": "open",
    "GET /api/quality/compare": "open",
    "GET /api/investigations/{investigation_id}": "open",
    "GET /api/investigations/{investigation_id}/events": "open",
    # and these the words of other people
    "GET /api/contributions/{contribution_id}": "open",
    "GET /api/gaps": "open",
    "GET /api/gaps/{gap_id}": "open",
    "GET /api/logs": "open",
    "POST /query/graph": "query",
    "POST /query/telemetry": "query",
    "POST /query/topology": "query",
    "POST /api/tools/{name}": "tool",
    "POST /api/contributions": "propose",
    "POST /api/uploads": "propose",
    "POST /api/contributions/{contribution_id}/accept": "accept",
    "POST /api/contributions/{contribution_id}/reject": "reject",
    "POST /api/conversations/{conversation_id}/shares/{response_id}": "share",
    "DELETE /api/conversations/{conversation_id}/shares/{response_id}": "share",
    "PUT /api/gaps/{gap_id}": "decide",
    "PUT /api/model": "model",
    "DELETE /api/model": "model",
}
"""What a request to a route is recorded as."""

ANSWERED_LATER = "POST /v1/responses"
"""The route whose lines are written with the answers, which begin or go on after its response."""

_REFUSED = frozenset({401, 403, 404})
MOST_REFUSALS = 5
"""Lines of refusals of the gate, a minute, for each action and status."""
_COUNTED_SECONDS = 60.0
"""A minute: refusals of one kind are counted in one line, so that an attack does not fill the disk."""


class AuditTrail:
    """Adds a line to the audit log for each request to a route that is recorded, whatever becomes of it."""

    def __init__(self, app: ASGIApp, *, log: AuditLog) -> None:
        self._app = app
        self._log = log
        self._routes = _recorded(log)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and write its line before its response is sent: nobody has it without a line."""
        route, named = _route_of(scope, self._routes)
        if not route:
            await self._app(scope, receive, send)
            return
        noted = _noted(RECORDED[route], named)

        async def noticing(message: Message) -> None:
            if message["type"] == "http.response.start":
                outcome = _outcome(message["status"])
                if route != ANSWERED_LATER or outcome != "done":
                    noted.write(self._log, outcome)
            await send(message)

        token = noted_now.set(noted)
        try:
            await self._app(scope, receive, noticing)
        except Exception:  # its response is made outside
            if route != ANSWERED_LATER:
                noted.write(self._log, "failed")
            raise
        finally:
            noted_now.reset(token)


class Refusals:
    """Adds the requests that the gate refuses: a few lines a minute of each kind, so that no stranger fills the disk.

    Nobody knows who sent them. The rest of a minute is counted in a line of its own.
    """

    def __init__(self, log: AuditLog) -> None:
        self._log = log
        self._routes = _recorded(log)
        self._counts: Counter[tuple[Action, int]] = Counter()

    def add(self, scope: Scope, status: int) -> None:
        """Add a request to a route that is recorded."""
        route, _ = _route_of(scope, self._routes)
        if not route:
            return
        kind = RECORDED[route], status
        self._counts[kind] += 1
        if self._counts[kind] == 1:
            asyncio.get_running_loop().call_later(_COUNTED_SECONDS, self._end, kind)
        if self._counts[kind] <= MOST_REFUSALS:
            self._write(kind, "")

    def end(self) -> None:
        """Add what was only counted."""
        for kind in list(self._counts):
            self._end(kind)

    def _end(self, kind: tuple[Action, int]) -> None:
        more = self._counts.pop(kind, 0) - MOST_REFUSALS
        if more > 0:
            self._write(kind, f", {more} more within a minute")

    def _write(self, kind: tuple[Action, int], more: str) -> None:
        action, status = kind
        self._log.add(
            action, "", "service", outcome="refused", about=f"HTTP {status} {HTTPStatus(status).phrase}{more}"
        )


_Routes = Sequence[tuple[str, str, Pattern[str]]]


def _recorded(log: AuditLog) -> _Routes:
    return [_compiled(route) for route, action in RECORDED.items() if log.records(action)]


def _route_of(scope: Scope, routes: _Routes) -> tuple[str, dict[str, Any]]:
    """Return the recorded route that a request is for, "" if none, and the values in its path."""
    if scope["type"] == "http":
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        for route, of_method, pattern in routes:
            if method == of_method and (match := pattern.match(scope["path"])):
                return route, match.groupdict()
    return "", {}


def _compiled(route: str) -> tuple[str, str, Pattern[str]]:
    method, _, path = route.partition(" ")
    return route, method, compile_path(path)[0]


def _noted(action: Action, named: dict[str, Any]) -> Noted:
    article_id = named.pop("article_id", None)
    if "share_id" in named:  # whoever knows it can open the link
        named["share_id"] = "a shared answer"
    articles = {article_id: None} if article_id else {}
    return Noted(action, asking.get().user_id, articles=articles, about=" ".join(named.values()))


def _outcome(status: int) -> Outcome:
    if status in _REFUSED:
        return "refused"
    return "failed" if status >= 400 else "done"
