"""An answer: its plan, what it asks back, and what it rests on."""

from operator import not_
from typing import Literal

from pydantic import Field

from app.schema.passages import Citation
from app.schema.wire import Wire
from kb_pipeline.asking import Scope
from kb_pipeline.records import KnowledgeMode

WHOLE_ANSWER = "whole_answer"
"""Key of a request's ``metadata``: with the value "true", a response carries the whole :class:`ChatAnswer`."""

AnsweredBy = Literal["agent", "retrieve-first", "extractive"]


class TokenUsage(Wire):
    """The tokens that the model read and wrote."""

    input_tokens: int = 0
    output_tokens: int = 0


QueryKind = Literal["CONTENT_SEARCH", "LISTING", "METADATA_SEARCH", "DOCUMENT_SUMMARY", "COMPARISON"]
"""What a question wants: passages, a list of documents, facts about documents, a summary, or documents side by side."""

PlanStatus = Literal["PENDING", "IN_PROGRESS", "COMPLETED", "FAILED"]


class PlanItem(Wire):
    """A step of a plan: an outcome, not a tool. ``position`` counts from 1; ``dependencies`` are positions before it.

    ``acceptance_criteria`` says what must be true of the outcome; code checks it.
    """

    position: int
    description: str
    acceptance_criteria: str
    dependencies: tuple[int, ...] = ()
    status: PlanStatus = "PENDING"


class Plan(Wire):
    """How a question of this kind is answered."""

    kind: QueryKind
    items: tuple[PlanItem, ...]

    def with_status(self, position: int, status: PlanStatus) -> "Plan":
        """The plan with one item in another status."""
        items = (
            item.model_copy(update={"status": status}) if item.position == position else item for item in self.items
        )
        return self.model_copy(update={"items": tuple(items)})


class DocumentOption(Wire):
    """A document that a question may mean. Facts that are not known are empty, ``page_count`` is 0 without pages.

    ``reply`` is a text that chooses it, as a person would say it; its number does as well.
    """

    number: int
    article_id: str
    title: str
    filename: str = ""
    document_type: str = ""
    department: str = ""
    upload_date: str = ""
    page_count: int = 0
    reply: str = Field(default="", exclude_if=not_)


class Clarification(Wire):
    """The question that is asked back: which of 2 to 7 documents is meant.

    ``asked`` is the reader's question. ``allows_all``: all of them together are an answer as well.
    """

    question: str
    asked: str
    options: tuple[DocumentOption, ...]
    allows_all: bool = False


class ToolUse(Wire):
    """A call of a tool on the way to an answer; ``failed``: it returned an error."""

    name: str
    failed: bool = False


class ChatAnswer(Wire):
    """An answer with all passages that were available for it. ``searches`` are the queries in order.

    ``refused``: nothing in the knowledge base answers the question; the text says so, and may name what is close. Then
    ``ask_instead`` are questions that the closest sections answer. ``did_you_mean`` is the question with its spelling
    corrected, if that has an answer, or a better one than these passages.
    ``is_closest``: the text says that it only quotes what is close. ``unsupported`` are the statements of the text that
    have a value which no cited passage has, or that the judge doubts; each is marked in it. ``folded`` is the part of
    the text, from one character to another, that readers see only if they want more.
    ``prompt_version`` is that of the model's instructions; ``None`` without a model. ``profile`` is the agent's profile
    that the request chose, if it is not the usual one. ``plan`` is how the question was answered, unless it was a plain
    search; ``clarification`` is what is asked back instead of an answer.
    ``offers_web`` is the name of what may be searched on the web, where the knowledge base has no answer. ``mode`` is
    what of the knowledge base was used, and ``scope`` in which documents was searched, if the request said it.
    ``follow_ups`` are questions that other sections of the cited articles answer. ``continues`` are the asker's earlier
    questions, the first one first, if the question makes no sense without them. ``leans_on`` are the ids of articles
    that the answer names, or takes a word from, without citing them. ``tools`` were called, in order.
    """

    answer: str
    citations: tuple[Citation, ...]
    answered_by: AnsweredBy
    model: str | None = None
    prompt_version: str | None = None
    profile: str | None = Field(default=None, exclude_if=not_)
    searches: tuple[str, ...] = ()
    usage: TokenUsage | None = None
    refused: bool = False
    did_you_mean: str | None = None
    ask_instead: tuple[str, ...] = ()
    unsupported: tuple[str, ...] = ()
    is_closest: bool = Field(default=False, exclude_if=not_)
    folded: tuple[int, int] | None = Field(default=None, exclude_if=not_)
    plan: Plan | None = Field(default=None, exclude_if=not_)
    clarification: Clarification | None = Field(default=None, exclude_if=not_)
    offers_web: str | None = Field(default=None, exclude_if=not_)
    mode: KnowledgeMode | None = Field(default=None, exclude_if=not_)
    scope: Scope | None = Field(default=None, exclude_if=not_)
    follow_ups: tuple[str, ...] = Field(default=(), exclude_if=not_)
    continues: tuple[str, ...] = Field(default=(), exclude_if=not_)
    leans_on: tuple[str, ...] = Field(default=(), exclude_if=not_)
    tools: tuple[ToolUse, ...] = Field(default=(), exclude_if=not_)

    def in_full(self, question: str) -> str:
        """The question that this answers, after the earlier ones that it continues."""
        return " ".join((*self.continues, question))

    @property
    def rests_on(self) -> tuple[str, ...]:
        """The ids of all articles that it names, and that were available for it, once each."""
        cited = (citation.article_id for citation in self.citations if not citation.is_of_web)
        options = self.clarification.options if self.clarification else ()
        return tuple(dict.fromkeys((*cited, *self.leans_on, *(option.article_id for option in options))))

    @property
    def tells_of(self) -> tuple[str, ...]:
        """Those of them that the text may tell something of: a model may have used every passage that it received."""
        if self.answered_by != "extractive":
            return self.rests_on
        told = tuple(citation for citation in self.citations if citation.used)
        return self.model_copy(update={"citations": told}).rests_on
