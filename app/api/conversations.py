"""Routes for the caller's conversations, the answers in them, feedback on answers, and links to them.

Whoever asked makes and takes back a link; others open it with their own rights.
"""

import asyncio
import logging
from typing import Annotated, cast

from fastapi import APIRouter, BackgroundTasks, Depends, Query, Request, Response

from app.api.gate import TheService, Who
from app.api.owners import ResponseOwners
from app.api.served import PRIVATE
from app.callers.principal import Principal
from app.conversations.base import MOST_LISTED, UnknownConversationError
from app.conversations.markdown import markdown_of
from app.conversations.sharing import shared_turn
from app.library.withheld import shown
from app.logs.auditing import note
from app.schema.answers import ChatAnswer
from app.schema.conversations import (
    Conversation,
    ConversationList,
    Feedback,
    NewTitle,
    OpenedSource,
    Share,
    SharedAnswer,
    Turn,
)
from app.service import AgentService
from kb_pipeline.errors import KnowledgeBaseError

_log = logging.getLogger(__name__)
router = APIRouter(prefix="/api", tags=["conversations"])


def _owners_of(request: Request) -> ResponseOwners:
    return cast(ResponseOwners, request.app.state.owners)


Owners = Annotated[ResponseOwners, Depends(_owners_of)]


@router.get("/conversations")
async def conversations(
    service: TheService,
    who: Who,
    limit: Annotated[int, Query(ge=1, le=MOST_LISTED)] = 50,
    after: Annotated[str | None, Query(max_length=1000)] = None,
    search: Annotated[str, Query(max_length=200)] = "",
) -> ConversationList:
    """The caller's conversations, the most recently continued first; ``search``: words of their titles or questions."""
    return await service.conversations.conversations(who.user_id, limit, after, containing=search)


@router.get("/conversations/{conversation_id}")
async def conversation(conversation_id: str, service: TheService, who: Who) -> Conversation:
    """A conversation with all its turns, and which of their references are stale."""
    return await _opened(service, who, conversation_id)


@router.get("/conversations/{conversation_id}/markdown", response_class=Response)
async def as_markdown(conversation_id: str, request: Request, service: TheService, who: Who) -> Response:
    """A conversation as a Markdown file, with the sources of its answers."""
    whole = await _opened(service, who, conversation_id)
    named = {"content-disposition": f'attachment; filename="conversation-{whole.created_at[:10]}.md"'}
    return Response(markdown_of(whole, str(request.base_url)), media_type="text/markdown", headers=named)


@router.patch("/conversations/{conversation_id}")
async def rename(conversation_id: str, new: NewTitle, service: TheService, who: Who) -> Conversation:
    """Change the title of a conversation."""
    await service.conversations.rename(who.user_id, conversation_id, new.title)
    return await _opened(service, who, conversation_id)


@router.delete("/conversations/{conversation_id}", status_code=204)
async def delete(conversation_id: str, service: TheService, owners: Owners, who: Who) -> None:
    """Permanently delete a conversation and all its turns."""
    turns = (await service.conversations.conversation(who.user_id, conversation_id)).turns
    await service.conversations.delete(who.user_id, conversation_id)
    await owners.forget(turn.response_id for turn in turns)


@router.get("/responses/{response_id}/answer")
async def answer(response_id: str, service: TheService, who: Who) -> ChatAnswer:
    """An answer with all its citations: passages, images and provenance."""
    turn = await _turn(service, who, response_id)
    if turn.answer is None:
        raise UnknownConversationError(f"there is no answer {response_id}: {turn.problem}")
    return turn.answer


@router.get("/responses/{response_id}/picture", response_class=Response)
async def picture(response_id: str, service: TheService, who: Who) -> Response:
    """The picture that the caller sent with a question."""
    data, media_type = await service.conversations.picture(who.user_id, response_id)
    return Response(data, media_type=media_type, headers=PRIVATE)


@router.post("/responses/{response_id}/feedback", status_code=204)
async def feedback(
    response_id: str, rating: Feedback, service: TheService, who: Who, afterwards: BackgroundTasks
) -> None:
    """Store the reader's feedback on an answer; it replaces earlier feedback."""
    await service.conversations.give_feedback(who.user_id, response_id, rating)
    if rating.rating == "down" and rating.comment:
        afterwards.add_task(_hand_in, service, who, response_id, rating)


@router.post("/responses/{response_id}/opened", status_code=204)
async def opened(response_id: str, source: OpenedSource, service: TheService, who: Who) -> None:
    """Count that the reader opened a source of an answer; who did is not counted."""
    await service.conversations.source_opened(who.user_id, response_id, source.number)


@router.post("/conversations/{conversation_id}/shares/{response_id}")
async def share(conversation_id: str, response_id: str, service: TheService, who: Who) -> Share:
    """Make a link by which others may read one of the caller's answers; if there is one already, it is this."""
    return await service.conversations.share(who.user_id, conversation_id, response_id)


@router.delete("/conversations/{conversation_id}/shares/{response_id}", status_code=204)
async def take_back(conversation_id: str, response_id: str, service: TheService, who: Who) -> None:
    """Take back the link of an answer: it leads nowhere from now on."""
    await service.conversations.take_back(who.user_id, conversation_id, response_id)


@router.get("/shares/{share_id}")
async def shared(share_id: str, service: TheService, who: Who) -> SharedAnswer:
    """The answer that a link leads to, as far as the caller may read it now, with its stale references."""
    turns = await service.conversations.shared(share_id)
    turn = await asyncio.to_thread(shared_turn, service.articles, turns, share_id, who)  # access lists are files
    note(*(turn.answer.rests_on if turn.answer else ()))
    # as a conversation of one turn it is compared as those of its asker are
    alone = Conversation(id="", title="", created_at=turn.asked_at, updated_at=turn.asked_at, turns=(turn,))
    compared = await service.references.compared(alone, who)
    return SharedAnswer(turn=compared.turns[0], not_compared=compared.not_compared)


async def _hand_in(service: AgentService, who: Principal, response_id: str, rating: Feedback) -> None:
    try:
        turn = await _turn(service, who, response_id)
    except KnowledgeBaseError as exc:
        _log.warning("the comment on %s could not be handed in as a contribution: %s", response_id, exc)
        return
    service.own_findings.rated(turn.question, who, turn.answer, rating)


async def _opened(service: AgentService, who: Principal, conversation_id: str) -> Conversation:
    conversation = await service.conversations.conversation(who.user_id, conversation_id)
    return await service.references.compared(await shown(service.articles, conversation, who), who)


async def _turn(service: AgentService, who: Principal, response_id: str) -> Turn:
    conversation_id = await service.conversations.place_of(who.user_id, response_id)
    conversation = await service.conversations.conversation(who.user_id, conversation_id)
    turns = (await shown(service.articles, conversation, who)).turns
    turn = next((turn for turn in turns if turn.response_id == response_id), None)
    if turn is None or (turn.answer is None and turn.problem is None):  # the answer is still in progress
        raise UnknownConversationError(f"there is no answer {response_id[:80]!r}")
    return turn
