"""What the service can do now."""

from typing import Literal

from app.schema.answers import AnsweredBy
from app.schema.base import Wire


class IndexHealth(Wire):
    """Whether questions can be searched for."""

    reachable: bool
    chunks: int = 0
    embedding_model: str | None = None
    generation: str | None = None
    problem: str | None = None


class Health(Wire):
    """What the service can do now. ``last_published_at`` is when an article last changed for readers."""

    status: Literal["ok", "degraded"]
    version: str
    index: IndexHealth
    answered_by: AnsweredBy
    model: str | None
    vision: bool
    last_published_at: str | None = None


class Suggestions(Wire):
    """Questions to begin with, made from what the articles are about."""

    questions: tuple[str, ...]
