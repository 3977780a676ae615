"""Tells which stored questions were not answered (refused, answered with what is close only, or disliked) and still are
not, and which articles the answers to the others cite.
"""

import asyncio
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from datetime import datetime

from app.answering.confidence import evidence_of
from app.answering.nothing_asked import asks_nothing, says_nothing
from app.answering.planning.manners import is_no_gap
from app.callers.principal import Principal
from app.library.articles import Articles
from app.library.retrieval import Retrieval
from app.schema.asking import with_picture_text
from app.schema.conversations import Turn
from kb_pipeline.errors import IndexMissingError
from kb_pipeline.evaluation.gaps import Reason, Unanswered
from kb_pipeline.personal import question_to_keep, without_personal

_SEARCHED = 5
"""Passages by which it is told whether a question is answered by now."""


def unanswered(turns: Iterable[Turn], unnamed: Collection[str] = ()) -> Iterator[Unanswered]:
    """Yield the questions that were not answered, without a word of who asked, and masked.

    ``unnamed`` are the ids of the answers that were given where nobody signs in. A question that is asked back, a
    message that asks nothing, the reply that none of the documents is meant, and an answer that was stopped or failed,
    say nothing about the knowledge base.
    """
    for turn in turns:
        if reason := reason_of(turn):
            continued = turn.answer.continues if turn.answer else ()
            yield Unanswered(
                question=with_picture_text(question_to_keep(turn.question), _picture_text(turn)),
                whole=turn.in_words,
                continues=tuple(map(question_to_keep, continued)),
                asked_at=turn.asked_at,
                reason=reason,
                is_unnamed=turn.response_id in unnamed,
            )


async def still_unanswered(
    asked: Iterable[Unanswered], retrieval: Retrieval, articles: Articles
) -> tuple[Unanswered, ...]:
    """Leave out what asks nothing, and the questions that an article answers by now which was published since, and
    which everybody may read.

    A thumbs-down stays: what the reader missed is not known.

    Raises:
        KnowledgeBaseError: the index or the embedding model cannot be used.
    """
    everybody, embedder = Principal(), retrieval.workspace.embedder
    listings = await asyncio.to_thread(articles.all, everybody)
    published = {listing.summary.article_id: listing.summary.published_at for listing in listings}
    answered: dict[str, str | None] = {}  # by what was searched for
    idle: dict[str, bool] = {}
    remaining: list[Unanswered] = []
    for each in asked:
        query = each.query
        if query not in idle:
            idle[query] = await asyncio.to_thread(asks_nothing, each.in_full, embedder)
        if idle[query]:
            continue
        if each.reason != "disliked" and query not in answered:
            try:
                hits = await retrieval.search(query, everybody, top=_SEARCHED)
            except IndexMissingError:
                hits = []
            is_borne_out = evidence_of(query, hits) in ("answers", "closest")
            answered[query] = published.get(hits[0].chunk.article_id) if is_borne_out else None
        since = None if each.reason == "disliked" else answered[query]
        if since is None or datetime.fromisoformat(since) <= datetime.fromisoformat(each.asked_at):
            remaining.append(each)
    return tuple(remaining)


def cited(turns: Iterable[Turn]) -> dict[str, int]:
    """In how many answers each article is cited, by its id; what is only shown as close is not."""
    answers = (turn.answer for turn in turns if turn.answer and reason_of(turn) not in ("refused", "closest"))
    return Counter(
        article_id
        for answer in answers
        for article_id in {each.article_id for each in answer.citations if each.used and not each.is_of_web}
    )


def _picture_text(turn: Turn) -> str:
    return without_personal(turn.picture.text) if turn.picture else ""


def reason_of(turn: Turn) -> Reason | None:
    """Why a question counts as not answered; ``None`` if it does not."""
    answer = turn.answer
    if answer is None or answer.clarification or turn.problem or is_no_gap(answer.answer):
        return None
    if says_nothing(turn.in_words):
        return None
    if turn.feedback and turn.feedback.rating == "down":
        return "disliked"
    if answer.refused:
        return "refused"
    return "closest" if answer.is_closest else None
