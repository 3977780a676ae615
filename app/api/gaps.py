"""The routes of knowledge gaps: what was asked and not answered, and how an article was used, as far as the caller may
know it.
"""

from asyncio import to_thread

from fastapi import APIRouter

from app.api.contributions import Calling
from app.api.gate import TheService, Who
from app.contributing import Caller
from app.schema import ArticleUse, KnowledgeGap, KnowledgeGapList
from app.service import AgentService
from kb_pipeline.evaluation.gaps import DAYS, Gap, load_gaps

router = APIRouter(prefix="/api", tags=["quality"])


@router.get("/gaps")
async def gaps(service: TheService, caller: Calling) -> KnowledgeGapList:
    """The questions that were not answered, like ones together, most asked first.

    Their words are for reviewers only (KB_REVIEWERS).
    """
    return await to_thread(_gaps, service, caller)


@router.get("/articles/{article_id}/use")
async def article_use(article_id: str, service: TheService, who: Who, caller: Calling) -> ArticleUse:
    """How often an article is cited, and the questions that it should have answered."""
    await to_thread(service.articles.manifest, article_id, who)  # checks access first
    found = await to_thread(load_gaps, service.retrieval.workspace.settings)
    if found is None:
        return ArticleUse(made_at=None, days=DAYS)
    every = await to_thread(_gaps, service, caller)
    return ArticleUse(
        made_at=found.made_at,
        days=DAYS,
        cited=found.cited.get(article_id, 0),
        gaps=tuple(gap for gap in every.gaps if gap.article_id == article_id),
    )


def _gaps(service: AgentService, caller: Caller) -> KnowledgeGapList:
    found = load_gaps(service.retrieval.workspace.settings)
    is_reviewer = service.contributing.reviews(caller)
    if found is None:
        return KnowledgeGapList(made_at=None, days=DAYS, is_reviewer=is_reviewer)
    listings = (listing for listing in service.articles.all(caller.who) if listing.access is not None)
    titles = {listing.summary.article_id: listing.summary.title for listing in listings}

    def shown(gap: Gap) -> KnowledgeGap:
        is_visible = gap.article_id in titles
        return KnowledgeGap(
            question=gap.question if is_reviewer else "",
            count=gap.count,
            last_asked=gap.last_asked,
            article_id=gap.article_id if is_visible else None,
            title=titles[gap.article_id] if is_visible else None,
            **gap.reasons,
        )

    return KnowledgeGapList(
        made_at=found.made_at,
        days=DAYS,
        questions=found.questions,
        is_reviewer=is_reviewer,
        records_content=found.records_content,
        gaps=tuple(map(shown, found.gaps)),
    )
