"""The contract of all answerers: they take a question and yield a stream of events."""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from app.answering.profiles import KNOWLEDGE_BASE, Profile
from app.callers.picture import Picture
from app.callers.principal import Principal
from app.grounding.citations import CitationBook
from app.schema.answers import AnsweredBy, Clarification, Plan, PlanStatus, TokenUsage
from kb_pipeline.asking import NO_OPTIONS, AskOptions

if TYPE_CHECKING:
    from app.answering.nearness import Nearness
    from app.judging.base import Judge


@dataclass(frozen=True, slots=True)
class Message:
    """A message of the conversation, without its references, which belonged to the passages of another answer."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question, who asks it, and the messages before it, oldest first. ``top`` is the number of hits of a search.

    ``options`` are what the asker wants beside; mode and scope are those of ``who``, so that no search forgets them.
    ``clarification`` is what the turn before asked back, to which this may be the reply.
    ``picture`` came with it: what was read on it joins the search, and a model that sees images is shown it.
    ``conversation`` tells conversations apart, of all askers; it is empty if the question belongs to none. ``profile``
    says who a model is that answers.
    """

    text: str
    who: Principal
    top: int
    history: tuple[Message, ...] = ()
    options: AskOptions = NO_OPTIONS
    clarification: Clarification | None = None
    conversation: str = ""
    profile: Profile = KNOWLEDGE_BASE
    picture: Picture | None = None

    def about(self, document_ids: tuple[str, ...]) -> "Question":
        """The question about these documents only."""
        return replace(self, options=self.options.model_copy(update={"document_ids": document_ids}))


@dataclass(frozen=True, slots=True)
class Searched:
    """The knowledge base, or the web, was searched, with ``found`` hits. ``is_doubtful``: they are not expected to
    answer."""

    query: str
    found: int
    is_doubtful: bool = False
    on_web: bool = False


@dataclass(frozen=True, slots=True)
class TextPart:
    """The next part of the answer as the answerer wrote it, not yet checked against its sources.

    ``is_quoted``: code wrote it, also in the answer of a model, and cites its passages itself. ``is_folded``: readers
    see it only if they want more.
    """

    delta: str
    is_quoted: bool = False
    is_folded: bool = False


@dataclass(frozen=True, slots=True)
class Finished:
    """The answer is complete. A stream that ends without this event was cut short.

    ``refused``: the answerer knows that nothing answers, though it may refer to what is close. ``is_closest``: it only
    quotes what is close. ``did_you_mean`` is the question in another spelling, ``ask_instead`` are questions that have
    an answer. ``offers_web`` is the name of what
    may be searched on the web instead.
    """

    usage: TokenUsage | None = None
    refused: bool = False
    is_closest: bool = False
    did_you_mean: str | None = None
    ask_instead: tuple[str, ...] = ()
    offers_web: str | None = None


@dataclass(frozen=True, slots=True)
class Planned:
    """The question has a plan of its own; all its items are pending."""

    plan: Plan


@dataclass(frozen=True, slots=True)
class ItemChanged:
    """An item of the plan has another status."""

    position: int
    status: PlanStatus


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A tool was called, by a plan or by the model. ``arguments`` are JSON values."""

    call_id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolEnded:
    """A tool returned. ``summary`` says what in a few words; ``error`` says why it failed, if it did."""

    call_id: str
    name: str
    summary: str
    error: str | None = None


@dataclass(frozen=True, slots=True)
class AskedBack:
    """The asker is asked which document is meant, instead of an answer."""

    clarification: Clarification


Step = Searched | Planned | ItemChanged | ToolStarted | ToolEnded | AskedBack
"""What happens on the way to an answer."""

AnswerEvent = Step | TextPart | TokenUsage | Finished
"""A usage is what the calls of the model have used so far, if its service tells."""


class Answerer(ABC):
    """Answers questions from the knowledge base.

    An answer refers to its passages as ``[Ref #N]`` and shows images as markdown. :mod:`app.grounding` checks both
    against the book afterwards, so neither an answerer nor a model has to be trusted with them.
    """

    answered_by: AnsweredBy
    model: str | None = None
    prompt_version: str | None = None
    sees_images: bool = False
    instead: "Answerer | None" = None
    """Answers in place of this one when its model cannot be reached. If set, a model words the answers, and code
    vouches for their values; without it, an answer cites its passages itself."""

    judge: "Judge | None" = None
    """Says at the end which statements of a model's answer its passages do not bear out."""

    @property
    def nearness(self) -> "Nearness | None":
        """What finds the passage that a statement without a reference is from, if there is such a thing."""
        return None

    @abstractmethod
    def answer(self, question: Question, book: CitationBook) -> AsyncGenerator[AnswerEvent, None]:
        """Yield the events of an answer. Passages are added to ``book`` before the answer refers to them.

        Closing the generator cancels what is in progress.

        Raises:
            AnswerError: another service failed; the text so far is not an answer.
            KnowledgeBaseError: the index cannot be searched.
        """

    async def refused(self, question: Question, book: CitationBook) -> Finished:
        """The end of an answer that refuses, with what helps a reader whose question these passages do not answer.

        Raises:
            KnowledgeBaseError: the index cannot be searched.
        """
        return Finished(refused=True)

    async def close(self) -> None:  # noqa: B027  (most have nothing to close)
        """Close connections."""
