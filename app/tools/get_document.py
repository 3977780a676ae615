"""``rag_get_document``: the facts about one document, and its summary."""

from typing import Annotated

from pydantic import Field, StringConstraints

from app.callers.principal import Principal
from app.library.documents import document_facts
from app.logs.auditing import note, note_call
from app.tools.base import Arguments, Tool, ToolResult
from app.tools.failures import ToolError
from kb_pipeline.records import SearchHit
from kb_pipeline.search.base import SearchFilter


class GetDocumentArguments(Arguments):
    """Which document."""

    doc_id: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)] = Field(
        description="the id of the document, as a search or a list returned it"
    )


class GetDocumentTool(Tool[GetDocumentArguments]):
    """Gets one document. One that the asker may not see does not exist for them."""

    name = "rag_get_document"
    description = (
        "Get one document by its id: its facts, its summary and its headings of the first level. Use it to summarise a "
        "document; search for what its sections say in detail."
    )
    arguments = GetDocumentArguments
    operation = "get_document"

    async def run(self, arguments: GetDocumentArguments, who: Principal) -> ToolResult:
        limits = SearchFilter(article_ids=(arguments.doc_id,))
        page = await self.retrieval.documents(who, limits, limit=1)
        note(arguments.doc_id)
        if not page.documents:
            note_call("refused")
            raise ToolError(
                f"there is no document {arguments.doc_id[:80]!r}, or you may not see it",
                "DocumentNotFound",
                "list the documents that you may see with rag_list_documents",
                "use the doc_id that a search or a list returned, not a title",
            )
        row = page.documents[0]
        headings = [{"text": heading.text, "page_number": heading.page} for heading in row.entry.headings]
        document = {"doc_id": row.article_id, **document_facts(row), "headings": headings}
        hits = (SearchHit(chunk=row, score=0.0),)
        return ToolResult({"document": document}, 1, hits, query=arguments.doc_id, filters=limits)
