"""What a question may carry: its scope, its mode, a picture."""

import re
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, StringConstraints

from app.schema.passages import CitationStyle
from app.schema.wire import Wire
from kb_pipeline.asking import AskOptions, Scope

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


class ChatRequest(AskOptions, Wire):
    """A question without a conversation. ``citation_style`` is that of the service if it is not given."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    question: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
    top_k: int = Field(5, ge=1, le=50, strict=True)
    citation_style: CitationStyle | None = None


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
    match = _PICTURE.fullmatch(path)
    return match[1] if match else None


class AskedPicture(Wire):
    """A picture that came with a question, which is at ``/api/responses/<id>/picture``; ``text`` was read on it."""

    width: int
    height: int
    text: str = ""


class Suggestions(Wire):
    """Questions to start with, made from the headings of the articles."""

    questions: tuple[str, ...]
