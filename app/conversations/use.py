"""Counts how answers were used, from the stored turns: no text of a person leaves them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import zip_longest

from app.answering.planning.clarifying import read_reply
from app.answering.planning.manners import is_no_gap
from app.schema.conversations import Turn
from kb_pipeline.evaluation.use import AnswerUse, UseTally


def use_of(turns: Sequence[Turn], opened: int) -> AnswerUse:
    """The counts of turns, those of a conversation in order. ``opened``: so many of their sources were opened."""
    answers = [turn.answer for turn in turns if turn.answer and not turn.problem]
    said = [answer for answer in answers if not (answer.clarification or is_no_gap(answer.answer))]
    plans = [answer.plan for answer in answers if answer.plan]
    return AnswerUse(
        answers=len(said),
        refused=sum(answer.refused for answer in said),
        closest=sum(answer.is_closest for answer in said),
        sources=UseTally(times=sum(each.used for answer in said for each in answer.citations), well=opened),
        options=_options(turns),
        plans=_tallies((plan.kind, all(item.status == "COMPLETED" for item in plan.items)) for plan in plans),
        tools=_tallies((tool.name, not tool.failed) for answer in answers for tool in answer.tools),
    )


def _options(turns: Sequence[Turn]) -> UseTally:
    """Count the questions that were asked back, and those that the next turn answers."""
    asked_back = chosen = 0
    for turn, following in zip_longest(turns, turns[1:]):
        if turn.answer and (clarification := turn.answer.clarification):
            asked_back += 1
            reply = read_reply(following.question, clarification) if following else None
            chosen += bool(reply and reply.numbers)
    return UseTally(times=asked_back, well=chosen)


def _tallies(happened: Iterable[tuple[str, bool]]) -> dict[str, UseTally]:
    times, well = Counter[str](), Counter[str]()
    for name, is_well in happened:
        times[name] += 1
        well[name] += is_well
    return {name: UseTally(times=count, well=well[name]) for name, count in times.items()}
