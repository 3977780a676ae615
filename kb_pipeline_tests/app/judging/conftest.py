"""Judges of every kind, made from settings as the service makes them."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest

from app.judging import Judge, open_judge
from app.model.client import ChatClient
from app.settings import AppSettings

OpenChatJudge = Callable[..., AbstractAsyncContextManager[Judge]]


@pytest.fixture
def chat_judge() -> OpenChatJudge:
    """``async with chat_judge(base_url) as judge:`` lets the model at this address judge."""

    @asynccontextmanager
    async def opened(base_url: str, **settings: float) -> AsyncIterator[Judge]:
        made = AppSettings(chat_model="gpt-test", chat_base_url=base_url, **settings)
        client = ChatClient(made)
        try:
            yield open_judge(made, client)
        finally:
            await client.close()

    return opened
