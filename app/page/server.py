"""The page's web server: Streamlit's, with the service's images below the same address, and with safe headers.

Images are brought by the page's server because a browser need not be able to reach the service, and because the
service lets only those see an image who may.
"""

import importlib
import threading
from pathlib import Path

from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.starlette import App

from app.client import Client, ServiceDownError, ServiceError
from app.grounding.citations import IMAGE_ROUTE
from app.loopback import names_on_loopback
from app.page.failures import show_failure
from app.page.session import who_asks
from app.settings import AppSettings

_SCRIPT = Path(__file__).with_name("main.py")
_NEEDED_SOON = ("pandas", "openai.types.responses")
"""Modules that take long to import, and that the first visit and the first question should not wait for."""
_PASSED_ON = ("content-type", "etag", "cache-control", "last-modified", "content-disposition")
# images and connections of this page only: nothing that an article names is ever loaded
_POLICY = (
    "img-src 'self' data: blob:; media-src 'self' blob:; connect-src 'self' ws: wss:; object-src 'none'; "
    "frame-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'self'"
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}


class SafeHeaders:
    """Adds the headers to every response, those of Streamlit included."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, and amend the start of the response."""

        async def amended(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
                message = {**message, "headers": [*message["headers"], *own]}
            await send(message)

        await self._app(scope, receive, amended if scope["type"] == "http" else send)


def create_page(settings: AppSettings, host: str = "127.0.0.1") -> App:
    """The page as an ASGI application, to be served at an address."""
    threading.Thread(target=_warm_up, daemon=True).start()
    middleware = [Middleware(SafeHeaders)]
    if names := names_on_loopback(host):
        middleware.insert(0, Middleware(TrustedHostMiddleware, allowed_hosts=names))
    return App(
        _SCRIPT,
        routes=[image_route(settings.service_url)],
        middleware=middleware,
        on_script_error=show_failure,
    )


def _warm_up() -> None:
    for module in _NEEDED_SOON:
        importlib.import_module(module)


def image_route(service_url: str) -> Route:
    """The service's images, for whoever may see them there."""
    client = Client(service_url)

    def image(request: Request) -> Response:  # not async: runs in a thread, like all that the client does
        path = request.scope.get("raw_path", request.url.path.encode()).decode("ascii").partition("?")[0]
        headers = dict(who_asks(request.headers))
        try:
            found = client.image(path, etag=request.headers.get("if-none-match"), headers=headers)
        except ServiceError as exc:
            status = 502 if isinstance(exc, ServiceDownError) else exc.status or 502
            return JSONResponse({"error": exc.problem.model_dump()}, status)
        if not found.headers.get("content-type", "image/png").startswith("image/"):
            return JSONResponse({"error": {"code": "not_found", "message": "that is no image"}}, 404)
        passed = {name: found.headers[name] for name in _PASSED_ON if name in found.headers}
        return Response(found.content, found.status, passed)

    return Route(IMAGE_ROUTE + "{path:path}", image, methods=["GET"])
