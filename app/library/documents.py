"""What is said of a document in lists, on its own and by tools."""

from typing import Any

from kb_pipeline.records import Chunk


def document_facts(row: Chunk) -> dict[str, Any]:
    """The facts and summaries of a row of the list of documents."""
    entry = row.entry
    return {
        "title": row.title,
        **entry.model_dump(exclude={"summary", "headings"}),
        "summary_brief": entry.summary.brief_text,
        "summary_standard": entry.summary.standard_text,
        "source_url": row.source_url,
    }
