"""Files that browsers keep: ours, and Streamlit's scripts and styles. Their names change with what is in them.

They are sent as small as can be: each is compressed once, with a method that is too slow for every request.
"""

import asyncio
from collections.abc import Iterable, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path

import brotli
import streamlit
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from kb_pipeline.web.headers import PRIVATE

FOREVER, ASKED_FOR_AGAIN = "public, max-age=31536000, immutable", "no-cache"
_STREAMLIT = Path(streamlit.__file__).parent / "static"
_TYPES = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}
_TEXTS = frozenset({".css", ".js", ".svg"})
"""Fonts are compressed in themselves."""
_QUALITY = 10
"""Of 11. The scripts of a first visit, 2.6 MB, become 554 kB in a second of one core; at 11 543 kB in 2.6 seconds, at 5
602 kB. gzip makes 647 kB of them."""


@cache
def address(file: Path) -> str:
    """Where the page's server has a file of ours."""
    return f"/vendor/{file.stem}.{sha256(file.read_bytes()).hexdigest()[:12]}{file.suffix}"


class KeptFiles:
    """Sends files of ours, which have an :func:`address`, and Streamlit's scripts and styles; passes all else on.

    ``instead``: files of ours that are sent in place of some of Streamlit's, by their addresses. As their names do not
    change with what is in them, browsers ask each time whether it is still the same.
    """

    def __init__(self, app: ASGIApp, ours: Iterable[Path], instead: Mapping[str, Path]) -> None:
        self._app = app
        self._instead = instead
        self._files = {**_scripts_of_streamlit(), **{address(file): file for file in ours}, **instead}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_read = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
        file = self._files.get(scope["path"]) if is_read else None
        if file is None:
            await self._app(scope, receive, send)
            return
        kept = ASKED_FOR_AGAIN if scope["path"] in self._instead else FOREVER
        response = await asyncio.to_thread(_response, file, Headers(scope=scope), kept)
        await response(scope, receive, send)


def compress(scripts: Iterable[str]) -> None:
    """Compress scripts and styles of Streamlit, named by their addresses, before somebody asks for them."""
    files = _scripts_of_streamlit()
    for each in scripts:
        if each in files:
            _compressed(files[each])


@cache
def _scripts_of_streamlit() -> dict[str, Path]:
    folder = _STREAMLIT / "static"
    files = (file for file in folder.rglob("*") if file.suffix in (".js", ".css"))
    return {f"/{file.relative_to(_STREAMLIT).as_posix()}": file for file in files}


def _response(file: Path, asked: Headers, kept: str) -> Response:
    is_small = file.suffix in _TEXTS and _takes_brotli(asked.get("accept-encoding", ""))
    # without a policy, which is about documents: of the 66 files of a first visit it would make 50 kB
    headers = {**PRIVATE, "cache-control": kept, "etag": _etag(file, "-br" if is_small else "")}
    if file.suffix in _TEXTS:
        headers["vary"] = "Accept-Encoding"
    if headers["etag"] in asked.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if is_small:
        headers["content-encoding"] = "br"
    content = _compressed(file) if is_small else file.read_bytes()
    return Response(content, headers=headers, media_type=_TYPES[file.suffix])


@cache
def _etag(file: Path, coded: str) -> str:
    return f'"{sha256(file.read_bytes()).hexdigest()[:20]}{coded}"'


@cache
def _compressed(file: Path) -> bytes:
    compressed: bytes = brotli.compress(file.read_bytes(), quality=_QUALITY)
    return compressed


def _takes_brotli(accepted: str) -> bool:
    """Whether a browser says so: over HTTPS and on its own machine; what stands between others may spoil it."""
    codings = [each.replace(" ", "").lower().partition(";") for each in accepted.split(",")]
    return any(name == "br" and quality not in ("q=0", "q=0.0", "q=0.00", "q=0.000") for name, _, quality in codings)
