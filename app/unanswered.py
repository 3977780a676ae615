"""Tells which stored questions were not answered (refused, answered with what is close only, or disliked), and which
articles the answers to the others cite.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator

from app.answering.extractive.answer import CLOSEST
from app.schema import Turn
from kb_pipeline.evaluation.gaps import Reason, Unanswered


def unanswered(turns: Iterable[Turn], unnamed: Collection[str] = ()) -> Iterator[Unanswered]:
    """Yield the questions that were not answered, without a word of who asked.

    ``unnamed`` are the ids of the answers that were given where nobody signs in. A question that is asked back, and an
    answer that was stopped or failed, say nothing about the knowledge base.
    """
    for turn in turns:
        if reason := _reason(turn):
            yield Unanswered(
                question=turn.question,
                asked_at=turn.asked_at,
                reason=reason,
                is_unnamed=turn.response_id in unnamed,
            )


def cited(turns: Iterable[Turn]) -> dict[str, int]:
    """In how many answers each article is cited, by its id; what is only shown as close is not."""
    answers = (turn.answer for turn in turns if turn.answer and _reason(turn) not in ("refused", "closest"))
    return Counter(
        article_id
        for answer in answers
        for article_id in {each.article_id for each in answer.citations if each.used and not each.is_of_web}
    )


def _reason(turn: Turn) -> Reason | None:
    answer = turn.answer
    if answer is None or answer.clarification or turn.problem:
        return None
    if turn.feedback and turn.feedback.rating == "down":
        return "disliked"
    if answer.refused:
        return "refused"
    return "closest" if CLOSEST in answer.answer else None
