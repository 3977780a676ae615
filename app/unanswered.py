"""Tells which stored questions were not answered: refused, answered with what is close only, or disliked."""

from collections.abc import Iterable, Iterator

from app.answering.extractive.answer import CLOSEST
from app.schema import Turn
from kb_pipeline.evaluation.gaps import Reason, Unanswered


def unanswered(turns: Iterable[Turn]) -> Iterator[Unanswered]:
    """Yield the questions that were not answered, without a word of who asked.

    A question that is asked back, and an answer that was stopped or failed, say nothing about the knowledge base.
    """
    for turn in turns:
        if reason := _reason(turn):
            yield Unanswered(question=turn.question, asked_at=turn.asked_at, reason=reason)


def _reason(turn: Turn) -> Reason | None:
    answer = turn.answer
    if answer is None or answer.clarification or turn.problem:
        return None
    if turn.feedback and turn.feedback.rating == "down":
        return "disliked"
    if answer.refused:
        return "refused"
    return "closest" if CLOSEST in answer.answer else None
