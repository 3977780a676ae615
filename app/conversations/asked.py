"""Reads what was asked from the conversations: the questions that are still not answered, what the others
cite, and how all answers were used.
"""

from app.callers.principal import LOCAL_USER
from app.conversations.base import ConversationStore
from app.conversations.gaps import cited, still_unanswered, unanswered
from app.conversations.loose_questions import NOBODY
from app.conversations.use import use_of
from app.library.articles import Articles
from app.library.retrieval import Retrieval
from kb_pipeline.evaluation.gaps import RecordedQuestions


async def asked_since(
    since: str, store: ConversationStore, retrieval: Retrieval, articles: Articles
) -> RecordedQuestions:
    """What was asked since then (ISO 8601) and is still not answered, what the others cite, and how all were used.

    Raises:
        KnowledgeBaseError: conversations, the index or the embedding model cannot be used.
    """
    unnamed = {turn.response_id for user in (LOCAL_USER, NOBODY) for turn in await store.turns_since(since, user)}
    turns = await store.turns_since(since)
    remaining = await still_unanswered(unanswered(turns, unnamed), retrieval, articles)
    use = use_of(turns, await store.sources_opened_since(since))
    return RecordedQuestions(unanswered=remaining, cited=cited(turns), use=use)
