"""Conversations of the person who asks, the answers in them, and what the person thought of those."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel

from app.api.asking import TheService, Who
from app.conversations.base import MOST_LISTED, UnknownConversationError
from app.principal import Principal
from app.schema import ChatAnswer, Conversation, ConversationSummary, Feedback, NewTitle, Turn
from app.service import Service

router = APIRouter(prefix="/api", tags=["conversations"])


class ConversationList(BaseModel):
    """A page of conversations; ``next`` is the ``after`` of the following page."""

    conversations: tuple[ConversationSummary, ...]
    next: str | None


@router.get("/conversations")
async def conversations(
    service: TheService,
    who: Who,
    limit: Annotated[int, Query(ge=1, le=MOST_LISTED)] = 50,
    after: Annotated[str | None, Query(max_length=1000)] = None,
) -> ConversationList:
    """The conversations of the person who asks, the one last continued first."""
    page = await service.conversations.conversations(who.user_id, limit, after)
    return ConversationList(conversations=page.conversations, next=page.next)


@router.get("/conversations/{conversation_id}")
async def conversation(conversation_id: str, service: TheService, who: Who) -> Conversation:
    """One of them with all its turns."""
    return await service.conversations.conversation(who.user_id, conversation_id)


@router.patch("/conversations/{conversation_id}")
async def rename(conversation_id: str, new: NewTitle, service: TheService, who: Who) -> Conversation:
    """Give it another title."""
    await service.conversations.rename(who.user_id, conversation_id, new.title)
    return await service.conversations.conversation(who.user_id, conversation_id)


@router.delete("/conversations/{conversation_id}", status_code=204)
async def delete(conversation_id: str, service: TheService, who: Who) -> None:
    """Remove it with everything in it, for good."""
    await service.conversations.delete(who.user_id, conversation_id)


@router.get("/responses/{response_id}/answer")
async def answer(response_id: str, service: TheService, who: Who) -> ChatAnswer:
    """An answer with all its citations: passages, images, and what made them."""
    turn = await _turn(service, who, response_id)
    if turn.answer is None:
        raise UnknownConversationError(f"there is no answer {response_id}: {turn.problem}")
    return turn.answer


@router.post("/responses/{response_id}/feedback", status_code=204)
async def feedback(response_id: str, said: Feedback, service: TheService, who: Who) -> None:
    """What the reader thinks of an answer; the last word holds."""
    conversation_id = await service.conversations.conversation_of(who.user_id, response_id)
    if conversation_id is None:
        raise _unknown(response_id)
    await service.conversations.give_feedback(who.user_id, conversation_id, response_id, said)


async def _turn(service: Service, who: Principal, response_id: str) -> Turn:
    found = (await service.conversations.find(who.user_id, "answer", [response_id])).get(response_id)
    if found is None:
        raise _unknown(response_id)
    return Turn.model_validate(found.entry.value)


def _unknown(response_id: str) -> UnknownConversationError:
    return UnknownConversationError(f"there is no answer {response_id[:80]!r}")
