"""What is asked for beside a question: one record that commands, page, clients and programs pass on whole."""

from operator import not_
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from kb_pipeline.records import KnowledgeMode

_Names = Annotated[tuple[Annotated[str, StringConstraints(min_length=1, max_length=200)], ...], Field(max_length=20)]


class Scope(BaseModel):
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


class AskOptions(BaseModel):
    """The options of a question. To add one: a field here, its control on the page or in ``kb ask``, and what heeds it.

    ``top_k``: so many passages a search, the service's own number if it is not given. ``document_ids``: the articles
    that the question is about, at most 7, as many as the options of a clarification. ``web``: answer from the web, if
    the service may search it. ``mode``: without sections that are left for later (poc), or with them; the service's
    own if it is not given. ``scope``: search in these documents only.

    The description of a field is what it must be, in words for people.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    top_k: int | None = Field(default=None, ge=1, le=50, strict=True, description="a number from 1 to 50")
    document_ids: tuple[str, ...] = Field(default=(), exclude_if=not_, description="a list of ids of documents")
    web: Annotated[bool, Field(strict=True)] = Field(default=False, description="true or false")
    mode: KnowledgeMode | None = Field(default=None, exclude_if=not_, description="one of: poc, production, all")
    scope: Scope | None = Field(
        default=None,
        exclude_if=not_,
        description="lists of texts named type, department or topic; GET /api/collections lists their values",
    )

    def given(self) -> dict[str, Any]:
        """What is not as it is by default, as JSON values."""
        return self.model_dump(mode="json", exclude_defaults=True)


NO_OPTIONS = AskOptions()
