"""Rows of indexes that another program fills, as rows of ours: blocks that are text or images, and whole documents."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, get_args

from kb_pipeline.records import BlockType, DocumentEntry, DocumentSummary, PageBreak, Quoted
from kb_pipeline.steps.markers import escape_line

CAPTION = "image_caption"
"""The field with the text of a row that is an image."""
BRIEF, STANDARD = "summary_brief", "summary_standard"
"""The fields with the summaries of a document."""
DOCUMENT_ID = "document:"
"""What the id of a document row begins with. No key of an index has a colon, so it is no id of a block."""

Values = Mapping[str, object]
"""A row by our names of its fields."""


def of_block(ours: Values) -> dict[str, Any]:
    """Return what a block says about its kind, its file and its page. The text of an image is its caption.

    Blocks without a place of their own are in the order of their pages.
    """
    facts: dict[str, Any] = {}
    if ours.get("block_type") in get_args(BlockType):
        facts["block_type"] = ours["block_type"]
    if facts.get("block_type") == "image" and ours.get(CAPTION):
        facts["content"] = str(ours[CAPTION])
    if ours.get("image_urls") == "":
        facts["image_urls"] = ()
    if ours.get("filename"):
        facts["filename"] = str(ours["filename"])
    if isinstance(page := ours.get("page_start"), int) and page > 0:
        facts["page_breaks"] = (PageBreak(offset=0, page=page),)
        facts["chunk_index"] = index if isinstance(index := ours.get("chunk_index"), int) else page
    return facts


def of_document(ours: Values) -> dict[str, Any]:
    """Return a document's row: its facts and summaries, and a text of all of them."""
    entry = DocumentEntry(
        filename=_text(ours, "filename"),
        document_type=_text(ours, "document_type"),
        department=_text(ours, "department"),
        author=_text(ours, "author"),
        language=_text(ours, "language"),
        upload_date=_day(_text(ours, "upload_date")),
        page_count=pages if isinstance(pages := ours.get("page_end"), int) and pages > 0 else 0,
        summary=DocumentSummary(brief=_paragraph(_text(ours, BRIEF)), standard=_paragraphs(_text(ours, STANDARD))),
    )
    key, article_id = str(ours["id"]), _text(ours, "article_id")
    title = _text(ours, "title") or entry.filename or article_id or key
    named = ", ".join(filter(None, (entry.filename, entry.document_type, entry.department, entry.author)))
    brief, standard = entry.summary.brief_text, entry.summary.standard_text
    paragraphs = [title, named, "" if brief in standard else brief, *standard.split("\n\n")]
    return {
        "id": DOCUMENT_ID + key,
        "article_id": article_id or key,
        "title": title,
        "heading_path": (),
        "content": "\n\n".join(escape_line(text) for text in paragraphs if text),
        "block_type": "document",
        "filename": entry.filename,
        "document": entry,
    }


def _text(ours: Values, name: str) -> str:
    value = ours.get(name)
    return "" if value is None else str(value).strip()


def _day(moment: str) -> str:
    """Return the day of a moment, in UTC; a text that is no moment is returned as it is."""
    try:
        at = datetime.fromisoformat(moment)
        return (at.astimezone(UTC) if at.tzinfo else at).date().isoformat()
    except (ValueError, OverflowError):
        return moment


def _paragraph(text: str) -> tuple[Quoted, ...]:
    words = " ".join(text.split())
    return (Quoted(text=words),) if words else ()


def _paragraphs(text: str) -> tuple[tuple[Quoted, ...], ...]:
    lines = text.replace("\r\n", "\n").split("\n\n")
    return tuple(paragraph for paragraph in map(_paragraph, lines) if paragraph)
