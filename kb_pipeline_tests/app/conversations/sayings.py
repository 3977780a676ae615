"""Things that are said in the tests of conversations."""

from collections.abc import Callable
from typing import Any

from azure.ai.agentserver.responses import ResponseContext
from azure.ai.agentserver.responses.models.runtime import ResponseModeFlags

from app.conversations.base import ConversationStore
from app.schema.answers import ChatAnswer, Clarification, DocumentOption
from app.schema.conversations import Turn

Stores = Callable[[], ConversationStore]

HOSTILE = {
    "line breaks and tabs": "one\r\ntwo\tthree\u2028four",
    "a NUL": "before\x00after",
    "half a character": "before\ud83dafter \udc00",
    "writing from right to left": "\u202eevil\u202c شكرا",
    "characters of several code points": "👩‍👩‍👧‍👦 e\u0301 🇩🇪",
    "SQL": "'; DROP TABLE conversations; --",
    "markup": "<script>alert(1)</script> [x](javascript:alert(1)) {{x}} %s %00",
    "a megabyte": "word " * 200_000,
    "a megabyte without a space": "x" * 1_000_000,
    "nothing but spaces": " \n ",
}


def answered(response_id: str, answer: str = "Open the tray. [Ref #1]", question: str = "?") -> Turn:
    said = ChatAnswer(answer=answer, citations=(), answered_by="extractive", searches=("tray",))
    return Turn(response_id=response_id, asked_at="2026-01-01T00:00:00+00:00", question=question, answer=said)


def asked_back(response_id: str) -> Turn:
    """A turn that asks back which document is meant."""
    options = tuple(DocumentOption(number=at, article_id=f"a{at}", title=f"Report {at} – ü") for at in (1, 2))
    clarification = Clarification(question="Which one?", asked="the report", options=options, allows_all=True)
    turn = answered(response_id)
    return turn.model_copy(update={"answer": turn.answer.model_copy(update={"clarification": clarification})})


def context(response: str = "caresp_1", **request: Any) -> ResponseContext:
    """That of a request in which a response is made."""
    flags = ResponseModeFlags(stream=True, store=True, background=False)
    conversation = request.pop("conversation", None)
    return ResponseContext(
        response_id=response,
        mode_flags=flags,
        request=request,
        conversation_id=conversation,  # type: ignore[arg-type]
    )


async def ask(store: ConversationStore, user: str, conversation: str, response: str, question: str = "How?") -> None:
    """A whole turn."""
    await store.begin_turn(user, conversation, response, question)
    assert await store.finish_turn(user, conversation, answered(response, question=question.replace("\ud83d", "")))


async def titles(store: ConversationStore, user: str) -> list[str]:
    return [each.title for each in (await store.conversations(user)).conversations]


async def listed(store: ConversationStore, user: str, at_once: int = 200) -> list[str]:
    """Ids of all conversations, page after page."""
    found: list[str] = []
    after: str | None = None
    while True:
        page = await store.conversations(user, at_once, after)
        found += [each.id for each in page.conversations]
        after = page.next
        if after is None:
            return found
