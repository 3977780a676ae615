"""A small fake of Content Understanding: really converts the HTML and reads the images it gets, in its lossy way.

What it enforces and what its answers look like is from Microsoft's documentation, and from what users of the real
service report: https://learn.microsoft.com/rest/api/contentunderstanding/content-analyzers. It is no evidence for
the quality of the real service's markdown and descriptions.
"""

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from kb_pipeline.analyzers.content_understanding.deploy import AnalyzerLifecycle
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.serving import serving_app
from kb_pipeline_tests.content_understanding_answers import Json, look_at_image, read_page
from kb_pipeline_tests.managed_identity import ManagedIdentity
from kb_pipeline_tests.prism import SPECS

KEY = "key-of-content-understanding"
AUDIENCE = "https://cognitiveservices.azure.com"
OTHER_HOST = "https://another-name.cognitiveservices.azure.com"
"""Where answers say that operations are: another name of the resource, which nobody must send a key to."""

_ROOT = "/contentunderstanding"
_BASES = ("prebuilt-document", "prebuilt-image", "prebuilt-audio", "prebuilt-video")
_COMPLETIONS = ("gpt-4.1", "gpt-4.1-mini", "gpt-4o")
_ANALYZER_ID = re.compile(r"[a-zA-Z0-9._]{1,64}")
_A_PAGE = 2
"""Analyzers that one answer lists."""

Answer = Callable[[Request, bytes], Response]


@dataclass
class _Running:
    """An operation that says ``last`` after it was looked at ``looks`` times; ``at_end`` happens then."""

    last: Json
    looks: int
    at_end: Callable[[], None]


@dataclass
class ContentUnderstandingService:
    """One resource, and what tests may do to it.

    ``looks``: how often an operation is still running. ``spoil`` changes the last status of those that begin,
    ``on_get`` an analyzer after it was shown. ``picture`` is looked at instead of what arrives, where a proxy stands
    between that mangles binary bodies.
    """

    url: str = ""
    identity: ManagedIdentity | None = None
    looks: int = 1
    spoil: Callable[[Json], object] = lambda _last: None
    on_get: Callable[[Json], object] = lambda _analyzer: None
    picture: bytes | None = None
    defaults: dict[str, str] = field(default_factory=dict)
    analyzers: dict[str, Json] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    instead: list[tuple[str, str, Response]] = field(default_factory=list)
    _operations: dict[str, _Running] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def settings(self, **more: object) -> Json:
        """The settings that choose this service."""
        signed_in = {} if self.identity else {"content_understanding_api_key": KEY}
        return {"analyzer": "content-understanding", "content_understanding_endpoint": self.url} | signed_in | more

    def changes(self) -> Json:
        """The same as values of ``Settings``, which a copy may be changed by."""
        changed = Settings(**self.settings())
        return {name: getattr(changed, name) for name in self.settings()}

    def asked(self, method: str, path: str) -> list[Request]:
        """The requests so far of a method, whose path holds ``path``."""
        return [one for one in self.requests if one.method == method and path in one.url.path]

    def answer_next(self, method: str, path: str, *answers: Response) -> None:
        """Answer the next such requests, whose path holds ``path``, with these."""
        self.instead += [(method, path, answer) for answer in answers]

    def app(self) -> Starlette:
        analyzer = f"{_ROOT}/analyzers/{{analyzer_id}}"
        routes: dict[tuple[str, str], Answer] = {
            (f"{_ROOT}/defaults", "GET"): self._get_defaults,
            (f"{_ROOT}/defaults", "PATCH"): self._patch_defaults,
            (f"{_ROOT}/analyzers", "GET"): self._list,
            (f"{analyzer}:analyzeBinary", "POST"): self._analyze,
            (f"{analyzer}/operations/{{operation}}", "GET"): self._look,
            (f"{_ROOT}/analyzerResults/{{operation}}", "GET"): self._look,
            (analyzer, "GET"): self._get,
            (analyzer, "PUT"): self._put,
            (analyzer, "DELETE"): self._delete,
        }
        return Starlette(routes=[Route(path, self._door(way), methods=[verb]) for (path, verb), way in routes.items()])

    def _door(self, answer: Answer) -> Callable[[Request], object]:
        async def respond(request: Request) -> Response:
            body = await request.body()
            self.requests.append(request)
            self.bodies.append(body)
            for planned in self.instead:
                if request.method == planned[0] and planned[1] in request.url.path:
                    self.instead.remove(planned)
                    return planned[2]
            if not self._lets_in(request):
                return refusal(401, "401", "Access denied due to invalid subscription key or wrong API endpoint.")
            return await asyncio.to_thread(answer, request, body)

        return respond

    def _lets_in(self, request: Request) -> bool:
        if self.identity:
            return self.identity.accepts(request.headers.get("authorization"), AUDIENCE)
        return request.headers.get("ocp-apim-subscription-key") == KEY

    def _get_defaults(self, _request: Request, _body: bytes) -> Response:
        return JSONResponse({"modelDeployments": self.defaults})

    def _patch_defaults(self, request: Request, body: bytes) -> Response:
        """A merge patch (RFC 7396): null removes, what is not named stays."""
        changed = self.defaults | json.loads(body)["modelDeployments"]
        self.defaults = {name: value for name, value in changed.items() if value is not None}
        return self._get_defaults(request, body)

    def _list(self, request: Request, _body: bytes) -> Response:
        start = int(request.query_params.get("start", 0))
        rest = list(self.analyzers.values())[start:]
        page: Json = {"value": rest[:_A_PAGE]}
        if len(rest) > _A_PAGE:
            page["nextLink"] = f"{OTHER_HOST}{request.url.path}?api-version=2025-11-01&start={start + _A_PAGE}"
        return JSONResponse(page)

    def _get(self, request: Request, _body: bytes) -> Response:
        if not (known := self.analyzers.get(request.path_params["analyzer_id"])):
            return _not_found()
        answer = JSONResponse(known)
        self.on_get(known)
        return answer

    def _put(self, request: Request, body: bytes) -> Response:
        """Make an analyzer. One that is there stays as it was, though the answer is that it was replaced."""
        analyzer_id, definition = request.path_params["analyzer_id"], json.loads(body)
        if problem := _problem_of(analyzer_id, definition):
            return refusal(400, "InvalidRequest", problem)
        known = analyzer_id in self.analyzers
        if known and request.query_params.get("allowReplace") != "true":
            return refusal(409, "Conflict", "There is an analyzer of that name.")
        resource = self.analyzers.setdefault(analyzer_id, self.new_analyzer(analyzer_id, definition))
        last: Json = {"status": "Succeeded", "result": resource}
        operation = self._begin(last, lambda: resource.update(status=_ended(last)))
        location = self._location(f"analyzers/{analyzer_id}/operations/{operation}")
        return JSONResponse(resource, 200 if known else 201, {"Operation-Location": location})

    def new_analyzer(self, analyzer_id: str, definition: Json) -> Json:
        made = f"2026-01-01T00:00:{next(self._numbers):02}Z"
        return {
            **definition,
            "analyzerId": analyzer_id,
            "status": "creating",
            "createdAt": made,
            "lastModifiedAt": made,
        }

    def _delete(self, request: Request, _body: bytes) -> Response:
        known = self.analyzers.pop(request.path_params["analyzer_id"], None)
        return Response(status_code=204) if known else _not_found()

    def _analyze(self, request: Request, body: bytes) -> Response:
        analyzer_id = request.path_params["analyzer_id"]
        analyzer = self.analyzers.get(analyzer_id)
        if analyzer_id == "prebuilt-documentSearch":
            last = read_page(self.defaults, body, request.headers["content-type"])
        elif analyzer and analyzer["status"] == "ready":
            last = look_at_image(self.defaults, analyzer, self.picture or body)
        else:
            return _not_found()
        operation = self._begin({"result": {"analyzerId": analyzer_id, "warnings": [], "contents": []}} | last)
        location = self._location(f"analyzerResults/{operation}")
        return Response(status_code=202, headers={"Operation-Location": location})

    def _begin(self, last: Json, at_end: Callable[[], None] = lambda: None) -> str:
        operation = f"operation-{next(self._numbers)}"
        self.spoil(last)
        self._operations[operation] = _Running(last, self.looks, at_end)
        return operation

    def _look(self, request: Request, _body: bytes) -> Response:
        operation = request.path_params["operation"]
        if not (running := self._operations.get(operation)):
            return _not_found()
        running.looks -= 1
        if running.looks >= 0:
            return JSONResponse({"id": operation, "status": "Running"}, headers={"retry-after-ms": "10"})
        running.at_end()
        return JSONResponse({"id": operation} | running.last)

    def _location(self, path: str) -> str:
        return f"{OTHER_HOST}{_ROOT}/{path}?api-version=2025-11-01"


def refusal(status: int, code: str, message: str, **headers: str) -> Response:
    """An error as the service words it."""
    shown = {name.replace("_", "-"): value for name, value in headers.items()}
    return JSONResponse({"error": {"code": code, "message": message}}, status, shown)


def _not_found() -> Response:
    return refusal(404, "NotFound", "Resource not found.")


def _ended(last: Json) -> str:
    return "ready" if last["status"] == "Succeeded" else "failed"


def _problem_of(analyzer_id: str, definition: Json) -> str:
    if not _ANALYZER_ID.fullmatch(analyzer_id):
        return "Invalid analyzer id."
    if definition.get("baseAnalyzerId") not in _BASES:
        return f"Unsupported 'baseAnalyzerId' value: '{definition.get('baseAnalyzerId')}'"
    if definition.get("models", {}).get("completion") not in _COMPLETIONS:
        return "Unsupported completion model."
    if any(len(one.get("description", "")) > 1024 for one in definition["fieldSchema"]["fields"].values()):
        return "A description is longer than 1,024 characters."
    return ""


def contract(folder: Path) -> Path:
    """The contract of the service, with what its derivation from the SDK's types lost: null in a merge patch removes.

    https://learn.microsoft.com/rest/api/contentunderstanding/content-analyzers/update-defaults, RFC 7396.
    """
    spec = json.loads(next(SPECS.glob("contentunderstanding-*.json")).read_text())
    patch = spec["paths"][f"{_ROOT}/defaults"]["patch"]["requestBody"]["content"]["application/merge-patch+json"]
    patch["schema"]["properties"]["modelDeployments"]["additionalProperties"] = {"type": ["string", "null"]}
    amended = folder / "content-understanding.json"
    amended.write_text(json.dumps(spec))
    return amended


@contextmanager
def content_understanding_service(*, ready: bool = True) -> Iterator[ContentUnderstandingService]:
    """The fake on a port of its own; if ``ready``, with models registered and the analyzer deployed."""
    service = ContentUnderstandingService(looks=0)
    with serving_app(service.app()) as service.url:
        if ready:
            AnalyzerLifecycle(Settings(**service.settings())).deploy()
            service.requests.clear()
            service.bodies.clear()
        yield service
