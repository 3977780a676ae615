"""The knowledge base to browse: articles, one article, searches with their scores, questions to begin with."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query

from app.api.asking import TheService, Who
from app.grounding.citations import passage_of
from app.principal import Principal
from app.schema import Article, ArticleList, SearchResult, SearchResults, Suggestions
from app.service import Service
from app.suggestions import suggest
from kb_pipeline.errors import IndexMissingError
from kb_pipeline.records import SearchHit, SearchMode

router = APIRouter(prefix="/api", tags=["knowledge base"])


@router.get("/articles")
async def articles(
    service: TheService,
    who: Who,
    search: Annotated[str, Query(max_length=200)] = "",
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    offset: Annotated[int, Query(ge=0)] = 0,
) -> ArticleList:
    """The articles that this person may see, by title."""
    return await asyncio.to_thread(service.articles.page, who, search, limit=limit, offset=offset)


@router.get("/articles/{article_id}")
async def article(article_id: str, service: TheService, who: Who) -> Article:
    """An article as its readers see it, with its chunks as they lie in the index."""
    return await asyncio.to_thread(_open, service, article_id, who)


def _open(service: Service, article_id: str, who: Principal) -> Article:
    service.articles.manifest(article_id, who)  # before anything of it is read
    try:
        index = service.retrieval.reader().index
        chunks = [found.chunk for found in index.find(index.entries([article_id]).get(article_id, {}))]
    except IndexMissingError:
        chunks = []
    opened = service.articles.open(article_id, who, chunks)
    return opened.model_copy(update={"run_url": service.run_url(opened.run_id)})


@router.get("/search")
async def search(
    service: TheService,
    who: Who,
    q: Annotated[str, Query(min_length=1, max_length=2000)],
    mode: SearchMode = "hybrid",
    top: Annotated[int, Query(ge=1, le=50)] = 10,
) -> SearchResults:
    """The passages that a search finds, with what each half of it thinks of them."""
    hits = await service.retrieval.search(q, who, top=top, mode=mode)
    return SearchResults(query=q, mode=mode, results=tuple(map(_result, hits)))


def _result(hit: SearchHit) -> SearchResult:
    return SearchResult(**dict(passage_of(hit)), keyword_score=hit.keyword_score, vector_score=hit.vector_score)


@router.get("/suggestions")
async def suggestions(service: TheService, who: Who) -> Suggestions:
    """Questions to begin with."""
    listed = await asyncio.to_thread(service.articles.all, who)
    return Suggestions(questions=suggest([(entry.summary.title, *entry.headings) for entry in listed]))
