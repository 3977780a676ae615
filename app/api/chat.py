"""``POST /chat``: answer one question, with all citations, outside of any conversation."""

from fastapi import APIRouter

from app.answering.grounded import GroundedAnswer
from app.api.gate import TheService, Who
from app.grounding.source_style import in_source_style
from app.logs.auditing import note, note_answer
from app.schema.answers import ChatAnswer
from app.schema.asking import ChatRequest

router = APIRouter(tags=["answers"])


@router.post("/chat")
async def chat(request: ChatRequest, service: TheService, who: Who) -> ChatAnswer:
    """Answer a question from up to ``top_k`` passages per search.

    If the answer asks back which document is meant, send the question again with the ``document_ids`` that are.
    """
    question = service.question(request.question, who, request)
    note(text=question.text)
    answer = await GroundedAnswer(service.answerer, question, service.book()).whole()
    note_answer(question.text, answer)
    service.own_findings.answered(question.text, who, answer)
    service.loose_questions.answered(question.text, who, answer)
    if (request.citation_style or service.settings.citation_style) == "source":
        return answer.model_copy(update={"answer": in_source_style(answer.answer, answer.citations)})
    return answer
