"""What was asked and not answered, and what is decided about it."""

from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from app.schema.wire import Wire


def _on_one_line(text: str) -> str:
    line = " ".join(text.split())
    if not line.isprintable():
        raise ValueError("it must be text on one line")
    return line


_Line = Annotated[str, AfterValidator(_on_one_line)]


class KnowledgeGap(Wire):
    """Questions that ask the same and were not answered: how often they were asked, when first and last (ISO, UTC).

    ``question`` is how they were last worded, masked, and of a mail only its question. It is empty for callers who do
    not review, and where no content is recorded, and so is what was decided. ``refused``, ``closest`` and ``disliked``
    count why they are here. ``article_id`` and ``title`` are those of the nearest article, if there is one that the
    caller may see. ``dismissed``: it is no gap, for this ``reason``; one that was asked often since only has
    ``dismissed_at``. ``whole`` is what was last written, for reviewers who ask for it, if that is kept.
    """

    id: str = ""
    question: str = ""
    whole: str = ""
    count: int
    refused: int = 0
    closest: int = 0
    disliked: int = 0
    first_asked: str = ""
    last_asked: str
    article_id: str | None = None
    title: str | None = None
    assigned_to: str = ""
    dismissed: bool = False
    dismissed_at: str = ""
    reason: str = ""
    decided_by: str = ""


class KnowledgeGapList(Wire):
    """The gaps of the last ``days`` days, most asked first. ``made_at`` is ``None`` if they were never looked for.

    ``is_reviewer``: the caller may see questions of others, and decide. ``records_content``: words of questions are
    kept; ``keeps_whole``: also as they were written. ``dismissed`` counts those that are no gaps.
    """

    made_at: str | None
    days: int
    questions: int = 0
    dismissed: int = 0
    is_reviewer: bool = False
    records_content: bool = False
    keeps_whole: bool = False
    gaps: tuple[KnowledgeGap, ...] = ()


class GapDecided(Wire):
    """What a reviewer decides about a gap: who sees to it, or that it is none, and why."""

    assigned_to: _Line = Field(default="", max_length=200, description="The user who sees to it; empty: nobody does.")
    dismissed: bool = Field(default=False, description="It is no gap; it returns when it was asked three times again.")
    reason: _Line = Field(default="", max_length=1000, description="Why it is none.")

    @model_validator(mode="after")
    def _has_reason(self) -> Self:
        if self.dismissed and not self.reason:
            raise ValueError("say why it is no gap, in reason")
        return self

    @property
    def in_words(self) -> str:
        """What is decided, for the audit log."""
        return "dismissed" if self.dismissed else f"assigned to {self.assigned_to}" if self.assigned_to else "open"
