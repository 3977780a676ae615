"""Conversations: questions and answers, kept for the person who asked, and compared with the articles as they are now.

Opens a store by name. A new store is a file beside sqlite.py and an entry in ``STORES``.
"""

from collections.abc import Callable

from app.conversations.base import ConversationStore
from app.settings import AppSettings
from kb_pipeline.plugins import find_opener
from kb_pipeline.settings import Settings


def open_conversations(settings: AppSettings, knowledge_base: Settings) -> ConversationStore:
    """The store that ``KB_CONVERSATIONS`` names. Nothing is read or created until it is used.

    Raises:
        SettingsError: there is no such store, or its packages are not installed.
    """
    opener = find_opener("KB_CONVERSATIONS", settings.conversations, STORES, ConversationStore)  # type: ignore[type-abstract]
    return opener(settings, knowledge_base)


def _sqlite(_: AppSettings, knowledge_base: Settings) -> ConversationStore:
    from app.conversations.sqlite import SQLiteConversations

    return SQLiteConversations(knowledge_base.home_path / "conversations.db")


def _cosmos(settings: AppSettings, _: Settings) -> ConversationStore:
    from app.conversations.cosmos import CosmosConversations

    return CosmosConversations(settings)


STORES: dict[str, Callable[[AppSettings, Settings], ConversationStore]] = {"sqlite": _sqlite, "cosmos": _cosmos}
