"""The store of conversations is opened by the name in a setting."""

from pathlib import Path

import pytest

from app.conversations import open_conversations
from app.conversations.cosmos import CosmosConversations
from app.conversations.sqlite import SQLiteConversations
from app.settings import AppSettings
from kb_pipeline.errors import SettingsError
from kb_pipeline.settings import Settings

pytestmark = pytest.mark.anyio


async def test_by_default_conversations_lie_in_the_home(settings: Settings) -> None:
    store = open_conversations(AppSettings(), settings)
    assert isinstance(store, SQLiteConversations)
    await store.begin_turn("ann", "c1", "r1", "How?")
    await store.close()
    assert (Path(settings.home) / "conversations.db").exists()


async def test_an_account_is_reached_only_when_it_is_needed(settings: Settings) -> None:
    store = open_conversations(AppSettings(conversations="cosmos", cosmos_endpoint="https://x.invalid"), settings)
    assert isinstance(store, CosmosConversations)
    await store.close()


async def test_another_name_is_refused(settings: Settings) -> None:
    with pytest.raises(SettingsError, match="KB_CONVERSATIONS is 'redis'; it must be one of cosmos, sqlite"):
        open_conversations(AppSettings(conversations="redis"), settings)
