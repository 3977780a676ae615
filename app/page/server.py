"""The page's web server: Streamlit's, plus compression, security headers, what readers see before Streamlit's scripts
have come, and a proxy for the service's files.

The page's server fetches files because the browser may not be able to reach the service, and because the service
checks for each whether this reader may see it.
"""

import asyncio
import importlib
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.middleware import Middleware
from starlette.middleware.gzip import DEFAULT_EXCLUDED_CONTENT_TYPES, GZipMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit.starlette import App

from app.client import Client, ClientError, ServiceDownError
from app.client.answers import load_sdk
from app.grounding.citations import DOCUMENT_ROUTE, IMAGE_ROUTE
from app.page import frame
from app.page.failures import show_failure
from app.page.kept import KeptFiles, compress
from app.page.policy import PageHeaders
from app.page.session import token_for, who_asks
from app.page.topology import ENGINE_FILE
from app.schema.asking import picture_path
from app.settings import AppSettings
from kb_pipeline.steps.formats import PDF
from kb_pipeline.web.guard import RequestGuard
from kb_pipeline.web.server import pass_over_what_is_loaded

_SCRIPT = Path(__file__).with_name("main.py")
_NEEDED_BY_FIRST_VISIT = ("app.page.sidebar", "app.page.chat", "app.page.knowledge_base", "app.page.quality", "pandas")
_COMPRESSION = 6
"""Level of compression, of 9: files are compressed at each request, and the last three levels save 1 % for twice the
time."""
_NOT_COMPRESSED = (*DEFAULT_EXCLUDED_CONTENT_TYPES, PDF)
"""A browser reads a long PDF in pieces, beginning with the page that it shows; of a compressed one it needs all."""
_HEALTH_PATHS = frozenset({"/_stcore/health"})
_SENT_HEADERS = ("range", "if-range", "if-none-match")
_PROXIED_HEADERS = (
    "content-type",
    "etag",
    "cache-control",
    "last-modified",
    "content-disposition",
    "accept-ranges",
    "content-range",
    "content-security-policy",
    "kb-marked",
    "kb-scan",
)
_PICTURE_TYPES = frozenset({"image/png", "image/jpeg", "image/webp"})


class WithoutOrigin:
    """Removes the origin of WebSockets that the guard accepted, so that Streamlit does not check it again.

    To check an origin that is not the ``Host``, Streamlit asks a server on the internet for this machine's address.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            scope = {**scope, "headers": [(name, value) for name, value in scope["headers"] if name != b"origin"]}
        await self._app(scope, receive, send)


def create_page(settings: AppSettings, host: str = "127.0.0.1") -> App:
    """The page as an ASGI application that is served at ``host``.

    It takes requests only after everything slow is imported. Otherwise the first answer and its images would wait for
    these imports: seconds on a busy machine, and more than half a minute where no bytecode is cached yet.
    """
    warming = ThreadPoolExecutor(1, thread_name_prefix="warm-up")
    imports = warming.submit(_import_what_readers_need)
    warming.submit(compress, frame.linked())

    @asynccontextmanager
    async def lifespan(_: App) -> AsyncIterator[None]:
        await asyncio.wrap_future(imports)
        warming.shutdown(wait=False)
        pass_over_what_is_loaded()
        yield

    guard = Middleware(RequestGuard, bound_to=host, allowed_hosts=settings.allowed_hosts, health_paths=_HEALTH_PATHS)
    return App(
        _SCRIPT,
        lifespan=lifespan,
        routes=file_routes(settings.service_url),
        middleware=[
            guard,
            # for browsers that do not take brotli, and for all that is not kept; streams of events, pictures and
            # WebSockets stay as they are
            Middleware(GZipMiddleware, compresslevel=_COMPRESSION, exclude_content_types=_NOT_COMPRESSED),
            Middleware(KeptFiles, ours=(ENGINE_FILE, *frame.FILES), instead=frame.INSTEAD),
            Middleware(WithoutOrigin),
            Middleware(PageHeaders),
            Middleware(frame.Frame),
        ],
        on_script_error=show_failure,
    )


def _import_what_readers_need() -> None:
    for module in _NEEDED_BY_FIRST_VISIT:
        importlib.import_module(module)
    load_sdk()


def file_routes(service_url: str) -> list[Route]:
    """Routes that fetch images, documents and pictures of questions, with the identity headers of the reader."""
    client = Client(service_url, token=token_for(service_url))

    def file(request: Request) -> Response:  # not async: it runs in a thread, because the client blocks
        path = request.scope.get("raw_path", request.url.path.encode()).decode("ascii").partition("?")[0]
        query = f"?{request.url.query}" if request.url.query else ""
        sent = {name: request.headers[name] for name in _SENT_HEADERS if name in request.headers}
        try:
            file = client.file(path + query, request.method, {**dict(who_asks(request.headers)), **sent})
        except ClientError as exc:
            status = 502 if isinstance(exc, ServiceDownError) else exc.status or 502
            return JSONResponse({"error": exc.problem.model_dump()}, status)
        is_picture = file.headers.get("content-type", "image/png") in _PICTURE_TYPES
        if not (is_picture or path.startswith(DOCUMENT_ROUTE)):
            return JSONResponse({"error": {"code": "not_found", "message": "this is not an image"}}, 404)
        proxied = {name: file.headers[name] for name in _PROXIED_HEADERS if name in file.headers}
        return Response(file.content, file.status, proxied)

    paths = (IMAGE_ROUTE + "{path:path}", DOCUMENT_ROUTE + "{path:path}", picture_path("{response_id}"))
    return [Route(path, file, methods=["GET", "HEAD"]) for path in paths]
