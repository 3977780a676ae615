"""The page's web server: Streamlit's, plus compression, security headers, what readers see before Streamlit's scripts
have come, and a proxy for the service's images.

The page's server fetches images because the browser may not be able to reach the service, and because the service
checks for each image whether this reader may see it.
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

_SCRIPT = Path(__file__).with_name("main.py")
_NEEDED_BY_FIRST_VISIT = ("app.page.sidebar", "app.page.chat", "app.page.knowledge_base", "app.page.quality", "pandas")
_COMPRESSION = 6
"""Level of compression, of 9: files are compressed at each request, and the last three levels save 1 % for twice the
time."""
_NOT_COMPRESSED = (*DEFAULT_EXCLUDED_CONTENT_TYPES, PDF)
"""A browser reads a long PDF in pieces, beginning with the page that it shows; of a compressed one it needs all."""
_HEALTH_PATHS = frozenset({"/_stcore/health"})
_PROXIED_HEADERS = ("content-type", "etag", "cache-control", "last-modified", "content-disposition")
_PROXIED_OF_DOCUMENTS = (
    *_PROXIED_HEADERS,
    "accept-ranges",
    "content-range",
    "content-security-policy",
    "kb-marked",
    "kb-scan",
)
_PICTURE_TYPES = frozenset({"image/png", "image/jpeg", "image/webp"})
_SENT_FOR_DOCUMENTS = ("range", "if-range", "if-none-match")


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
        yield

    guard = Middleware(RequestGuard, bound_to=host, allowed_hosts=settings.allowed_hosts, health_paths=_HEALTH_PATHS)
    return App(
        _SCRIPT,
        lifespan=lifespan,
        routes=[
            *(route(settings.service_url) for route in (image_route, document_route, picture_route)),
        ],
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


def _refusal(error: ClientError) -> Response:
    """What the service answered instead of a file."""
    status = 502 if isinstance(error, ServiceDownError) else error.status or 502
    return JSONResponse({"error": error.problem.model_dump()}, status)


def image_route(service_url: str) -> Route:
    """A route that fetches images from the service, with the identity headers of the reader."""
    client = Client(service_url, token=token_for(service_url))

    def image(request: Request) -> Response:  # not async: it runs in a thread, because the client blocks
        path = request.scope.get("raw_path", request.url.path.encode()).decode("ascii").partition("?")[0]
        headers = dict(who_asks(request.headers))
        try:
            image_file = client.image(path, etag=request.headers.get("if-none-match"), headers=headers)
        except ClientError as exc:
            return _refusal(exc)
        if not image_file.headers.get("content-type", "image/png").startswith("image/"):
            return JSONResponse({"error": {"code": "not_found", "message": "this is not an image"}}, 404)
        proxied = {name: image_file.headers[name] for name in _PROXIED_HEADERS if name in image_file.headers}
        return Response(image_file.content, image_file.status, proxied)

    return Route(IMAGE_ROUTE + "{path:path}", image, methods=["GET"])


def picture_route(service_url: str) -> Route:
    """A route that fetches the picture of a question from the service, with the identity headers of its reader."""
    client = Client(service_url, token=token_for(service_url))

    def picture(request: Request) -> Response:  # not async: it runs in a thread, because the client blocks
        try:
            sent = client.picture(request.path_params["response_id"], dict(who_asks(request.headers)))
        except ClientError as exc:
            return _refusal(exc)
        if sent.media_type not in _PICTURE_TYPES:
            return JSONResponse({"error": {"code": "not_found", "message": "this is not a picture"}}, 404)
        return Response(sent.data, media_type=sent.media_type, headers={"cache-control": "private, no-cache"})

    return Route(picture_path("{response_id}"), picture, methods=["GET"])


def document_route(service_url: str) -> Route:
    """A route that fetches pictures of pages and original files, with the identity headers of the reader."""
    client = Client(service_url, token=token_for(service_url))

    def document(request: Request) -> Response:  # not async: it runs in a thread, because the client blocks
        path = request.scope.get("raw_path", request.url.path.encode()).decode("ascii").partition("?")[0]
        query = f"?{request.url.query}" if request.url.query else ""
        sent = {name: request.headers[name] for name in _SENT_FOR_DOCUMENTS if name in request.headers}
        try:
            file = client.original(path + query, request.method, {**dict(who_asks(request.headers)), **sent})
        except ClientError as exc:
            return _refusal(exc)
        proxied = {name: file.headers[name] for name in _PROXIED_OF_DOCUMENTS if name in file.headers}
        return Response(file.content, file.status, proxied)

    return Route(DOCUMENT_ROUTE + "{path:path}", document, methods=["GET", "HEAD"])
