"""The routes of knowledge gaps: what was asked and not answered, what is decided about it, and how an article was used,
as far as the caller may know it.
"""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import partial

from fastapi import APIRouter

from app.api.contributions import Calling
from app.api.gate import TheService
from app.contributing.contributing import Caller, NotAReviewerError
from app.conversations.asked import asked_since
from app.logs.auditing import note
from app.schema.articles import ArticleUse
from app.schema.gaps import GapDecided, KnowledgeGap, KnowledgeGapList
from app.service import AgentService
from kb_pipeline.evaluation.gap_decisions import GapDecision, decide, find_gap, load_decisions, look_for_gaps
from kb_pipeline.evaluation.gaps import DAYS, Gap, KnowledgeGaps, load_gaps
from kb_pipeline.secrets import without_secrets
from kb_pipeline.settings import Settings

router = APIRouter(prefix="/api", tags=["quality"])


@router.get("/gaps")
async def gaps(service: TheService, caller: Calling, *, now: bool = False, dismissed: bool = False) -> KnowledgeGapList:
    """The questions that were not answered, like ones together, most asked first; or those that were ``dismissed``.

    Their words are for reviewers only (KB_REVIEWERS). They were looked for last night; for reviewers, ``now`` looks for
    them again.
    """
    run = service.contributing.pool.run
    if not now:
        return await run(lambda: _gaps(service, caller, load_gaps(_settings(service)), dismissed=dismissed))
    _check_reviews(service, caller)
    at = datetime.now(UTC)
    since = (at - timedelta(days=DAYS)).isoformat(timespec="seconds")
    questions = await asked_since(since, service.conversations, service.retrieval, service.articles)
    look = partial(
        look_for_gaps,
        service.retrieval.workspace,
        questions,
        at.isoformat(timespec="seconds"),
        records_content=service.settings.record_content,
        keeps_whole=service.settings.whole_questions,
    )
    return await run(lambda: _gaps(service, caller, look(), dismissed=dismissed))


@router.get("/gaps/{gap_id}")
async def gap(gap_id: str, service: TheService, caller: Calling, *, whole: bool = False) -> KnowledgeGap:
    """One gap, for reviewers; with ``whole`` also the last question as it was written, if that is kept."""
    _check_reviews(service, caller)
    if whole:
        note(about=f"{gap_id[:80]} whole")
    return await service.contributing.pool.run(partial(_gap, service, caller, gap_id, whole=whole))


@router.put("/gaps/{gap_id}")
async def decide_gap(gap_id: str, decided: GapDecided, service: TheService, caller: Calling) -> KnowledgeGap:
    """Assign a gap to a person, or dismiss it with a reason, in place of what was decided before; for reviewers.

    A dismissed gap returns when it was asked three times again.
    """
    _check_reviews(service, caller)

    def put() -> KnowledgeGap:
        decide(
            _settings(service),
            gap_id,
            caller.who.user_id,
            assigned_to=decided.assigned_to,
            is_dismissed=decided.dismissed,
            reason=decided.reason,
        )
        note(about=f"{gap_id} {decided.in_words}")
        return _gap(service, caller, gap_id)

    return await service.contributing.pool.run(put)


@router.get("/articles/{article_id}/use")
async def article_use(article_id: str, service: TheService, caller: Calling) -> ArticleUse:
    """How often an article is cited, and the questions that it should have answered."""
    return await service.contributing.pool.run(partial(_use, service, caller, article_id))


def _settings(service: AgentService) -> Settings:
    return service.retrieval.workspace.settings


def _check_reviews(service: AgentService, caller: Caller) -> None:
    if not service.contributing.reviews(caller):
        raise NotAReviewerError("only reviewers look for gaps; an administrator can name you in KB_REVIEWERS")


def _gaps(service: AgentService, caller: Caller, found: KnowledgeGaps | None, *, dismissed: bool) -> KnowledgeGapList:
    is_reviewer = service.contributing.reviews(caller)
    if found is None:
        return KnowledgeGapList(made_at=None, days=DAYS, is_reviewer=is_reviewer)
    shown = _shown(service, caller, found.gaps)
    return KnowledgeGapList(
        made_at=found.made_at,
        days=DAYS,
        questions=found.questions,
        dismissed=sum(each.dismissed for each in shown),
        is_reviewer=is_reviewer,
        records_content=found.records_content,
        keeps_whole=service.settings.whole_questions,
        gaps=tuple(each for each in shown if each.dismissed == dismissed),
    )


def _gap(service: AgentService, caller: Caller, gap_id: str, *, whole: bool = False) -> KnowledgeGap:
    found = find_gap(_settings(service), gap_id)
    (shown,) = _shown(service, caller, [found])
    if not (whole and service.settings.whole_questions):
        return shown
    return shown.model_copy(update={"whole": without_secrets(found.whole)})


def _use(service: AgentService, caller: Caller, article_id: str) -> ArticleUse:
    service.articles.manifest(article_id, caller.who)  # checks access first
    found = load_gaps(_settings(service))
    if found is None:
        return ArticleUse(made_at=None, days=DAYS)
    nearest = _shown(service, caller, [gap for gap in found.gaps if gap.article_id == article_id])
    return ArticleUse(
        made_at=found.made_at,
        days=DAYS,
        cited=found.cited.get(article_id, 0),
        gaps=tuple(each for each in nearest if not each.dismissed),
    )


def _shown(service: AgentService, caller: Caller, gaps: Iterable[Gap]) -> tuple[KnowledgeGap, ...]:
    """The gaps as the caller may know them: words and decisions for reviewers, articles for those who may read them."""
    is_reviewer = service.contributing.reviews(caller)
    listings = (listing for listing in service.articles.all(caller.who) if listing.access is not None)
    titles = {listing.summary.article_id: listing.summary.title for listing in listings}
    decisions = load_decisions(_settings(service))
    shown = []
    for gap in gaps:
        decision = decisions.get(gap.id) or GapDecision(id=gap.id)
        decided = decision.model_dump(include={"assigned_to", "dismissed_at", "reason", "decided_by"})
        known = KnowledgeGap(
            id=gap.id,
            count=gap.count,
            first_asked=gap.first_asked or gap.last_asked,
            last_asked=gap.last_asked,
            article_id=gap.article_id if gap.article_id in titles else None,
            title=titles.get(gap.article_id),
            dismissed=decision.dismisses(gap),
            refused=gap.reasons.get("refused", 0),
            closest=gap.reasons.get("closest", 0),
            disliked=gap.reasons.get("disliked", 0),
        )
        shown.append(known.model_copy(update={"question": gap.question, **decided} if is_reviewer else {}))
    return tuple(shown)
