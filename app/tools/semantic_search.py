"""``rag_semantic_search``: the blocks of documents, text and images, that answer a query by meaning and by words."""

from typing import Annotated, Any

from pydantic import Field, StringConstraints

from app.callers.principal import Principal
from app.grounding.citations import images_of, is_elsewhere, with_image_urls
from app.tools.base import Arguments, Tool, ToolResult
from app.tools.filters import BlockFilters
from kb_pipeline.records import KnowledgeMode, SearchHit

QUERY_CHARACTERS = 8000
"""Characters of a query: a pasted page fits; the search itself reads the beginning only."""


class SemanticSearchArguments(Arguments):
    """What to search for, and where."""

    query: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=QUERY_CHARACTERS)] = Field(
        description="what to look for, in words that the documents would use; one subject at a time"
    )
    top_k: int = Field(default=10, ge=1, le=50, description="how many blocks at most: a whole number from 1 to 50")
    filters: BlockFilters = Field(default_factory=BlockFilters, description="only blocks that meet these")
    mode: KnowledgeMode | None = Field(
        default=None,
        description="poc: without sections that are left for later, such as a production backlog; production or all: "
        "with them; default: what the service is set to",
    )


class SemanticSearchTool(Tool[SemanticSearchArguments]):
    """Searches text and pictures, best first."""

    name = "rag_semantic_search"
    description = (
        "Search the documents by meaning and by words. Returns the best blocks, which are passages of text or images "
        "with their captions, each with its document, file and page."
    )
    arguments = SemanticSearchArguments
    asker_decides = ("mode",)

    async def run(self, arguments: SemanticSearchArguments, who: Principal) -> ToolResult:
        limits = arguments.filters.limits()
        asker = who.in_mode(arguments.mode)
        hits = await self.retrieval.search(arguments.query, asker, top=arguments.top_k, filters=limits)
        scored = [_block(hit) | ({"score": hit.score} if who.is_operator else {}) for hit in hits]
        value = {"results": scored, "result_count": len(hits)}
        return ToolResult(value, len(hits), tuple(hits), query=arguments.query, filters=limits, asker=asker)


def _block(hit: SearchHit) -> dict[str, Any]:
    chunk = hit.chunk
    text = with_image_urls(chunk.content, chunk.article_id)
    images = images_of(chunk)
    content = {"content": text}
    if chunk.block_type == "image":
        elsewhere = [path for path in chunk.image_urls if is_elsewhere(path)]
        urls = [*elsewhere, *(image.url for image in images)]
        content = {"image_url": urls[0] if urls else "", "image_caption": text}
    return {
        "block_id": chunk.id,
        "block_type": chunk.block_type,
        **content,
        "doc_id": chunk.article_id,
        "filename": chunk.filename,
        "page_number": chunk.pages[0] if chunk.pages else None,
        "title": chunk.title,
        "section": " > ".join(chunk.heading_path) or chunk.section_header,
    }
