"""Conversations that are kept: their turns, ratings, and references that went stale."""

from collections.abc import Mapping
from operator import not_
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, StringConstraints

from app.schema.answers import ChatAnswer
from app.schema.articles import Contradiction
from app.schema.asking import AskedPicture, with_picture_text
from app.schema.wire import Wire
from kb_pipeline.asking import NO_OPTIONS, AskOptions


def _known(options: object) -> object:
    """The options that this release has: stored turns outlive options, and a newer service may have more."""
    if not isinstance(options, Mapping):
        return options
    return {name: value for name, value in options.items() if name in AskOptions.model_fields}


class ConversationSummary(Wire):
    """A conversation in a list. Times are ISO 8601 in UTC."""

    id: str
    title: str
    created_at: str
    updated_at: str
    turns: int


class ConversationList(Wire):
    """A page of conversations, the most recently continued first; ``next`` is the ``after`` of the next page."""

    conversations: tuple[ConversationSummary, ...]
    next: str | None


class Feedback(Wire):
    """A reader's rating of an answer."""

    rating: Literal["up", "down"]
    comment: Annotated[str, StringConstraints(strip_whitespace=True, max_length=4000)] = ""


class OpenedSource(Wire):
    """A source that a reader opened, by the number of its reference."""

    number: Annotated[int, Field(ge=1, le=9999)]


UNANSWERED = "there is no answer: it is still being written, or was cut off when the service stopped; ask again"
"""The problem of a turn whose result is not stored, or not yet."""


class TextPiece(Wire):
    """A piece of two compared texts, with its line breaks: in both, only in the earlier, or only in the later one.

    "skipped" stands for lines that are in both and not shown; its ``text`` is empty.
    """

    change: Literal["same", "removed", "added", "skipped"]
    text: str = ""


class StaleReference(Wire):
    """A citation whose section does not read as it did when the answer was given; ``number`` is the citation's.

    "changed": ``difference`` leads from the cited passage to what stands there now. "gone": nothing like it is there,
    or nothing that the caller may see; the two look the same. "contradicted": it reads as it did, and other articles
    that the caller may see say otherwise of what the answer quotes: ``contradictions``.
    """

    number: int
    state: Literal["changed", "gone", "contradicted"]
    difference: tuple[TextPiece, ...] = ()
    contradictions: tuple[Contradiction, ...] = Field(default=(), exclude_if=not_)


Standing = Literal["current", "changed", "contradicted"]
"""Whether the sources of an answer say now what they said when it was given, and no other article contradicts them."""


class Turn(Wire):
    """A question and its answer. If ``answer`` is ``None``, ``problem`` says why.

    ``options`` are what its asker wanted beside; turns of earlier releases do not have them.
    ``stale`` are the references of the answer that are not what they were, and ``standing`` sums them up: ``None`` if
    it is not known, or the answer has no sources. Neither is stored. ``share`` is the id of the link by which others
    may read the answer, if its asker made one. Without an answer,
    ``rests_on`` are the ids of the articles of what was said until then, ``None`` if nobody noted them.
    """

    response_id: str
    asked_at: str
    question: str
    picture: AskedPicture | None = Field(default=None, exclude_if=not_)
    options: Annotated[AskOptions, BeforeValidator(_known)] = Field(
        default=NO_OPTIONS, exclude_if=lambda options: options == NO_OPTIONS
    )
    answer: ChatAnswer | None = None
    problem: str | None = None
    feedback: Feedback | None = None
    stale: tuple[StaleReference, ...] = ()
    standing: Standing | None = Field(default=None, exclude_if=lambda standing: standing is None)
    share: str | None = Field(default=None, exclude_if=not_)
    rests_on: tuple[str, ...] | None = Field(default=None, exclude_if=lambda ids: ids is None)

    @property
    def in_words(self) -> str:
        """The question, and below it what was read on the picture that came with it."""
        return with_picture_text(self.question, self.picture.text if self.picture else "")

    @property
    def has_ended(self) -> bool:
        """Whether its result is stored: an answer, or why there is none."""
        return self.answer is not None or self.problem not in (None, UNANSWERED)


class Share(Wire):
    """A link by which others may read one answer: ``GET /api/shares/{id}``."""

    id: str
    response_id: str


class SharedAnswer(Wire):
    """One answer as whoever opens its link may see it now. Its turn has the id of the link in place of the response's.

    ``not_compared`` says why it is not known which references are stale; ``None`` if it is known.
    """

    turn: Turn
    not_compared: str | None = None


class Conversation(Wire):
    """A conversation with all its turns, oldest first.

    ``not_compared`` says why it is not known which references are stale; ``None`` if it is known.
    """

    id: str
    title: str
    created_at: str
    updated_at: str
    turns: tuple[Turn, ...]
    not_compared: str | None = None


class ComparedSection(Wire):
    """A section that an earlier answer or the new one refers to, by its number in each.

    ``state`` says how it reads now compared with then, as in :class:`StaleReference`; ``None`` if it was not cited then
    or could not be compared.
    """

    article_id: str
    title: str
    heading_path: tuple[str, ...]
    number_then: int | None = None
    number_now: int | None = None
    state: Literal["unchanged", "changed", "gone", "contradicted"] | None = None
    difference: tuple[TextPiece, ...] = ()


class Circumstance(Wire):
    """Something that answers are made with, then and now; ``None`` if there was none, or if it was not kept."""

    name: Literal["index generation", "answered by", "model", "prompt version", "profile"]
    then: str | None
    now: str | None


class AnswerThenAndNow(Wire):
    """A stored answer, and what would be answered to its question now.

    ``difference`` leads from the one text to the other; it is empty if they are the same. ``not_compared`` says why it
    is not known whether the sections have changed.
    """

    response_id: str
    asked_at: str
    question: str
    then: ChatAnswer
    now: ChatAnswer
    difference: tuple[TextPiece, ...]
    sections: tuple[ComparedSection, ...]
    circumstances: tuple[Circumstance, ...]
    not_compared: str | None = None


class NewTitle(Wire):
    """The new title of a conversation."""

    title: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
