"""Checks an answer against its sources while it is being written."""

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, suppress
from dataclasses import replace

from app.agents import KNOWLEDGE_BASE
from app.answering.base import (
    Answerer,
    Asked,
    Finished,
    ItemChanged,
    Planned,
    Question,
    Searched,
    Step,
    Text,
    ToolEnded,
    ToolStarted,
    Used,
)
from app.answering.extractive.guidance import follow_ups
from app.answering.query import continued_questions
from app.answering.unmentioned import names_beyond
from app.errors import UpstreamCutShortError
from app.grounding.attribution import Attributor
from app.grounding.citations import CitationBook, ReadingOrder
from app.grounding.clarification import asked_back
from app.grounding.stream import Grounder
from app.grounding.support import mark_used
from app.schema.answers import ChatAnswer, Clarification, Plan, TokenUsage
from app.schema.passages import Citation
from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.steps.markers import escape_line

ONLY_WITHIN = "Only documents of {} were searched. Ask everywhere to search the others as well."
ALL_THE_SAME = "The language model found no answer. These passages were found all the same:"
NOT_IN_THE_ARTICLES = "Most of the above is not in the articles."


class GroundedAnswer:
    """One answer in progress: yields the answerer's events with checked text, and keeps the answer so far.

    If passages do not bear out what a model says, its answer ends, and the answerer that it names for this case speaks
    instead. When that is clear from the first statements on, readers have seen none of them; otherwise a sentence
    leads from the one to the other, because what was streamed cannot be taken back.

    An answerer that asks back has answered: the question and its options are the text.
    """

    def __init__(self, answerer: Answerer, question: Question, book: CitationBook) -> None:
        self._answerer = answerer
        self._question = question
        self._book = book
        self._reading_order = ReadingOrder()
        self._attributor = Attributor(book, question.text) if answerer.instead else None
        self._final_grounder = Grounder(book, self._reading_order)
        self._grounder = Grounder(book) if self._attributor else self._final_grounder
        self._pieces: list[str] = []
        self._searches: list[str] = []
        self._plan: Plan | None = None
        self._clarification: Clarification | None = None
        self._finished: Finished | None = None
        self._used: TokenUsage | None = None
        self._withdrawn = False

    async def events(self) -> AsyncGenerator[Step | Text, None]:
        """Answer once. Closing the generator cancels what is in progress.

        Raises:
            AnswerError: another service failed or stopped in the middle; the text so far is not an answer.
            KnowledgeBaseError: the index cannot be searched.
        """
        async with aclosing(self._answerer.answer(self._question, self._book)) as events:
            async for event in events:
                match event:
                    case Text(delta, is_quoted):
                        if piece := self._checked(delta, is_quoted=is_quoted):
                            yield self._said(piece)
                        if self._attributor and self._attributor.given_up:
                            break
                    case Searched(query, _, is_doubtful):
                        if self._attributor:
                            self._attributor.is_doubtful = is_doubtful and (
                                self._attributor.is_doubtful or not self._searches
                            )
                        self._searches.append(query)
                        yield event
                    case Asked(clarification):
                        self._clarification = clarification
                        yield event
                        yield self._said(self._asked_back(clarification))
                    case Planned(plan):
                        self._plan = plan
                        yield event
                    case ItemChanged(position, status):
                        self._plan = self._plan and self._plan.with_status(position, status)
                        yield event
                    case ToolStarted() | ToolEnded():
                        yield event
                    case Used(usage):
                        self._used = usage
                    case Finished():
                        self._finished = event
                        self._used = event.usage
        if self._clarification:
            return
        if self._finished is None and not (self._attributor and self._attributor.given_up):
            raise UpstreamCutShortError("the answer was cut off in the middle; ask again")
        if piece := self._rest():
            yield self._said(piece)
        if self._answerer.instead and self._attributor and self._attributor.needs_another:
            self._withdrawn = True
            for change in self._given_up():
                yield change
            async with aclosing(self._instead(self._answerer.instead)) as others:
                async for other in others:
                    yield other
        elif self._answerer.instead and self._finished and not self._finished.refused and self.so_far().refused:
            with suppress(KnowledgeBaseError):  # the answer is complete without help
                self._finished = await self._answerer.instead.refused(self._question, self._book)
                async with aclosing(self._all_the_same(self._answerer.instead)) as quoted:
                    async for other in quoted:
                        yield other
        if (scope := self._question.who.scope) and self.so_far().refused:
            yield self._said(f"\n\n{ONLY_WITHIN.format(escape_line(scope.in_words))}")

    async def whole(self) -> ChatAnswer:
        """Wait for the complete answer. Raises the errors of :meth:`events`."""
        async with aclosing(self.events()) as events:
            async for _ in events:
                pass
        return self.so_far()

    def citations(self) -> tuple[Citation, ...]:
        """The passages so far, under the numbers by which the text refers to them."""
        return self._reading_order.of(self._book.citations)

    def so_far(self) -> ChatAnswer:
        """The answer with its citations: complete once :meth:`events` has ended, else the part that was yielded."""
        text = "".join(self._pieces)
        citations = mark_used(text, self.citations(), self._question.text)
        finished = self._finished
        profile = self._question.profile
        shown = self._attributor is not None and not self._attributor.withdrawn
        # a model says in words of its own that nothing answers: then it has nothing to refer to
        refused = finished is not None and (finished.refused or not any(citation.used for citation in citations))
        is_plain = finished is not None and not (refused or self._plan or self._clarification)
        return ChatAnswer(
            answer=text,
            citations=citations,
            answered_by=self._answerer.answered_by,
            model=self._answerer.model,
            prompt_version=self._answerer.prompt_version,
            profile=profile.name if self._answerer.model and profile is not KNOWLEDGE_BASE else None,
            searches=tuple(self._searches),
            usage=self._used,
            refused=refused and self._clarification is None,
            did_you_mean=finished.did_you_mean if finished else None,
            ask_instead=finished.ask_instead if finished else (),
            offers_web=finished.offers_web if finished else None,
            unsupported=tuple(self._attributor.not_borne_out) if self._attributor and shown else (),
            withdrawn=self._withdrawn,
            plan=self._plan,
            clarification=self._clarification,
            mode=self._question.who.mode or None,
            scope=self._question.who.scope,
            follow_ups=follow_ups(self._question.text, citations) if is_plain else (),
            continues=continued_questions(self._question),
            leans_on=self._book.leans_on,
        )

    async def _all_the_same(self, answerer: Answerer) -> AsyncGenerator[Text, None]:
        """Quote what clearly answers although the model says that nothing does: a passage may have told it to."""
        if self._plan or self._question.on_web:
            return
        said: list[Text] = []
        async with aclosing(answerer.answer(replace(self._question, is_unlikely=True), self._book)) as events:
            async for event in events:
                match event:
                    case Text():
                        said.append(event)
                    case Asked() | Finished(refused=True):
                        return
        grounder = Grounder(self._book, self._reading_order)
        yield self._said(f"\n\n{ALL_THE_SAME}\n\n")
        for text in said:
            if piece := grounder.feed(text.delta, is_quoted=True):
                yield self._said(piece)
        if piece := grounder.finish():
            yield self._said(piece)

    def _checked(self, delta: str, *, is_quoted: bool) -> str:
        grounded = self._grounder.feed(delta, is_quoted=is_quoted)
        if self._attributor is None:
            return grounded
        attribute = self._attributor.quote if is_quoted else self._attributor.feed
        return self._final_grounder.feed(attribute(grounded), is_quoted=is_quoted)

    def _rest(self) -> str:
        grounded = self._grounder.finish()
        if self._attributor is None:
            return grounded
        attributed = self._attributor.feed(grounded) + self._attributor.finish()
        return self._final_grounder.feed(attributed) + self._final_grounder.finish()

    def _asked_back(self, clarification: Clarification) -> str:
        """The question and its options, without addresses that a document's title may hold."""
        grounder = Grounder(self._book)
        return grounder.feed(asked_back(clarification)) + grounder.finish()

    def _given_up(self) -> Iterator[ItemChanged]:
        """The items of the plan that were in progress when the model was stopped have failed."""
        for item in self._plan.items if self._plan else ():
            if self._plan and item.status == "IN_PROGRESS":
                self._plan = self._plan.with_status(item.position, "FAILED")
                yield ItemChanged(item.position, "FAILED")

    def _said(self, piece: str) -> Text:
        self._pieces.append(piece)
        return Text(piece)

    async def _instead(self, answerer: Answerer) -> AsyncGenerator[Step | Text, None]:
        """Let another answerer speak, after a sentence that says why if anything was said before.

        A model invents most where passages are near to a question about something else that only its name shows.
        """
        is_unlikely = bool(names_beyond(self._book.citations, self._question.text))
        question = replace(self._question, is_unlikely=is_unlikely)
        grounder = Grounder(self._book, self._reading_order)
        if self._pieces:
            yield self._said(f"\n\n{NOT_IN_THE_ARTICLES}\n\n")
        async with aclosing(answerer.answer(question, self._book)) as events:
            async for event in events:
                match event:
                    case Text(delta, is_quoted):
                        if piece := grounder.feed(delta, is_quoted=is_quoted):
                            yield self._said(piece)
                    case Searched(query):
                        if query not in self._searches:
                            self._searches.append(query)
                            yield event
                    case Finished():
                        self._finished = event
        if piece := grounder.finish():
            yield self._said(piece)
