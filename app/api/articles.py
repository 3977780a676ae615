"""Routes to browse the knowledge base: the list of articles, one article, search, suggested questions."""

import asyncio
from datetime import date
from typing import Annotated

from fastapi import APIRouter, Query

from app.api.context import compose_context
from app.api.contributions import Calling
from app.api.gate import TheService, Who
from app.callers.principal import Principal
from app.contributing.contributing import Caller
from app.grounding.citations import document_url, passage_of
from app.language.suggestions import suggest
from app.library.articles import ArticleNotFoundError
from app.library.standings import STATUSES
from app.logs.auditing import note
from app.schema.articles import Article, ArticleList, ArticleSort, ArticleStatus, ArticleSummary
from app.schema.asking import Suggestions
from app.schema.context import Backlog, BacklogPart, KnowledgeContext, Mode
from app.schema.search import SearchResult, SearchResults
from app.service import AgentService
from kb_pipeline.errors import IndexMissingError
from kb_pipeline.records import KnowledgeMode, SearchHit, SearchMode, sections
from kb_pipeline.search.base import split_modes
from kb_pipeline.upkeep.backlog import backlog

router = APIRouter(prefix="/api", tags=["knowledge base"])


@router.get("/articles")
async def articles(
    service: TheService,
    caller: Calling,
    search: Annotated[str, Query(max_length=200)] = "",
    status: ArticleStatus | None = None,
    document_type: Annotated[str, Query(alias="type", max_length=200)] = "",
    department: Annotated[str, Query(max_length=200)] = "",
    since: date | None = None,
    sort: ArticleSort = "title",
    descending: bool = False,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    offset: Annotated[int, Query(ge=0)] = 0,
) -> ArticleList:
    """The articles that the caller may see, by title unless another order is asked for.

    ``status`` is what an author asks: which fail, or wait for the next ingest. Those that nobody may see are
    ``withheld``, and told to the local user alone.
    """
    who = caller.who
    among = await asyncio.to_thread(_with_status, service, caller, status) if status else None
    listing = await asyncio.to_thread(
        service.articles.page,
        who,
        search,
        among=among,
        document_type=document_type,
        department=department,
        since=since.isoformat() if since else "",
        sort=sort,
        descending=descending,
        limit=limit,
        offset=offset,
    )
    return (
        listing.model_copy(update={"statuses": tuple(STATUSES)}) if service.contributing.is_author(caller) else listing
    )


def _with_status(service: AgentService, caller: Caller, status: ArticleStatus) -> list[ArticleSummary]:
    never_published = service.contributing.never_published(caller) if status == "failing" else []
    return service.standings.summaries(caller.who, status, never_published)


@router.get("/articles/{article_id}")
async def article(
    article_id: str,
    service: TheService,
    caller: Calling,
    page: Annotated[int | None, Query(ge=1, le=10_000_000)] = None,
    chunk: Annotated[str | None, Query(max_length=200)] = None,
) -> Article:
    """A published article with its chunks in the index; of a long document the part with this page or chunk.

    Of one that was never published reviewers get ``failure``, without a text.
    """
    return await asyncio.to_thread(_open, service, article_id, caller, page, chunk)


def _open(service: AgentService, article_id: str, caller: Caller, page: int | None, chunk_id: str | None) -> Article:
    who = caller.who
    try:
        service.articles.manifest(article_id, who)  # checks access before anything else is read
    except ArticleNotFoundError:
        failing = service.contributing.open_failing(article_id, caller)
        return failing.model_copy(update={"run_url": service.run_url(failing.run_id)})
    try:
        index = service.retrieval.reader().index
        rows = index.find(index.entries([article_id]).get(article_id, {}))
        chunks = sections(row.chunk for row in rows)
    except IndexMissingError:
        chunks = []
    article = service.articles.open(article_id, who, chunks, page=page, chunk_id=chunk_id)
    if service.contributing.is_author(caller):
        article = service.articles.for_authors(article, who)
    may_open = article.filename and service.settings.serve_documents
    url = document_url(article_id, article.filename) if may_open else None
    return article.model_copy(update={"run_url": service.run_url(article.run_id), "document_url": url})


@router.get("/search")
async def search(
    service: TheService,
    who: Who,
    q: Annotated[str, Query(min_length=1, max_length=2000)],
    mode: Annotated[tuple[SearchMode | KnowledgeMode, ...], Query()] = (),
    top: Annotated[int, Query(ge=1, le=50)] = 10,
) -> SearchResults:
    """The passages that match the query; for operators with their scores (KB_ADMINISTRATORS).

    ``mode`` says how it searches (hybrid, keyword, vector) and of what (poc, production, all); give it twice for both.
    """
    how, of_what = split_modes(mode)
    note(text=q)
    hits = await service.retrieval.search(q, who.in_mode(of_what), top=top, mode=how)
    note(*(hit.chunk.article_id for hit in hits))
    return SearchResults(query=q, mode=how, results=tuple(_result(hit, who) for hit in hits))


def _result(hit: SearchHit, who: Principal) -> SearchResult:
    passage = dict(passage_of(hit))
    if not who.is_operator:
        return SearchResult(**passage)
    return SearchResult(**passage, score=hit.score, keyword_score=hit.keyword_score, vector_score=hit.vector_score)


@router.get("/articles/{article_id}/backlog")
async def article_backlog(article_id: str, service: TheService, who: Who) -> Backlog:
    """The items of the article's sections that are left for later."""
    manifest = await asyncio.to_thread(service.articles.manifest, article_id, who)  # checks access first
    workspace = service.retrieval.workspace
    found = await asyncio.to_thread(lambda: [*backlog(workspace, article_id)])
    parts = [
        BacklogPart(heading_path=section.heading_path, items=section.items)
        for each in found
        for section in each.sections
    ]
    return Backlog(
        article_id=article_id,
        title=manifest.title,
        items=tuple(item for part in parts for item in part.items),
        sections=tuple(parts),
    )


@router.get("/mode")
async def mode(service: TheService, who: Who) -> Mode:
    """The mode of questions that name none, and whether it makes a difference to what the caller may see."""
    listings = await asyncio.to_thread(service.articles.all, who)
    has_backlog = any(listing.has_backlog for listing in listings)
    return Mode(mode=service.retrieval.workspace.settings.mode, has_backlog=has_backlog)


@router.get("/context")
async def context(
    service: TheService,
    who: Who,
    articles: Annotated[list[str], Query(min_length=1, max_length=50)],
    mode: KnowledgeMode | None = None,
    tokens: Annotated[int, Query(ge=100, le=1_000_000)] = 10_000,
) -> KnowledgeContext:
    """What these articles say, for another agent: whole sections in the order asked for, as many as fit.

    ``articles`` are ids: a parameter for each, or one with commas between them.
    """
    return await compose_context(service, articles, who.in_mode(mode), tokens)


@router.get("/suggestions")
async def suggestions(service: TheService, who: Who) -> Suggestions:
    """Questions to start with."""
    listings = await asyncio.to_thread(service.articles.all, who)
    return Suggestions(questions=suggest([(listing.summary.title, *listing.headings) for listing in listings]))
