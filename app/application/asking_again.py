"""Asks the question of a stored answer again, in the conversation as it was, and compares the two answers."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import takewhile

from app.answering.base import Message
from app.answering.grounded import GroundedAnswer
from app.api.responses import messages, texts_of_pictures
from app.callers.picture import Picture
from app.callers.principal import Principal
from app.conversations.base import UnknownConversationError, is_id
from app.conversations.differences import difference
from app.conversations.entries import ResponseLink, chain_of, steps_of
from app.conversations.turns import asked_back
from app.errors import AnswerError
from app.library.withheld import shown
from app.schema.answers import ChatAnswer
from app.schema.conversations import AnswerThenAndNow, Circumstance, ComparedSection, Conversation, StaleReference, Turn
from app.service import AgentService

_CONVERSATIONS_TO_NAME = 20
"""The latest conversations in which an error looks for the answer that was meant."""
_ANSWERS_TO_NAME = 3
"""Answers that a message names when the asked one is unknown."""
_NEAR = 0.8
"""Likeness by difflib of an id that was mistyped."""


class UnknownAnswerError(AnswerError):
    """The user has no such answer; the message names those that may be meant."""

    status = 404
    code = "unknown_answer"


async def ask_again(
    service: AgentService, response_id: str, who: Principal, *, top: int | None = None
) -> AnswerThenAndNow:
    """What would be answered now to the question of a stored answer, after the same messages as then.

    Raises:
        UnknownAnswerError: this person has no such answer, or may not see it any more.
        KnowledgeBaseError: the question cannot be answered now.
    """
    conversation, turn, then = await _stored(service, response_id, who)
    steps = steps_of(await service.conversations.entries(who.user_id, conversation.id, {"step"}))
    history = await _history(service, conversation, turn, steps, who)
    own = steps.get(turn.response_id)
    clarification = await asked_back(
        service.conversations,
        who.user_id,
        conversation.id,
        turn.response_id,
        own.previous_response_id if own else None,
    )
    was_on_web = turn.options.web or any(cited.used and cited.is_of_web for cited in then.citations)
    options = {
        "top_k": top or turn.options.top_k,
        "web": was_on_web and service.web is not None,
        "mode": then.mode,
        "scope": then.scope,
    }
    question = service.question(
        turn.question,
        who,
        turn.options.model_copy(update=options),
        history=history,
        clarification=clarification,
        picture=await _picture(service, turn, who),
    )
    now = await GroundedAnswer(service.answerer, question, service.book()).whole()
    alone = await service.references.compared(conversation.model_copy(update={"turns": (turn,)}), who)
    generation = await asyncio.to_thread(lambda: service.retrieval.reader().generation.id)
    return AnswerThenAndNow(
        response_id=response_id,
        asked_at=turn.asked_at,
        question=turn.question,
        then=then,
        now=now,
        difference=difference(then.answer, now.answer),
        sections=tuple(_sections(then, now, alone.turns[0].stale, is_compared=alone.not_compared is None)),
        circumstances=tuple(_circumstances(then, now, generation)),
        not_compared=alone.not_compared,
    )


async def _picture(service: AgentService, turn: Turn, who: Principal) -> Picture | None:
    """The picture that came with a question, with what was read on it then."""
    if turn.picture is None:
        return None
    data, media_type = await service.conversations.picture(who.user_id, turn.response_id)
    return Picture(data, media_type, turn.picture.width, turn.picture.height, turn.picture.text)


async def _stored(service: AgentService, response_id: str, who: Principal) -> tuple[Conversation, Turn, ChatAnswer]:
    store = service.conversations
    conversation_id = await store.conversation_of(who.user_id, response_id) if is_id(response_id) else None
    if conversation_id is None:
        raise UnknownAnswerError(await _advice(service, response_id, who))
    conversation = await shown(service.articles, await store.conversation(who.user_id, conversation_id), who)
    turn = next(turn for turn in conversation.turns if turn.response_id == response_id)
    if turn.answer is None:
        raise UnknownAnswerError(f"there is nothing to compare with: {turn.problem}")
    return conversation, turn, turn.answer


async def _history(
    service: AgentService, conversation: Conversation, turn: Turn, steps: Mapping[str, ResponseLink], who: Principal
) -> tuple[Message, ...]:
    """The messages before the question: those of the responses that it followed, then those of its own request."""
    store = service.conversations
    own = steps.get(turn.response_id)
    if own is None:
        return ()
    unanswered = {each.response_id for each in conversation.turns if each.answer is None}
    if own.previous_response_id:
        earlier = chain_of(steps, own.previous_response_id)
    else:
        before = takewhile(lambda key: key != turn.response_id, steps)
        earlier = [item for key in before for item in steps[key].items]
    found = await store.find(who.user_id, "item", [*earlier, *own.input])
    items = [found[key].entry for key in dict.fromkeys([*earlier, *own.input]) if key in found]
    said = [item.value for item in items if item.response_id not in unanswered]
    return tuple(messages(said, await texts_of_pictures(store, who.user_id, said)))[:-1]


def _sections(
    then: ChatAnswer, now: ChatAnswer, stale: Sequence[StaleReference], *, is_compared: bool
) -> Iterator[ComparedSection]:
    """The sections that the answer referred to, in its order, then those that only the new answer refers to."""
    stale_by_number = {reference.number: reference for reference in stale}
    numbers_now: dict[object, int] = {}
    for cited in now.citations:
        if cited.used:  # the chunk itself, or else the first one of its section
            numbers_now[cited.chunk_id] = cited.number
            numbers_now.setdefault((cited.article_id, cited.heading_path), cited.number)
    for cited in then.citations:
        if cited.used:
            reference = stale_by_number.get(cited.number)
            yield ComparedSection(
                article_id=cited.article_id,
                title=cited.title,
                heading_path=cited.heading_path,
                number_then=cited.number,
                number_now=numbers_now.get(cited.chunk_id) or numbers_now.get((cited.article_id, cited.heading_path)),
                state=reference.state if reference else "unchanged" if is_compared and not cited.is_of_web else None,
                difference=reference.difference if reference else (),
            )
    known = {(each.article_id, each.heading_path) for each in then.citations if each.used}
    for cited in now.citations:
        if cited.used and (cited.article_id, cited.heading_path) not in known:
            yield ComparedSection(
                article_id=cited.article_id,
                title=cited.title,
                heading_path=cited.heading_path,
                number_now=cited.number,
            )


def _circumstances(then: ChatAnswer, now: ChatAnswer, generation: str) -> Iterator[Circumstance]:
    """What the answers were made with, besides the sections."""
    generations_then = sorted({each.origin.generation for each in then.citations if each.origin.generation})
    yield Circumstance(name="index generation", then=", ".join(generations_then) or None, now=generation)
    yield Circumstance(name="answered by", then=then.answered_by, now=now.answered_by)
    yield Circumstance(name="model", then=then.model, now=now.model)
    yield Circumstance(name="prompt version", then=then.prompt_version, now=now.prompt_version)
    if then.profile:
        yield Circumstance(name="profile", then=then.profile, now=now.profile)


async def _advice(service: AgentService, response_id: str, who: Principal) -> str:
    """Why there is no such answer, and which one may be meant."""
    unknown = f"there is no answer {response_id[:80]!r}"
    try:
        named = await service.conversations.conversation(who.user_id, response_id) if is_id(response_id) else None
    except UnknownConversationError:
        named = None
    if named:
        return f"{named.id} is a conversation; name one of its answers: {_named(named.turns)}"
    listed = await service.conversations.conversations(who.user_id, _CONVERSATIONS_TO_NAME)
    turns = [
        turn
        for summary in listed.conversations
        for turn in reversed((await service.conversations.conversation(who.user_id, summary.id)).turns)
        if turn.answer
    ]
    near = get_close_matches(response_id, [turn.response_id for turn in turns], _ANSWERS_TO_NAME, _NEAR)
    if near:
        return f"{unknown}; did you mean {_named([turn for turn in turns if turn.response_id in near])}?"
    if turns:
        return f"{unknown} of the user {who.user_id}; the latest are {_named(turns[:_ANSWERS_TO_NAME])}"
    return (
        f"{unknown}: no answers of the user {who.user_id} are stored; those of the chat page and of the API are, "
        "but not those of kb ask"
    )


def _named(turns: Sequence[Turn]) -> str:
    return ", ".join(f"{turn.response_id} ({turn.question[:60]})" for turn in turns) or "it has none yet"
