"""The first check of every request: who sends it, its size, and that its body is JSON, or a file that is uploaded.

Plain ASGI middleware, because Starlette's middleware classes would interfere with streaming. The gate sets the
identity header that the Responses protocol's server reads. It never trusts that header from outside, except on the
Foundry platform, which sets it itself.
"""

import json
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, cast

from fastapi import Depends, Request
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.problems import answer_problem, problem
from app.callers.principal import EASY_AUTH_HEADERS, VISITOR, Principal, principal_of
from app.errors import AnswerError, BadQuestionError, NotSignedInError
from app.service import AgentService
from app.settings import AppSettings

if TYPE_CHECKING:
    from app.callers.access_tokens import AccessTokens

asking: ContextVar[Principal] = ContextVar("asking")
"""The caller of the current request; :class:`Gate` sets it before any route runs."""


def service_of(request: Request) -> AgentService:
    """The service of the application."""
    return cast(AgentService, request.app.state.service)


def who_asks() -> Principal:
    """The caller of the current request."""
    return asking.get()


TheService = Annotated[AgentService, Depends(service_of)]
Who = Annotated[Principal, Depends(who_asks)]


AGENT_USER = b"x-agent-user-id"
_OURS = frozenset({AGENT_USER, b"x-agent-response-id", b"content-length"})
_FOUNDRY_ROUTE = "/responses"
_WITH_PICTURES = f"/v1{_FOUNDRY_ROUTE}"
UPLOADS = "/api/uploads"
"""The route whose body is a file."""
_FILE = "application/octet-stream"
_UPLOADS_AT_ONCE = 4
"""Files that are received at a time, each in memory."""
_NO_INPUT = "structured_outputs"
_MOST_ITEMS = 500
"""Input items of a request. The protocol's server makes an id for each in the event loop: eight requests with 4,000 of
them held up all others for four seconds. 250 questions with their answers are a long conversation."""
_MOST_PARTS = 1000
"""Parts of all those items, which are copied several times: an item is a text, a picture, or both."""
_MOST_BRACKETS = 20_000
"""Lists and objects of a request, those in its texts included: reading 80,000 holds up all others for a tenth of a
second, eight times at once for a second."""
WIDGET = "/api/widget/"
"""Below this, visitors of other sites ask without signing in; :class:`app.api.widget_sites.WidgetSites` knows which."""
WIDGET_SCRIPT = "/widget.js"
OPEN_PATHS = frozenset({"/health", "/readiness"})
"""Paths that need no identity: probes of the platform and of monitors."""
_NOBODYS = OPEN_PATHS | {WIDGET_SCRIPT}


class _RefusedError(Exception):
    """A request that goes no further."""

    def __init__(self, status: int, code: str, advice: str) -> None:
        super().__init__(advice)
        self.response = problem(status, code, advice)


class Gate:
    """Accepts requests from a known caller, up to a size, whose body is empty or JSON, or a file that is uploaded."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        settings: AppSettings,
        hosted: bool,
        refused: Callable[[Scope, int], None],
        most_of_upload: Callable[[Principal, bool], int] = lambda _who, _is_local: 0,
    ) -> None:
        """``refused`` is told of each request that is, and with which status.

        ``most_of_upload`` says how large a file may be that somebody uploads, locally or not; 0: they may not.
        """
        self._app = app
        self._most_of_upload = most_of_upload
        self._uploads = 0
        self._refused = refused
        self._settings = settings
        self._local = settings.local_principal
        self._hosted = hosted
        self._tokens = _access_tokens(settings)
        self._most_bytes = settings.request_bytes
        self._most_of_picture = settings.picture_bytes * 4 // 3 + 64 if settings.picture_bytes else 0  # in base64

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope = _of_protocol(scope)
        headers = Headers(scope=scope)
        try:
            who = Principal() if scope["path"] in _NOBODYS else await self._who(scope["path"], headers)
            is_local = self._settings.is_only_local and not self._hosted
            if (scope["method"], scope["path"]) == ("POST", UPLOADS):
                body = await self._file(self._most_of_upload(who, is_local), headers, receive)
            else:
                body = await self._body(scope, headers, receive)
        except AnswerError as exc:
            await self._refuse(answer_problem(exc), scope, receive, send)
            return
        except _RefusedError as exc:
            await self._refuse(exc.response, scope, receive, send)
            return
        if body is None:
            return
        is_operator = who != VISITOR and self._settings.is_operated_by(who, is_local=is_local)
        token = asking.set(replace(who, is_operator=is_operator))
        try:
            await self._app(_identified(who, scope, len(body)), _replay(body, receive), send)
        finally:
            asking.reset(token)

    async def _refuse(self, response: Response, scope: Scope, receive: Receive, send: Send) -> None:
        self._refused(scope, response.status_code)
        await response(scope, receive, send)

    async def _who(self, path: str, headers: Headers) -> Principal:
        if self._hosted:
            user = headers.get(AGENT_USER.decode(), "").strip()
            return Principal(user, (user,)) if user else Principal()
        if path.startswith(WIDGET) and not self._signs_in(headers):
            return VISITOR
        if self._tokens:
            return await self._tokens.caller(headers)
        who = principal_of(
            headers,
            easy_auth=self._settings.easy_auth,
            access_claims=self._settings.access_claims,
            local=self._local,
        )
        if who is None:
            raise NotSignedInError(
                "nobody is signed in: the request did not pass Easy Auth; sign in, or unset KB_EASY_AUTH"
            )
        return who

    def _signs_in(self, headers: Headers) -> bool:
        """Whether somebody says who they are, rightly or not, in a way that counts here."""
        if self._tokens:
            return "authorization" in headers
        return self._settings.easy_auth and any(name in headers for name in EASY_AUTH_HEADERS)

    async def _body(self, scope: Scope, headers: Headers, receive: Receive) -> bytes | None:
        """The whole body, or ``None`` if the client is gone.

        Raises:
            _RefusedError: it is too long, or no JSON.
            BadQuestionError: there is too much in it.
        """
        most = self._most_bytes + (self._most_of_picture if scope["path"] == _WITH_PICTURES else 0)
        whole = await _received(receive, most)
        if whole is None:
            return None
        if len(whole) > most:
            raise self._too_long(most)
        length = len(whole)
        # a page of another site can send a form or text without a CORS preflight, but not JSON
        if length and headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            advice = "the request must be JSON; send it with content-type: application/json"
            raise _RefusedError(415, "not_json", advice)
        if length > self._most_bytes and _length_without_pictures(whole) > self._most_bytes:
            raise self._too_long(most)
        try:
            return self._parse(whole) if length else b""
        except (ValueError, RecursionError) as exc:
            advice = "the request is not JSON in UTF-8, or it is nested too deep, or a number in it is too long"
            raise _RefusedError(400, "not_json", advice) from exc

    async def _file(self, most: int, headers: Headers, receive: Receive) -> bytes | None:
        """The body that is a file, of at most so many bytes, or ``None`` if the client is gone.

        Raises:
            _RefusedError: the caller may not upload, it is too long, no file, or others send theirs.
        """
        if not most:
            raise _RefusedError(
                403, "not_an_uploader", "you may not hand in files; an administrator can name you in KB_UPLOADERS"
            )
        # the type that neither a form nor a page of another site can send without asking first (CORS)
        if headers.get("content-type", "").partition(";")[0].strip().lower() != _FILE:
            raise _RefusedError(415, "not_a_file", f"send the file itself, with content-type: {_FILE}")
        if self._uploads >= _UPLOADS_AT_ONCE:
            raise _RefusedError(503, "busy", "others send files; try again in a moment")
        self._uploads += 1
        try:
            whole = await _received(receive, most)
        finally:
            self._uploads -= 1
        if whole is not None and len(whole) > most:
            raise _RefusedError(
                413, "request_too_long", f"the file is longer than {most:,} bytes (KB_UPLOAD_BYTES); send a smaller one"
            )
        return whole

    def _too_long(self, most: int) -> "_RefusedError":
        limit = f"{self._most_bytes:,} bytes (KB_REQUEST_BYTES)"
        if most > self._most_bytes:
            limit += f", or {most:,} with its pictures (KB_PICTURE_BYTES)"
        return _RefusedError(413, "request_too_long", f"the request is longer than {limit}; send less")

    def _parse(self, body: bytes) -> bytes:
        """The body as JSON that all later readers accept.

        Raises:
            ValueError: it is not JSON, or it contains text that is not valid Unicode.
            RecursionError: it is nested too deep.
            BadQuestionError: it has too many input items or parts, or lists and objects.
        """
        if (brackets := body.count(b"[") + body.count(b"{")) > _MOST_BRACKETS:
            raise BadQuestionError(
                f"the request has {brackets:,} opening brackets, the limit is {_MOST_BRACKETS:,}; send less at once"
            )
        request = json.loads(body)
        if isinstance(request, dict) and not self._hosted:
            request.pop("response_id", None)  # a caller who can choose it could overwrite an earlier turn
            request.pop("agent_session_id", None)  # the server copies it into a header unchanged
        if isinstance(request, dict) and isinstance(items := request.get("input"), list):
            if len(items) > _MOST_ITEMS:
                raise BadQuestionError(
                    f"the request has {len(items):,} input items, the limit is {_MOST_ITEMS}; send the latest"
                )
            contents = [item.get("content") for item in items if isinstance(item, dict)]
            if (parts := sum(len(each) for each in contents if isinstance(each, list))) > _MOST_PARTS:
                raise BadQuestionError(
                    f"the input items have {parts:,} parts, the limit is {_MOST_PARTS:,}; make one text of several"
                )
            # the server sends these, but refuses them from a client that sends back all that was said
            request["input"] = [each for each in items if not isinstance(each, dict) or each.get("type") != _NO_INPUT]
        return json.dumps(request, ensure_ascii=False).encode()


async def _received(receive: Receive, most: int) -> bytes | None:
    """The whole body, or the beginning of one that is longer than ``most``; ``None`` if the client is gone."""
    chunks: list[bytes] = []
    length = 0
    while length <= most:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        chunks.append(message.get("body", b""))
        length += len(chunks[-1])
        if not message.get("more_body"):
            break
    return b"".join(chunks)


def _length_without_pictures(body: bytes) -> int:
    """The bytes of a request besides those of its pictures, which are texts that begin with ``data:``.

    Whoever reads JSON of megabytes that is no such text holds up all others for seconds: nothing else runs meanwhile.
    """
    length, end = len(body), 0
    for _ in range(_MOST_ITEMS):
        start = body.find(b'"data:', end)
        end = body.find(b'"', start + 1)
        if min(start, end) < 0:
            break
        length -= end - start
    return length


def _access_tokens(settings: AppSettings) -> "AccessTokens | None":
    if not settings.token_issuer:
        return None
    from app.callers.access_tokens import AccessTokens  # with cryptography, which nobody else needs

    return AccessTokens(settings.token_issuer.rstrip("/"), settings.token_audience, settings.access_claims)


def _identified(who: Principal, scope: Scope, length: int) -> Scope:
    """The request with our identity header."""
    headers: Iterable[tuple[bytes, bytes]] = scope["headers"]
    kept = [(name, value) for name, value in headers if name.lower() not in _OURS]
    own = [(AGENT_USER, who.user_id.encode()), (b"content-length", str(length).encode())]
    return {**scope, "headers": [*kept, *own]}


def _of_protocol(scope: Scope) -> Scope:
    """The request with the ``/v1`` route in place of the one of hosted agents."""
    path = scope["path"]
    is_of_foundry = path == _FOUNDRY_ROUTE or path.startswith(f"{_FOUNDRY_ROUTE}/")
    return {**scope, "path": f"/v1{path}" if is_of_foundry else path, "raw_path": None}


def _replay(body: bytes, receive: Receive) -> Receive:
    """Receive the body again, then the original messages, so that a disconnect is noticed."""
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return pending.pop() if pending else await receive()

    return next_message
