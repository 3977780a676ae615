"""``POST /chat``: one question, one answer, all its citations."""

from fastapi import APIRouter

from app.answering.grounded import GroundedAnswer
from app.api.asking import TheService, Who
from app.schema import ChatAnswer, ChatRequest

router = APIRouter(tags=["answers"])


@router.post("/chat")
async def chat(asked: ChatRequest, service: TheService, who: Who) -> ChatAnswer:
    """Answer a question on its own, from up to ``top_k`` passages a search."""
    question = service.question(asked.question, who, top=asked.top_k)
    return await GroundedAnswer(service.answerer, question, service.book()).whole()
