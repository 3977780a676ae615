"""What a question may carry: its scope, its mode, a picture."""

import re
from operator import not_
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, StringConstraints

from app.schema.passages import CitationStyle
from app.schema.wire import Wire
from kb_pipeline.records import KnowledgeMode

_Names = Annotated[tuple[Annotated[str, StringConstraints(min_length=1, max_length=200)], ...], Field(max_length=20)]


class Scope(Wire):
    """What a question is limited to: documents with one of these types, and departments, and topics.

    An empty list limits nothing.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: _Names = Field(default=(), exclude_if=not_)
    department: _Names = Field(default=(), exclude_if=not_)
    topic: _Names = Field(default=(), exclude_if=not_)

    @property
    def in_words(self) -> str:
        """The scope as a person would name it: ``type Manual, department Sales or Support``."""
        named = ((name, getattr(self, name)) for name in ("type", "department", "topic"))
        return ", ".join(f"{name} {' or '.join(values)}" for name, values in named if values)


CollectionKind = Literal["type", "department", "topic"]


class Collection(Wire):
    """Documents that have a type, a department or a topic in common, but not all of them; ``documents`` counts them."""

    kind: CollectionKind
    name: str
    documents: int

    @property
    def scope(self) -> Scope:
        """What limits a question to this collection."""
        return Scope.model_validate({self.kind: (self.name,)})


class CollectionList(Wire):
    """The collections to which a question can be limited: types, then departments, then topics."""

    collections: tuple[Collection, ...]


class ChatRequest(Wire):
    """A question without a conversation. ``citation_style`` is that of the service if it is not given.

    ``document_ids`` are the articles that the question is about, at most 7, as many as the options of a
    clarification. ``web``: answer from the web, if the service may search it. ``mode``: without sections that are left
    for later (poc), or with them; the service's own if it is not given. ``scope``: search in these documents only.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    question: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
    top_k: int = Field(5, ge=1, le=50, strict=True)
    document_ids: tuple[str, ...] = Field(default=(), exclude_if=not_)
    citation_style: CitationStyle | None = None
    web: Annotated[bool, Field(strict=True)] = False
    mode: KnowledgeMode | None = Field(default=None, exclude_if=not_)
    scope: Scope | None = Field(default=None, exclude_if=not_)


def with_picture_text(question: str, text: str) -> str:
    """A question with what was read on its picture: the first line is the reader's own, which counts most."""
    return f"{' '.join(question.split())}\n{' '.join(text.split())}" if text else question


ABOUT_A_PICTURE = "What is this?"
"""What a picture without a word asks."""

_PICTURE = re.compile(r"/api/responses/([A-Za-z0-9_-]{1,128})/picture")


def picture_path(response_id: str) -> str:
    """Where the service has the picture that came with a question."""
    return f"/api/responses/{response_id}/picture"


def picture_at(path: str) -> str | None:
    """The id of the response whose picture is at an address; ``None`` if it is another address."""
    found = _PICTURE.fullmatch(path)
    return found[1] if found else None


class AskedPicture(Wire):
    """A picture that came with a question, which is at ``/api/responses/<id>/picture``; ``text`` was read on it."""

    width: int
    height: int
    text: str = ""


class Suggestions(Wire):
    """Questions to start with, made from the headings of the articles."""

    questions: tuple[str, ...]
