"""Whether what answers can be reached: the model and the store of conversations, each asked once for the least."""

import asyncio
from collections.abc import Iterator

from app.conversations import open_conversations
from app.settings import AppSettings
from kb_pipeline.connections import Connection, asked
from kb_pipeline.settings import Settings

NOBODY = "kb-check"
"""A user who has no conversations."""


def check_answering(settings: AppSettings, knowledge_base: Settings) -> Iterator[Connection]:
    """Ask the model for a word, where there is one, and the store for nobody's conversations."""

    async def read() -> str:
        store = open_conversations(settings, knowledge_base)
        try:
            await store.conversations(NOBODY, 1)
        finally:
            await store.close()
        return "can be read"

    def model() -> str:
        return "none: answers are quotations" if settings.mode == "extractive" else asyncio.run(_ask_model(settings))

    yield asked("model", settings.chat_model or "extractive", model)
    yield asked("conversations", settings.conversations, lambda: asyncio.run(read()))


async def _ask_model(settings: AppSettings) -> str:
    from agent_framework import Message

    from app.answering.chat_client import ChatClient
    from app.answering.upstream import explain

    client = ChatClient(settings)
    try:
        response = await client.get_response([Message("user", ["Answer with one word: yes"])])
    except Exception as exc:
        explained = explain(exc, settings, begun=False)
        if explained is None:
            raise
        raise explained from exc
    finally:
        await client.close()
    return f"{settings.mode}; it answered {response.text.strip()[:40]!r}"
