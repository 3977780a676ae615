"""Turns, as they are read back: a question, what came of it, what its reader thought of that."""

from collections.abc import Iterable

from app.conversations.entries import Entry, Kind
from app.schema import Turn

TURN_KINDS: frozenset[Kind] = frozenset({"question", "answer", "feedback"})
UNANSWERED = "there is no answer: it is still being written, or was cut off when the service stopped; ask again"


def turns_of(entries: Iterable[Entry]) -> tuple[Turn, ...]:
    """The turns that these entries tell of, in the order of their questions."""
    said: dict[str, dict[Kind, Entry]] = {}
    for entry in entries:
        if entry.kind == "question" or entry.response_id in said:
            said.setdefault(entry.response_id, {})[entry.kind] = entry
    return tuple(map(_turn, said.values()))


def _turn(said: dict[Kind, Entry]) -> Turn:
    answer, feedback = said.get("answer"), said.get("feedback")
    told = answer.value if answer else {**said["question"].value, "problem": UNANSWERED}
    return Turn.model_validate({**told, "feedback": feedback.value if feedback else None})
