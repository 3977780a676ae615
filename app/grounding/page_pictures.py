"""The URL of the picture of a page, with the sentences that support an answer marked. Pure."""

from urllib.parse import quote, urlencode

from app.grounding.citations import DOCUMENT_ROUTE
from app.schema.passages import Citation
from kb_pipeline.steps.fingerprint import sha256
from kb_pipeline.steps.formats import PDF, media_type_of

_ID = 12
"""Hexadecimal digits, 48 bits: no two sentences of one passage share them by chance."""


def quote_id(text: str) -> str:
    """The name of a sentence in a URL: the first 12 hexadecimal digits of the SHA-256 of its text."""
    return sha256(text.encode())[:_ID]


def has_page_pictures(citation: Citation) -> bool:
    """Whether the pages of the cited document can be shown as pictures."""
    return bool(citation.pages) and media_type_of(citation.filename) == PDF


def page_picture_url(article_id: str, page: int, *, width: int, citation: Citation | None = None) -> str:
    """The picture of a page, ``width`` pixels wide; the quotes of a citation are marked as far as they stand on it."""
    query: list[tuple[str, str | int]] = [("width", width)]
    if citation and citation.quotes:
        query += [("chunk", citation.chunk_id), *(("quote", quote_id(text)) for text in citation.quotes)]
    return f"{DOCUMENT_ROUTE}{quote(article_id, safe='')}/pages/{page}.png?{urlencode(query)}"
