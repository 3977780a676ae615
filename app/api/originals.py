"""The routes for files: images of articles, original files of documents, and pictures of their pages."""

import asyncio
import re
from typing import Annotated
from urllib.parse import quote as percent_encoded

from fastapi import APIRouter, Query, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response

from app.api.gate import TheService, Who
from app.api.problems import problem
from app.api.served import PRIVATE, file_response, is_known
from app.callers.principal import Principal
from app.grounding.citations import DOCUMENT_ROUTE, IMAGE_ROUTE
from app.library.images import ImageNotFoundError, open_image
from app.library.originals.files import DocumentNotFoundError, document_of, file_name, open_document
from app.library.originals.marking import Quote
from app.library.originals.page import LONGEST_SIDE
from app.library.originals.pictures import PageNotDrawnError, PictureRequest
from app.library.originals.quoting import quotes_on
from app.service import AgentService
from kb_pipeline.steps.formats import SHOWN_IN_BROWSERS

router = APIRouter()

MARKED = "KB-Marked"
"""The header of a picture that says how many of the sentences that stand on this page are marked: ``2/3``."""
SCAN = "KB-Scan"
"""The header of a picture, ``true``, that says that its page was read by OCR: marks stand where that read the words."""

_PAGE = re.compile(r"[1-9][0-9]{0,8}")
_MOST_QUOTES = 100
"""Sentences of a page that are marked: more than a page has of what one answer quotes."""
_WIDTH = 1000
"""Pixels of a page's picture if nobody asks for others: small print is legible."""
_POLICY = {"Content-Security-Policy": "default-src 'none'; object-src 'self'; style-src 'unsafe-inline'"}
"""What the PDF viewers of browsers need; nothing in the file can load anything."""


@router.head(DOCUMENT_ROUTE + "{article_id}/pages/{page}.png", operation_id="page_picture_headers", tags=["documents"])
@router.get(DOCUMENT_ROUTE + "{article_id}/pages/{page}.png", tags=["documents"])
async def page_picture(
    request: Request,
    article_id: str,
    page: str,
    service: TheService,
    who: Who,
    chunk: Annotated[str, Query(max_length=200)] = "",
    quote: Annotated[list[str], Query(max_length=_MOST_QUOTES)] = [],  # noqa: B006  (FastAPI copies it)
    width: str = str(_WIDTH),
) -> Response:
    """A page of a PDF as a picture, ``width`` pixels wide, with sentences of a chunk marked.

    Each ``quote`` names a sentence by the first 12 hexadecimal digits of the SHA-256 of its text, as ``quotes`` of a
    citation have it. The header ``KB-Marked`` says how many of those on this page were found: ``2/3``.
    ``KB-Scan: true`` says that the page was read by OCR: marks stand where that read the words. There are none if the
    article was made by a release that did not keep their places.
    """
    if not _PAGE.fullmatch(page):
        raise HTTPException(404, "there is no such page: pages are numbered from 1")
    if not (_PAGE.fullmatch(width) and int(width) <= LONGEST_SIDE):
        return problem(400, "invalid_request", f"width: give the pixels as a number from 1 to {LONGEST_SIDE:,}")
    wanted = PictureRequest(article_id, int(page), int(width), chunk, tuple(sorted(set(quote))))
    try:
        picture = await service.pictures.picture(wanted, who, lambda: _quotes(service, wanted, who))
    except DocumentNotFoundError as exc:
        raise HTTPException(404, str(exc)) from exc
    except PageNotDrawnError as exc:
        return problem(422, "not_drawn", str(exc))
    marked = picture.drawn.found
    headers = {**PRIVATE, "ETag": picture.etag, MARKED: f"{sum(marked)}/{len(marked)}"}
    if picture.is_scan:
        headers[SCAN] = "true"
    if is_known(request, picture.etag):
        return Response(status_code=304, headers=headers)
    headers["Content-Length"] = str(len(picture.drawn.png))
    return Response(b"" if request.method == "HEAD" else picture.drawn.png, headers=headers, media_type="image/png")


def _quotes(service: AgentService, asked: PictureRequest, who: Principal) -> tuple[Quote, ...]:
    """Return the sentences that are to be marked on a page.

    Raises:
        DocumentNotFoundError: the document has no such chunk that this person may see.
        KnowledgeBaseError: the index cannot be read.
    """
    if not asked.chunk_id:
        return ()
    chunks = [each for each in service.retrieval.find([asked.chunk_id], who) if each.article_id == asked.article_id]
    if not chunks:
        raise DocumentNotFoundError(f"there is no chunk {asked.chunk_id[:80]!r} of this document")
    return quotes_on(chunks[0], asked.page, asked.quotes)


@router.head(DOCUMENT_ROUTE + "{article_id}/{file}", operation_id="document_headers", tags=["documents"])
@router.get(DOCUMENT_ROUTE + "{article_id}/{file}", tags=["documents"])
async def original(request: Request, article_id: str, file: str, service: TheService, who: Who) -> Response:
    """The original file of a document, if readers may open it (``KB_SERVE_DOCUMENTS``)."""
    layout = service.articles.layout
    try:
        if not service.settings.serve_documents:
            raise HTTPException(404, "the original files of documents are not given out (KB_SERVE_DOCUMENTS)")
        document = await asyncio.to_thread(document_of, layout, article_id, who)
        if file_name(document) != file:
            raise HTTPException(404, "there is no such document")
        opened = await asyncio.to_thread(open_document, layout, article_id, document)
    except DocumentNotFoundError as exc:
        raise HTTPException(404, "there is no such document") from exc
    shown = "inline" if document.media_type in SHOWN_IN_BROWSERS else "attachment"
    name = f"filename*=UTF-8''{percent_encoded(file, safe='')}"
    return file_response(request, opened, {**_POLICY, "Content-Disposition": f"{shown}; {name}"})


@router.head(IMAGE_ROUTE + "{article_id}/{image_path:path}", operation_id="image_headers", tags=["images"])
@router.get(IMAGE_ROUTE + "{article_id}/{image_path:path}", tags=["images"])
async def image(request: Request, article_id: str, image_path: str, service: TheService, who: Who) -> Response:
    """An image of an article: ``images/<stem>.png``."""
    try:
        opened = await asyncio.to_thread(open_image, service.articles.layout, article_id, image_path, who)
    except ImageNotFoundError as exc:
        raise HTTPException(404, "there is no such image") from exc
    return file_response(request, opened)
