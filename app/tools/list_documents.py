"""``rag_list_documents``: which documents there are, by facts about them."""

from typing import Any

from pydantic import Field

from app.callers.principal import Principal
from app.library.documents import document_facts
from app.tools.base import Arguments, Tool, ToolResult
from app.tools.filters import DocumentFilters
from kb_pipeline.records import Chunk, DocumentSort, SearchHit

_LISTED = "filename title document_type upload_date summary_brief department author page_count".split()
"""The facts of each document in a list; the rest is got for one."""


class ListDocumentsArguments(Arguments):
    """Which documents, in which order."""

    filters: DocumentFilters = Field(default_factory=DocumentFilters, description="only documents that meet these")
    sort_by: DocumentSort = Field(
        default="upload_date", description="the fact by which they are sorted; by date the newest come first"
    )
    limit: int = Field(default=20, ge=1, le=500, description="how many documents at most: a whole number from 1 to 500")


class ListDocumentsTool(Tool[ListDocumentsArguments]):
    """Lists documents with their short summaries."""

    name = "rag_list_documents"
    description = (
        "List the documents that there are, with file, title, type, date and a short summary; by default the newest "
        "first. Use it for questions about which documents exist, not for what they say."
    )
    arguments = ListDocumentsArguments

    async def run(self, arguments: ListDocumentsArguments, who: Principal) -> ToolResult:
        limits = arguments.filters.limits()
        page = await self.retrieval.documents(
            who,
            limits,
            sort=arguments.sort_by,
            descending=arguments.sort_by == "upload_date",
            limit=arguments.limit,
        )
        value = {"documents": list(map(_listed, page.documents)), "count": len(page.documents), "total": page.total}
        hits = tuple(SearchHit(chunk=row, score=0.0) for row in page.documents)
        return ToolResult(value, len(hits), hits, query="*", filters=limits)


def _listed(row: Chunk) -> dict[str, Any]:
    facts = document_facts(row)
    return {"doc_id": row.article_id, **{name: facts[name] for name in _LISTED}}
