"""Reads what was asked from the conversations: the questions that are still not answered, what the others
cite, and how all answers were used. No text of a person leaves the counts.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import zip_longest

from app.answering.planning.clarifying import read_reply
from app.answering.planning.manners import is_no_gap
from app.callers.principal import LOCAL_USER
from app.conversations.base import ConversationStore
from app.conversations.gaps import cited, still_unanswered, unanswered
from app.conversations.loose_questions import NOBODY
from app.library.articles import Articles
from app.library.retrieval import Retrieval
from app.schema.conversations import Turn
from kb_pipeline.evaluation.gaps import RecordedQuestions
from kb_pipeline.evaluation.use import AnswerUse, UseTally


async def asked_since(
    since: str, store: ConversationStore, retrieval: Retrieval, articles: Articles
) -> RecordedQuestions:
    """What was asked since then (ISO 8601) and is still not answered, what the others cite, and how all were used.

    Raises:
        KnowledgeBaseError: conversations, the index or the embedding model cannot be used.
    """
    unnamed = {turn.response_id for user in (LOCAL_USER, NOBODY) for turn in await store.turns_since(since, user)}
    turns = await store.turns_since(since)
    remaining = await still_unanswered(unanswered(turns, unnamed), retrieval, articles)
    use = use_of(turns, await store.sources_opened_since(since))
    return RecordedQuestions(unanswered=remaining, cited=cited(turns), use=use)


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
