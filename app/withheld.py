"""Hides stored answers that are based on articles that the reader may no longer read."""

import asyncio
from collections.abc import Iterable

from app.articles import Articles
from app.principal import Principal
from app.schema.answers import ChatAnswer
from app.schema.conversations import Conversation, Turn

WITHHELD = "this answer uses an article that you may no longer read, so it is not shown"


def shown_answer(articles: Articles, answer: ChatAnswer, who: Principal) -> ChatAnswer | None:
    """The answer with the citations that this person may still read; ``None`` if the answer must be hidden.

    An extractive answer uses only the passages that it quotes, but its plan may name others. A model may have used
    every passage that it received. A question that is asked back names its options.

    Raises:
        StorageError: an access list cannot be read.
    """
    options = answer.clarification.options if answer.clarification else ()
    of_articles = [citation for citation in answer.citations if not citation.is_of_web]
    named = (*(citation.article_id for citation in of_articles), *(option.article_id for option in options))
    readable = {article_id: articles.may_read(article_id, who) for article_id in dict.fromkeys(named)}
    if not all(readable[option.article_id] for option in options):
        return None
    citations = tuple(each for each in answer.citations if each.is_of_web or readable[each.article_id])
    if len(citations) == len(answer.citations):
        return answer
    is_quoted = answer.answered_by == "extractive"
    if is_quoted and all(readable[citation.article_id] for citation in of_articles if citation.used):
        return answer.model_copy(update={"citations": citations, "plan": None})
    return None


def shown_turns(articles: Articles, turns: Iterable[Turn], who: Principal) -> tuple[Turn, ...]:
    """The turns of a conversation, oldest first, with hidden answers replaced by :data:`WITHHELD`.

    A model receives the earlier turns and may repeat them, so its answers after a hidden answer are hidden too.

    Raises:
        StorageError: an access list cannot be read.
    """
    visible: list[Turn] = []
    is_withheld = False
    for turn in turns:
        answer = turn.answer and shown_answer(articles, turn.answer, who)
        if answer and is_withheld and answer.answered_by != "extractive":
            answer = None
        is_withheld = is_withheld or (turn.answer is not None and answer is None)
        without = {"answer": None, "problem": WITHHELD} if turn.answer else {}
        visible.append(turn.model_copy(update={"answer": answer} if answer else without))
    return tuple(visible)


async def shown(articles: Articles, conversation: Conversation, who: Principal) -> Conversation:
    """The conversation with its turns as :func:`shown_turns` returns them.

    Raises:
        StorageError: an access list cannot be read.
    """
    turns = await asyncio.to_thread(shown_turns, articles, conversation.turns, who)
    return conversation.model_copy(update={"turns": turns})
