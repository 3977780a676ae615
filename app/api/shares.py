"""Routes for links to answers: whoever asked makes and takes back a link, others open it with their own rights."""

from fastapi import APIRouter

from app.api.gate import TheService, Who
from app.conversations.sharing import shared_with
from app.logs.auditing import note
from app.schema.conversations import Conversation, Share, SharedAnswer

router = APIRouter(prefix="/api", tags=["conversations"])


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
    turn = await shared_with(service.articles, await service.conversations.shared(share_id), share_id, who)
    note(*(turn.answer.rests_on if turn.answer else ()))
    # as a conversation of one turn it is compared as those of its asker are
    alone = Conversation(id="", title="", created_at=turn.asked_at, updated_at=turn.asked_at, turns=(turn,))
    compared = await service.references.compared(alone, who)
    return SharedAnswer(turn=compared.turns[0], not_compared=compared.not_compared)
