"""What every request passes first: who it is from, how long it is, what it carries. Pure ASGI, so that streams stream.

The identity header of the Responses protocol's server is set here and never believed from outside, except from the
Foundry platform, which sets it itself.
"""

import json
from collections.abc import Iterable

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.asking import asking
from app.api.problems import problem_body
from app.principal import Principal, principal_of

AGENT_USER = b"x-agent-user-id"
_OURS = frozenset({AGENT_USER, b"x-agent-response-id", b"content-length"})
_FOUNDRY_ROUTE = "/responses"
_OPEN = frozenset({"/health", "/readiness"})
"""What those ask that are nobody: the platform, and whoever watches over the service."""
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


class Gate:
    """Lets requests through that are from somebody, short enough, and JSON where they carry anything."""

    def __init__(self, app: ASGIApp, *, easy_auth: bool, hosted: bool, most_bytes: int) -> None:
        self._app = app
        self._easy_auth = easy_auth
        self._hosted = hosted
        self._most_bytes = most_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check, say who asks, and pass on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if headers.get("sec-fetch-site") == "cross-site" and scope["method"] not in _SAFE:
            advice = "a page of another site cannot ask for this"
            await JSONResponse(problem_body("cross_site", advice), 403)(scope, receive, send)
            return
        who = Principal() if scope["path"] in _OPEN else self._who(headers)
        if who is None:
            advice = "nobody is signed in: the request came past Easy Auth; sign in, or unset KB_EASY_AUTH"
            await JSONResponse(problem_body("not_signed_in", advice), 401)(scope, receive, send)
            return
        body = await self._body(scope, headers, receive, send)
        if body is None:
            return
        token = asking.set(who)
        try:
            await self._app(_as(who, scope, len(body)), _replay(body, receive), send)
        finally:
            asking.reset(token)

    def _who(self, headers: Headers) -> Principal | None:
        if self._hosted:
            user = headers.get(AGENT_USER.decode(), "").strip()
            return Principal(user, (user,)) if user else Principal()
        return principal_of(headers, easy_auth=self._easy_auth)

    async def _body(self, scope: Scope, headers: Headers, receive: Receive, send: Send) -> bytes | None:
        """The whole request, or ``None`` when it was refused."""
        chunks: list[bytes] = []
        length = 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            length += len(message.get("body", b""))
            if length > self._most_bytes:
                advice = f"the request is longer than {self._most_bytes:,} bytes (KB_REQUEST_BYTES); send less"
                await JSONResponse(problem_body("request_too_long", advice), 413)(scope, receive, send)
                return None
            chunks.append(message.get("body", b""))
            if not message.get("more_body"):
                break
        # a page of another site can send a form or text without asking us first, but not JSON
        if length and headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            advice = "the request must be JSON; send it with content-type: application/json"
            await JSONResponse(problem_body("not_json", advice), 415)(scope, receive, send)
            return None
        try:
            return self._read(b"".join(chunks)) if length else b""
        except (ValueError, RecursionError):
            advice = (
                "the request is not JSON in UTF-8, or more than anybody needs: nested too deep, or a number too long"
            )
            await JSONResponse(problem_body("not_json", advice), 400)(scope, receive, send)
            return None

    def _read(self, body: bytes) -> bytes:
        """The request as JSON that everything behind can read.

        Raises:
            ValueError: it is not JSON, or holds text that is no Unicode.
            RecursionError: it is nested too deep.
        """
        said = json.loads(body)
        if isinstance(said, dict) and not self._hosted:
            said.pop("response_id", None)  # who could choose it could write over an earlier turn
        return json.dumps(said, ensure_ascii=False).encode()


def _as(who: Principal, scope: Scope, length: int) -> Scope:
    """The request with our word on who it is from, and with the route of hosted agents led to the same place."""
    headers: Iterable[tuple[bytes, bytes]] = scope["headers"]
    kept = [(name, value) for name, value in headers if name.lower() not in _OURS]
    path = scope["path"]
    if path == _FOUNDRY_ROUTE or path.startswith(f"{_FOUNDRY_ROUTE}/"):
        path = f"/v1{path}"
    own = [(AGENT_USER, who.user_id.encode()), (b"content-length", str(length).encode())]
    return {**scope, "path": path, "raw_path": None, "headers": [*kept, *own]}


def _replay(body: bytes, receive: Receive) -> Receive:
    """The request once more; what comes after it is as it was, so that a client that goes away is noticed."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return waiting.pop() if waiting else await receive()

    return next_message
