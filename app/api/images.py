"""The route for images: validators, byte ranges, and headers that keep browsers from treating an image as a page."""

import asyncio
import re
from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response, StreamingResponse

from app.grounding.citations import IMAGE_ROUTE
from app.images import ImageNotFoundError, ServedImageFile, open_image
from app.principal import Principal
from kb_pipeline.store.layout import Layout

_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")
_HEADERS = {
    # private: shared caches must not store what only one person may see; no-cache: browsers ask each time whether
    # they may still show their copy, because the article may be restricted by then
    "Cache-Control": "private, no-cache",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'",
    "Accept-Ranges": "bytes",
}

WhoAsks = Callable[..., Principal]
"""A FastAPI dependency that returns the caller of a request."""


def images_router(layout: Layout, who_asks: WhoAsks) -> APIRouter:
    """A router that serves the images of published articles below ``/api/images/``."""
    router = APIRouter(tags=["images"])

    @router.head(IMAGE_ROUTE + "{article_id}/{image_path:path}", operation_id="image_headers")
    @router.get(IMAGE_ROUTE + "{article_id}/{image_path:path}")
    async def image(
        request: Request,
        article_id: str,
        image_path: str,
        who: Annotated[Principal, Depends(who_asks)],
        if_none_match: Annotated[str, Header()] = "",
        if_range: Annotated[str, Header()] = "",
        byte_range: Annotated[str, Header(alias="Range")] = "",
    ) -> Response:
        """An image of an article: ``images/<stem>.png``."""
        try:
            opened = await asyncio.to_thread(open_image, layout, article_id, image_path, who)
        except ImageNotFoundError as exc:
            raise HTTPException(404, "there is no such image") from exc
        # https://www.rfc-editor.org/rfc/rfc9110#name-if-none-match
        client_tags = [tag.strip().removeprefix("W/") for tag in if_none_match.split(",")]
        if "*" in client_tags or opened.etag in client_tags:
            opened.close()
            return Response(status_code=304, headers={**_HEADERS, "ETag": opened.etag})
        part = byte_range if request.method == "GET" and if_range in ("", opened.etag) else ""
        return _response(opened, part, head=request.method == "HEAD")

    return router


def _response(opened: ServedImageFile, byte_range: str, *, head: bool) -> Response:
    headers = {**_HEADERS, "ETag": opened.etag}
    part = _part(byte_range, opened.size)
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


def _body(opened: ServedImageFile, status: int, part: range, headers: dict[str, str], *, head: bool) -> Response:
    headers["Content-Length"] = str(len(part))
    if head:
        opened.close()
        return Response(status_code=status, headers=headers, media_type=opened.content_type)
    return StreamingResponse(opened.blocks(part.start, part.stop), status, headers, opened.content_type)
