"""The fake over HTTP: the service's paths, its keys, and what goes wrong on request."""

import asyncio
import random
import re
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from kb_pipeline_tests.managed_identity import ManagedIdentity
from kb_pipeline_tests.search_service.definitions import Refused
from kb_pipeline_tests.search_service.service import ETAG, FakeSearchService

AUDIENCE = "https://search.azure.com"
ADMIN_KEY, QUERY_KEY = "admin-key-of-the-test", "query-key-of-the-test"
_PATH = re.compile(r"/(?P<kind>indexes|aliases)(?:\('(?P<name>(?:[^']|'')*)'\))?(?P<rest>/docs.*)?")


@dataclass
class Faults:
    """What goes wrong: ``latency`` seconds a request, a ``share`` of them throttled, ``coming`` answers in order."""

    latency: float = 0.0
    share: float = 0.0
    retry_after: str = "0.05"
    coming: deque[tuple[str, int, Mapping[str, str]]] = field(default_factory=deque)
    chance: random.Random = field(default_factory=lambda: random.Random(1))
    throttled: int = 0

    def next(self, operation: str) -> Response | None:
        if self.coming and self.coming[0][0] in operation:
            _, status, headers = self.coming.popleft()
            return _refused(status, f"a fault of the test {ADMIN_KEY}", headers)
        if self.chance.random() < self.share:
            self.throttled += 1
            return _refused(503, "You are sending too many requests.", {"Retry-After": self.retry_after})
        return None


class SearchApp:
    """The service behind HTTP. Its keys are the test's; it believes the tokens of ``identity``."""

    def __init__(self, service: FakeSearchService) -> None:
        self.service = service
        self.faults = Faults()
        self.identity: ManagedIdentity | None = None
        self.counts: Counter[str] = Counter()
        self.busy = self.most_busy = 0
        routes = [Route("/{path:path}", self._respond, methods=["GET", "POST", "PUT", "DELETE"])]
        self.asgi = Starlette(routes=routes)

    async def _respond(self, request: Request) -> Response:
        self.busy += 1
        self.most_busy = max(self.busy, self.most_busy)
        try:
            body = await request.body()
            await asyncio.sleep(self.faults.latency)
            return self._answer(request, body)
        finally:
            self.busy -= 1

    def _answer(self, request: Request, body: bytes) -> Response:
        found = _PATH.fullmatch(unquote(request.url.path))
        if not found:
            return _refused(404, "Resource not found")
        operation = f"{request.method} {found['kind']}{found['rest'] or ''}"
        self.counts[operation] += 1
        if (fault := self.faults.next(operation)) is not None:
            return fault
        try:
            self._check_key(request, operation)
            if found["rest"]:
                return self._documents(request, found["name"], found["rest"], body)
            return self._definitions(request, found["kind"], found["name"], body)
        except Refused as exc:
            return _refused(exc.status, str(exc))

    def _check_key(self, request: Request, operation: str) -> None:
        key, token = request.headers.get("api-key"), request.headers.get("authorization")
        reads = operation.startswith(("GET indexes/docs", "POST indexes/docs/search.post"))
        known = self.identity is not None and self.identity.accepts(token, AUDIENCE)
        if not (known or key == ADMIN_KEY or (key == QUERY_KEY and reads)):
            raise Refused(401 if token else 403, f"Access denied due to invalid credentials {key or token}")

    def _definitions(self, request: Request, kind: str, name: str | None, body: bytes) -> Response:
        if name is None:
            return JSONResponse({"value": list(getattr(self.service, kind).values())})
        if request.method == "GET":
            return _defined(self.service.get(kind, name), 200)
        match, none_match = request.headers.get("if-match"), request.headers.get("if-none-match")
        if request.method == "DELETE":
            self.service.delete(kind, name, match)
            return Response(status_code=204)
        status = self.service.put(kind, name, _json(body), match, none_match)
        return _defined(self.service.get(kind, name), status)

    def _documents(self, request: Request, name: str, rest: str, body: bytes) -> Response:
        if rest == "/docs/$count":
            return PlainTextResponse(str(self.service.count(name)))
        if rest == "/docs/search.index":
            status, results = self.service.index(name, body)
            return JSONResponse(results, status)
        if rest == "/docs/search.post.search":
            return JSONResponse(self.service.search(name, _json(body)))
        if key := re.fullmatch(r"/docs\('(.*)'\)", rest):
            select = request.query_params.get("$select", "")
            return JSONResponse(self.service.document(name, key[1], [each for each in select.split(",") if each]))
        return _refused(404, "Resource not found")


def _json(body: bytes) -> dict[str, Any]:
    import json

    parsed: dict[str, Any] = json.loads(body)
    return parsed


def _defined(thing: dict[str, Any], status: int) -> Response:
    return JSONResponse(thing, status, {"ETag": thing[ETAG]})


def _refused(status: int, message: str, headers: Mapping[str, str] | None = None) -> Response:
    if status == 404 and not message:
        return Response(status_code=404)
    return JSONResponse({"error": {"code": "", "message": message}}, status, dict(headers or {}))
