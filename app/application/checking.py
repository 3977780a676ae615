"""Checks the connections of the agent service: model and conversations; judge, web and image links if they are on."""

import asyncio
from collections.abc import Iterator

from app.conversations import open_conversations
from app.judging import Statement, open_judge
from app.settings import AppSettings
from app.web.base import WebSearch
from kb_pipeline.settings import Settings
from kb_pipeline.store.azure_sas import BlobLinks
from kb_pipeline.store.layout import Layout
from kb_pipeline.upkeep.check import Connection, check_backend

NOBODY = "kb-check"
"""A user id without conversations."""


def check_answering(settings: AppSettings, knowledge_base: Settings) -> Iterator[Connection]:
    """Try each connection with one small request.

    The model is asked for a word, if there is one, and the store for the conversations of :data:`NOBODY`.
    """

    async def conversations() -> str:
        store = open_conversations(settings, knowledge_base)
        try:
            await store.conversations(NOBODY, 1)
        finally:
            await store.close()
        return "can be read"

    def model() -> str:
        return "none: answers are quotations" if settings.mode == "extractive" else asyncio.run(_ask_model(settings))

    async def ask_web(backend: WebSearch) -> str:
        try:
            return await backend.check()
        finally:
            await backend.close()

    def web() -> str:
        from app.web.backends import open_backend

        return asyncio.run(ask_web(open_backend(settings)))

    def links() -> str:
        of_serving = BlobLinks(Layout.of(knowledge_base).serving_root)
        of_serving.check()
        return f"accepted, signed with {of_serving.signs_with}"

    yield check_backend("model", settings.chat_model or "extractive", model)
    if (settings.judge or "").startswith("onnx"):
        yield check_backend("judge", settings.judge or "", lambda: asyncio.run(_try_judge(settings)))
    yield check_backend("conversations", settings.conversations, lambda: asyncio.run(conversations()))
    if settings.web_search != "off":
        yield check_backend("web", settings.web_search, web)
    if settings.image_urls != "proxy":
        yield check_backend("image links", settings.image_urls, links)


async def _try_judge(settings: AppSettings) -> str:
    judge = open_judge(settings)
    said = "The door is open."
    try:
        (verdict,) = (await judge.verdicts_on("Is the door open?", [Statement(said)], {1: said})).verdicts
    finally:
        await judge.close()
    return f"finds that a sentence is {verdict.kind if verdict else 'not judged'} by itself"


async def _ask_model(settings: AppSettings) -> str:
    from agent_framework import Message

    from app.model.calls import explain
    from app.model.client import ChatClient

    client = ChatClient(settings)
    try:
        response = await client.get_response([Message("user", ["Answer with one word: yes"])])
    except Exception as exc:
        error = explain(exc, settings, begun=False)
        if error is None:
            raise
        raise error from exc
    finally:
        await client.close()
    return f"{settings.mode}; it answered {response.text.strip()[:40]!r}"
