"""What is stored is shown according to the current rights of whoever reads it.

The rule for everything that is stored and shown later: it names the articles that it rests on
(:attr:`ChatAnswer.rests_on` of an answer), and who may not read one of them now is not shown it. That an article was
removed since changes nothing: its newest access list still applies.
"""

import asyncio
import re
from collections.abc import Iterable, Iterator
from urllib.parse import unquote

from app.callers.principal import Principal
from app.grounding.citations import IMAGE_ROUTE
from app.grounding.references import used_numbers
from app.library.articles import Articles
from app.schema.answers import ChatAnswer
from app.schema.conversations import Conversation, Turn
from kb_pipeline.steps.markdown_parsers import safe_parser

_USES = "uses an article that you may no longer read, so it is not shown"
WITHHELD = f"this answer {_USES}"
INVESTIGATION_WITHHELD = f"this investigation {_USES}"
PARTLY_WITHHELD = "parts of this answer use articles that you may not read, so they are left out"
_PICTURE_ALONE = re.compile(rf"!\[[^\]\n]*\]\({IMAGE_ROUTE}([^/\s)]+)/[^\s)]+\)")


def may_read_all(articles: Articles, article_ids: Iterable[str] | None, who: Principal) -> bool:
    """Whether a person may read each of these articles now; ``None`` if nobody noted which, so that it may be any.

    Raises:
        StorageError: an access list cannot be read.
    """
    if article_ids is None:
        return not articles.hidden_from(who)
    return all(articles.may_read(article_id, who) for article_id in dict.fromkeys(article_ids))


def shown_answer(articles: Articles, answer: ChatAnswer, who: Principal) -> ChatAnswer | None:
    """The answer as this person may see it now; ``None`` if it must be hidden.

    Of passages that were found and are not told of, those that the person may not read are left out, with all that is
    made of them.

    Raises:
        StorageError: an access list cannot be read.
    """
    if may_read_all(articles, answer.rests_on, who):
        return answer
    if not may_read_all(articles, answer.tells_of, who):
        return None
    readable = {each.article_id: each.is_of_web or articles.may_read(each.article_id, who) for each in answer.citations}
    citations = tuple(each for each in answer.citations if readable[each.article_id])
    return answer.model_copy(update={"citations": citations, "plan": None, "ask_instead": ()})


def readable_part(articles: Articles, answer: ChatAnswer, who: Principal) -> ChatAnswer | None:
    """What is left of an answer if the quotations of articles are left out that this person may not read now.

    Only what was quoted without a model has parts: each quotation refers to all that it is from, and a picture says
    whose it is. All the rest goes, for it may name what is left out. ``None`` if no quotation is left.

    Raises:
        StorageError: an access list cannot be read.
    """
    unquoted = answer.model_copy(update={"citations": ()}).rests_on
    if answer.answered_by != "extractive" or not may_read_all(articles, unquoted, who):
        return None
    readable = [each for each in answer.citations if each.is_of_web or articles.may_read(each.article_id, who)]
    numbers = {each.number for each in readable}
    pictured = {each.article_id for each in readable}
    start, end = answer.folded or (len(answer.answer),) * 2
    texts = (answer.answer[:start], answer.answer[start:end], answer.answer[end:])
    first, folded, last = ("".join(_parts_of(text, numbers, pictured)) for text in texts)
    if not used_numbers(first + folded + last):
        return None
    return ChatAnswer(
        answer=first + folded + last,
        folded=(len(first), len(first) + len(folded)) if folded else None,
        citations=tuple(readable),
        answered_by=answer.answered_by,
        is_closest=answer.is_closest,
        mode=answer.mode,
        scope=answer.scope,
    )


def _parts_of(text: str, numbers: set[int], pictured: set[str]) -> Iterator[str]:
    """Yield the blocks of a text that refer to passages of these numbers only, and pictures of these articles."""
    lines = text.splitlines(keepends=True)
    for token in safe_parser().parse(text):
        if token.level or token.map is None:
            continue
        block = "".join(lines[slice(*token.map)]).strip()
        picture = _PICTURE_ALONE.fullmatch(block)
        referred = set(used_numbers(block))
        if (picture and unquote(picture[1]) in pictured) or (referred and referred <= numbers):
            yield f"{block}\n\n"


def shown_turns(articles: Articles, turns: Iterable[Turn], who: Principal) -> tuple[Turn, ...]:
    """The turns of a conversation, oldest first, with hidden answers replaced by :data:`WITHHELD`.

    A model receives the earlier turns and may repeat them, so its answers after a hidden answer are hidden too. A turn
    that failed is as it was, without ``rests_on`` if what was said until then is hidden.

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
        without: dict[str, object] = {"answer": None, "problem": WITHHELD} if turn.answer else {}
        if turn.rests_on is not None and not may_read_all(articles, turn.rests_on, who):
            without = {"rests_on": None}
        visible.append(turn.model_copy(update={"answer": answer} if answer else without))
    return tuple(visible)


async def shown(articles: Articles, conversation: Conversation, who: Principal) -> Conversation:
    """The conversation with its turns as :func:`shown_turns` returns them.

    Raises:
        StorageError: an access list cannot be read.
    """
    turns = await asyncio.to_thread(shown_turns, articles, conversation.turns, who)
    return conversation.model_copy(update={"turns": turns})
