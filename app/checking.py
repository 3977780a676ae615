"""Whether what answers can be reached: the model and the store of conversations, each asked once for the least."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator

from app.conversations import open_conversations
from app.settings import AppSettings
from kb_pipeline.connections import Connection
from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.settings import Settings

NOBODY = "kb-check"
"""A user who has no conversations."""


def check_answering(settings: AppSettings, knowledge_base: Settings) -> Iterator[Connection]:
    """Ask the model for a word, where there is one, and the store for nobody's conversations."""

    async def conversations() -> str:
        store = open_conversations(settings, knowledge_base)
        try:
            await store.conversations(NOBODY, 1)
        finally:
            await store.close()
        return "can be read"

    async def model() -> str:
        return await _ask_model(settings) if settings.mode != "extractive" else "none: answers are quotations"

    yield _asked("model", settings.chat_model or "extractive", model)
    yield _asked("conversations", settings.conversations, conversations)


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


def _asked(role: str, name: str, check: Callable[[], Awaitable[str]]) -> Connection:
    started = time.perf_counter()
    found = problem = ""
    try:
        found = asyncio.run(_awaited(check))
    except KnowledgeBaseError as exc:
        problem = str(exc)
    return Connection(role, name, found, problem, round(time.perf_counter() - started, 2))


async def _awaited(check: Callable[[], Awaitable[str]]) -> str:
    return await check()
