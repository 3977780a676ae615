"""The routes of knowledge gaps: what was asked and not answered, and how an article was used, as far as the caller may
know it.
"""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import partial

from fastapi import APIRouter

from app.api.contributions import Calling
from app.api.gate import TheService
from app.contributing.contributing import Caller, NotAReviewerError
from app.conversations.asked import asked_since
from app.schema.articles import ArticleUse
from app.schema.gaps import KnowledgeGap, KnowledgeGapList
from app.service import AgentService
from kb_pipeline.evaluation.gaps import DAYS, Gap, KnowledgeGaps, find_gaps, load_gaps

router = APIRouter(prefix="/api", tags=["quality"])


@router.get("/gaps")
async def gaps(service: TheService, caller: Calling, *, now: bool = False) -> KnowledgeGapList:
    """The questions that were not answered, like ones together, most asked first.

    Their words are for reviewers only (KB_REVIEWERS). They were looked for last night; ``now`` looks for them again,
    for reviewers, and keeps nothing.
    """
    run = service.contributing.pool.run
    if not now:
        return await run(lambda: _gaps(service, caller, load_gaps(service.retrieval.workspace.settings)))
    if not service.contributing.reviews(caller):
        raise NotAReviewerError("only reviewers look for gaps; an administrator can name you in KB_REVIEWERS")
    at = datetime.now(UTC)
    since = (at - timedelta(days=DAYS)).isoformat(timespec="seconds")
    questions = await asked_since(since, service.conversations, service.retrieval, service.articles)
    look = partial(
        find_gaps,
        service.retrieval.workspace,
        questions,
        at.isoformat(timespec="seconds"),
        records_content=service.settings.record_content,
    )
    return await run(lambda: _gaps(service, caller, look()))


@router.get("/articles/{article_id}/use")
async def article_use(article_id: str, service: TheService, caller: Calling) -> ArticleUse:
    """How often an article is cited, and the questions that it should have answered."""
    return await service.contributing.pool.run(partial(_use, service, caller, article_id))


def _gaps(service: AgentService, caller: Caller, found: KnowledgeGaps | None) -> KnowledgeGapList:
    is_reviewer = service.contributing.reviews(caller)
    if found is None:
        return KnowledgeGapList(made_at=None, days=DAYS, is_reviewer=is_reviewer)
    return KnowledgeGapList(
        made_at=found.made_at,
        days=DAYS,
        questions=found.questions,
        is_reviewer=is_reviewer,
        records_content=found.records_content,
        gaps=_shown(service, caller, found.gaps),
    )


def _use(service: AgentService, caller: Caller, article_id: str) -> ArticleUse:
    service.articles.manifest(article_id, caller.who)  # checks access first
    found = load_gaps(service.retrieval.workspace.settings)
    if found is None:
        return ArticleUse(made_at=None, days=DAYS)
    nearest = [gap for gap in found.gaps if gap.article_id == article_id]
    return ArticleUse(
        made_at=found.made_at,
        days=DAYS,
        cited=found.cited.get(article_id, 0),
        gaps=_shown(service, caller, nearest),
    )


def _shown(service: AgentService, caller: Caller, gaps: Iterable[Gap]) -> tuple[KnowledgeGap, ...]:
    """The gaps as the caller may know them: words for reviewers, articles for those who may read them."""
    is_reviewer = service.contributing.reviews(caller)
    listings = (listing for listing in service.articles.all(caller.who) if listing.access is not None)
    titles = {listing.summary.article_id: listing.summary.title for listing in listings}
    return tuple(
        KnowledgeGap(
            question=gap.question if is_reviewer else "",
            count=gap.count,
            last_asked=gap.last_asked,
            article_id=gap.article_id if gap.article_id in titles else None,
            title=titles.get(gap.article_id),
            **gap.reasons,
        )
        for gap in gaps
    )
