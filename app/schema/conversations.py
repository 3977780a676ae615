"""Conversations, and what their readers thought of the answers."""

from typing import Annotated, Literal

from pydantic import StringConstraints

from app.schema.answers import ChatAnswer
from app.schema.base import Wire


class ConversationSummary(Wire):
    """A conversation in a list. Times are ISO 8601 in UTC."""

    id: str
    title: str
    created_at: str
    updated_at: str
    turns: int


class Feedback(Wire):
    """What the reader thought of an answer."""

    rating: Literal["up", "down"]
    comment: Annotated[str, StringConstraints(strip_whitespace=True, max_length=4000)] = ""


class Turn(Wire):
    """A question and what came of it; ``answer`` is ``None`` where there is none, ``problem`` then says why."""

    response_id: str
    asked_at: str
    question: str
    answer: ChatAnswer | None = None
    problem: str | None = None
    feedback: Feedback | None = None


class Conversation(Wire):
    """A conversation with all its turns, oldest first."""

    id: str
    title: str
    created_at: str
    updated_at: str
    turns: tuple[Turn, ...]


class NewTitle(Wire):
    """A conversation is renamed."""

    title: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
