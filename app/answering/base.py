"""The contract of everything that words an answer: a question goes in, a stream of events comes out."""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Literal

from app.grounding.citations import CitationBook
from app.principal import Principal
from app.schema import AnsweredBy, TokenUsage

NO_MATCHES = "(no matches)"
"""What stands for the passages where there are none."""


@dataclass(frozen=True, slots=True)
class Message:
    """What was said before, oldest first; without references, which belonged to another answer's passages."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, by whom, after what. ``top`` is the number of passages of a search."""

    text: str
    who: Principal
    top: int
    history: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class Searched:
    """The knowledge base was searched."""

    query: str
    found: int


@dataclass(frozen=True, slots=True)
class Text:
    """More of the answer, as it was worded: not yet held against its sources."""

    delta: str


@dataclass(frozen=True, slots=True)
class Finished:
    """The answer is complete. A stream that ends without this one was cut short."""

    usage: TokenUsage | None = None


AnswerEvent = Searched | Text | Finished


class Answerer(ABC):
    """Answers questions from the knowledge base.

    An answer refers to its passages as ``[Ref #N]`` and shows images as markdown; both are held against the book
    afterwards (:mod:`app.grounding`), so an answerer need not, and a model cannot, be trusted with that.
    """

    answered_by: AnsweredBy
    model: str | None = None
    sees_images: bool = False

    @abstractmethod
    def answer(self, question: Question, book: CitationBook) -> AsyncGenerator[AnswerEvent, None]:
        """Answer, with everything that was found entered into ``book`` before it is referred to.

        Closing the iterator cancels whatever is under way.

        Raises:
            AnswerError: a service below failed; what was said so far is not an answer.
            KnowledgeBaseError: the index cannot be searched.
        """

    async def close(self) -> None:  # noqa: B027  (most have nothing to close)
        """Give back connections."""
