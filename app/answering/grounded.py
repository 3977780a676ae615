"""Checks an answer against its sources while it is being written."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from app.answering.base import Answerer, Finished, Question, Searched, Text
from app.errors import UpstreamCutShortError
from app.grounding.citations import CitationBook
from app.grounding.stream import Grounder
from app.grounding.support import mark_used
from app.schema import ChatAnswer


class GroundedAnswer:
    """One answer in progress: yields the answerer's events with checked text, and keeps the answer so far."""

    def __init__(self, answerer: Answerer, question: Question, book: CitationBook) -> None:
        self._answerer = answerer
        self._question = question
        self._book = book
        self._grounder = Grounder(book)
        self._pieces: list[str] = []
        self._searches: list[str] = []
        self._finished: Finished | None = None

    async def events(self) -> AsyncGenerator[Searched | Text, None]:
        """Answer once. Closing the generator cancels what is in progress.

        Raises:
            AnswerError: another service failed or stopped in the middle; the text so far is not an answer.
            KnowledgeBaseError: the index cannot be searched.
        """
        async with aclosing(self._answerer.answer(self._question, self._book)) as events:
            async for event in events:
                match event:
                    case Text(delta):
                        if piece := self._grounder.feed(delta):
                            self._pieces.append(piece)
                            yield Text(piece)
                    case Searched(query):
                        self._searches.append(query)
                        yield event
                    case Finished():
                        self._finished = event
        if self._finished is None:
            raise UpstreamCutShortError("the answer was cut off in the middle; ask again")
        if piece := self._grounder.finish():
            self._pieces.append(piece)
            yield Text(piece)

    async def whole(self) -> ChatAnswer:
        """Wait for the complete answer. Raises the errors of :meth:`events`."""
        async with aclosing(self.events()) as events:
            async for _ in events:
                pass
        return self.so_far()

    def so_far(self) -> ChatAnswer:
        """The answer with its citations: complete once :meth:`events` has ended, else the part that was yielded."""
        text = "".join(self._pieces)
        citations = mark_used(text, self._book.citations)
        finished = self._finished
        return ChatAnswer(
            answer=text,
            citations=citations,
            answered_by=self._answerer.answered_by,
            model=self._answerer.model,
            searches=tuple(self._searches),
            usage=finished.usage if finished else None,
            # a model says in words of its own that nothing answers: then it has nothing to refer to
            refused=finished is not None and (finished.refused or not any(citation.used for citation in citations)),
            did_you_mean=finished.did_you_mean if finished else None,
            ask_instead=finished.ask_instead if finished else (),
        )
