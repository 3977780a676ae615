"""A file as an HTTP response: validators, byte ranges, and headers that keep browsers from treating it as a page."""

import re
from collections.abc import Mapping

from fastapi import Request
from starlette.responses import Response, StreamingResponse

from app.library.served_files import OpenedFile

_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")
PRIVATE = {
    # private: shared caches must not store what only one person may see; no-cache: browsers ask each time whether
    # they may still show their copy, because the article may be restricted by then
    "Cache-Control": "private, no-cache",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'",
}
"""Headers of everything that is not a page and that only some people may see."""


def is_known(request: Request, etag: str) -> bool:
    """Whether the client has this copy already: https://www.rfc-editor.org/rfc/rfc9110#name-if-none-match."""
    tags = [tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")]
    return "*" in tags or etag in tags


def file_response(request: Request, opened: OpenedFile, added: Mapping[str, str] | None = None) -> Response:
    """The file, the part of it that the request asks for, or that the client has it already."""
    headers = {**PRIVATE, "Accept-Ranges": "bytes", "ETag": opened.etag, **(added or {})}
    if is_known(request, opened.etag):
        opened.close()
        return Response(status_code=304, headers=headers)
    is_get = request.method == "GET" and request.headers.get("if-range", "") in ("", opened.etag)
    part = _part(request.headers.get("range", "") if is_get else "", opened.size)
    head = request.method == "HEAD"
    if part is None:
        return _body(opened, 200, range(opened.size), headers, head=head)
    if not part:
        opened.close()
        return Response(status_code=416, headers={**headers, "Content-Range": f"bytes */{opened.size}"})
    headers["Content-Range"] = f"bytes {part.start}-{part.stop - 1}/{opened.size}"
    return _body(opened, 206, part, headers, head=head)


def _part(byte_range: str, size: int) -> range | None:
    """The requested bytes, ``None`` for all: https://www.rfc-editor.org/rfc/rfc9110#name-byte-ranges."""
    match = _RANGE.fullmatch(byte_range.strip())
    if match is None or not any(match.groups()):
        return None
    first, last = match.groups()
    if not first:
        return range(max(0, size - int(last)), size)
    if last and int(last) < int(first):
        return None
    return range(int(first), min(size, int(last) + 1 if last else size))


def _body(opened: OpenedFile, status: int, part: range, headers: dict[str, str], *, head: bool) -> Response:
    headers["Content-Length"] = str(len(part))
    if head:
        opened.close()
        return Response(status_code=status, headers=headers, media_type=opened.content_type)
    return StreamingResponse(opened.blocks(part.start, part.stop), status, headers, opened.content_type)
