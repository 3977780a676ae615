"""What browsers may load and run for the page: a policy in the headers of every response, including Streamlit's."""

import re
from base64 import b64encode
from functools import cache
from hashlib import sha256

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from app.language.messages import ENGLISH
from app.page.frame import frame
from kb_pipeline.web.headers import PRIVATE, AddedHeaders

_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_HOST = re.compile(r"[A-Za-z0-9._-]+(:\d{1,5})?", re.ASCII)
"""A host as a policy can name it, which has no words for addresses of IPv6."""


class PageHeaders:
    """Adds the headers; the policy names the host of the request, as others have checked it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        host = Headers(scope=scope).get("host", "") if scope["type"] == "http" else ""
        await AddedHeaders(self._app, {**PRIVATE, "content-security-policy": policy(host)})(scope, receive, send)


def policy(host: str) -> str:
    """Only this page's files, and connections to it: the browser never loads a foreign address from an article.

    Scripts are Streamlit's files, the inline scripts by their hashes, and our components, which it loads from blobs.
    """
    # not every browser takes the WebSocket of a page for a part of itself
    sockets = f" ws://{host} wss://{host}" if _HOST.fullmatch(host) else ""
    return "; ".join(
        (
            "default-src 'self'",
            f"script-src 'self' blob: {' '.join(_inline_scripts())}",
            "style-src 'self' 'unsafe-inline'",
            "font-src 'self' data:",
            "img-src 'self' data: blob:",
            "media-src 'self' blob:",
            f"connect-src 'self'{sockets}",
            "object-src 'none'",
            "frame-src 'none'",
            "base-uri 'self'",
            "form-action 'self'",
            "frame-ancestors 'self'",
        )
    )


@cache
def _inline_scripts() -> tuple[str, ...]:
    """The hashes of the scripts in the page, Streamlit's and ours, by which a policy allows them and no others."""
    page = frame(ENGLISH, can_ask=True)
    return tuple(f"'sha256-{b64encode(sha256(each.encode()).digest()).decode()}'" for each in _INLINE.findall(page))
