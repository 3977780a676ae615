"""Routes to browse the knowledge base: the list of articles, one article, search, suggested questions."""

import asyncio
from datetime import date
from typing import Annotated

from fastapi import APIRouter, Query

from app.api.gate import TheService, Who
from app.grounding.citations import document_url, passage_of
from app.principal import Principal
from app.schema import Article, ArticleList, ArticleSort, SearchResult, SearchResults, Suggestions
from app.service import AgentService
from app.suggestions import suggest
from kb_pipeline.errors import IndexMissingError
from kb_pipeline.records import SearchHit, SearchMode, sections

router = APIRouter(prefix="/api", tags=["knowledge base"])


@router.get("/articles")
async def articles(
    service: TheService,
    who: Who,
    search: Annotated[str, Query(max_length=200)] = "",
    document_type: Annotated[str, Query(alias="type", max_length=200)] = "",
    department: Annotated[str, Query(max_length=200)] = "",
    since: date | None = None,
    sort: ArticleSort = "title",
    descending: bool = False,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    offset: Annotated[int, Query(ge=0)] = 0,
) -> ArticleList:
    """The articles that the caller may see, by title unless another order is asked for."""
    return await asyncio.to_thread(
        service.articles.page,
        who,
        search,
        document_type=document_type,
        department=department,
        since=since.isoformat() if since else "",
        sort=sort,
        descending=descending,
        limit=limit,
        offset=offset,
    )


@router.get("/articles/{article_id}")
async def article(
    article_id: str,
    service: TheService,
    who: Who,
    page: Annotated[int | None, Query(ge=1, le=10_000_000)] = None,
    chunk: Annotated[str | None, Query(max_length=200)] = None,
) -> Article:
    """A published article with its chunks in the index; of a long document the part with this page or chunk."""
    return await asyncio.to_thread(_open, service, article_id, who, page, chunk)


def _open(service: AgentService, article_id: str, who: Principal, page: int | None, chunk_id: str | None) -> Article:
    service.articles.manifest(article_id, who)  # checks access before anything else is read
    try:
        index = service.retrieval.reader().index
        rows = index.find(index.entries([article_id]).get(article_id, {}))
        chunks = sections(row.chunk for row in rows)
    except IndexMissingError:
        chunks = []
    article = service.articles.open(article_id, who, chunks, page=page, chunk_id=chunk_id)
    may_open = article.filename and service.settings.serve_documents
    url = document_url(article_id, article.filename) if may_open else None
    return article.model_copy(update={"run_url": service.run_url(article.run_id), "document_url": url})


@router.get("/search")
async def search(
    service: TheService,
    who: Who,
    q: Annotated[str, Query(min_length=1, max_length=2000)],
    mode: SearchMode = "hybrid",
    top: Annotated[int, Query(ge=1, le=50)] = 10,
) -> SearchResults:
    """The passages that match the query, with their keyword and vector scores."""
    hits = await service.retrieval.search(q, who, top=top, mode=mode)
    return SearchResults(query=q, mode=mode, results=tuple(map(_result, hits)))


def _result(hit: SearchHit) -> SearchResult:
    return SearchResult(**dict(passage_of(hit)), keyword_score=hit.keyword_score, vector_score=hit.vector_score)


@router.get("/suggestions")
async def suggestions(service: TheService, who: Who) -> Suggestions:
    """Questions to start with."""
    listings = await asyncio.to_thread(service.articles.all, who)
    return Suggestions(questions=suggest([(listing.summary.title, *listing.headings) for listing in listings]))
