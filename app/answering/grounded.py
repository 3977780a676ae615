"""Checks an answer against its sources while it is being written."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress

from app.answering.base import (
    Answerer,
    AskedBack,
    Finished,
    ItemChanged,
    Planned,
    Question,
    Searched,
    Step,
    TextPart,
    ToolEnded,
    ToolStarted,
)
from app.answering.extractive.guidance import follow_ups
from app.answering.extractive.quoting import inline
from app.answering.nearness import Suggesting
from app.answering.planning.manners import is_courtesy
from app.answering.profiles import KNOWLEDGE_BASE
from app.answering.query import continued_questions
from app.errors import AnswerError, NotAcceptedError, UpstreamCutShortError
from app.grounding.citations import CitationBook, ReadingOrder
from app.grounding.clarification import asked_back
from app.grounding.statements import Statement
from app.grounding.stream import Grounder
from app.grounding.support import mark_used
from app.grounding.vouching import Voucher
from app.judging.base import Judge
from app.language.detection import reader_language
from app.language.messages import Messages
from app.schema.answers import ChatAnswer, Clarification, Plan, TokenUsage, ToolUse
from app.schema.passages import Citation
from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.steps.markers import escape_line

_log = logging.getLogger(__name__)


class GroundedAnswer:
    """One answer in progress: yields the answerer's events with checked text, and keeps the answer so far.

    What a model says stands as it was written. Code vouches for its values while it streams, and a judge, where there
    is one, says at the end which statements the passages do not bear out. If the model cannot be reached, the answerer
    that it names for this case speaks instead.

    An answerer that asks back has answered: the question and its options are the text.
    """

    def __init__(self, answerer: Answerer, question: Question, book: CitationBook, *, falls_back: bool = True) -> None:
        """``falls_back``: a model that cannot be reached is replaced; not where the model itself is measured."""
        self._answerer = answerer
        self._falls_back = falls_back
        self._question = question
        self._book = book
        self._say = Messages.of(reader_language(question.text))
        self._reading_order = ReadingOrder()
        suggest = None if (nearness := answerer.nearness) is None else Suggesting(nearness)
        self._voucher = Voucher(book, question.text, self._say, suggest) if answerer.instead else None
        self._final_grounder = Grounder(book, self._reading_order)
        self._grounder = Grounder(book) if self._voucher else self._final_grounder
        self._pieces: list[str] = []
        self._folded: tuple[int, int] | None = None
        self._searches: list[str] = []
        self._is_doubtful = False
        self._plan: Plan | None = None
        self._clarification: Clarification | None = None
        self._finished: Finished | None = None
        self._used: TokenUsage | None = None
        self._doubted: list[str] = []
        self._tools: list[ToolUse] = []

    async def events(self) -> AsyncGenerator[Step | TextPart, None]:
        """Answer once. Closing the generator cancels what is in progress.

        Raises:
            AnswerError: another service failed or stopped in the middle; the text so far is not an answer.
            KnowledgeBaseError: the index cannot be searched.
        """
        # only the complete answer says what is folded: until then nobody should see it
        folded: list[str] = []
        async with aclosing(self._as_they_come()) as events:
            async for event in events:
                if isinstance(event, TextPart) and self._folded:
                    folded.append(event.delta)
                else:
                    yield event
        if folded:
            yield TextPart("".join(folded))

    async def _as_they_come(self) -> AsyncGenerator[Step | TextPart, None]:
        try:
            async with aclosing(self._of_answerer()) as events:
                async for event in events:
                    yield event
        except (NotAcceptedError, UpstreamCutShortError):
            raise
        except AnswerError as exc:
            if self._pieces or self._answerer.instead is None or not self._falls_back:
                raise
            _log.warning("quotations answer in place of the model: %s", exc)
            async with aclosing(self._of_other(self._answerer.instead)) as others:
                async for other in others:
                    yield other
        if (scope := self._question.who.scope) and self.so_far().refused:
            yield self._said("\n\n" + self._say("only_within", scope=escape_line(scope.in_words)))

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
        # a model says in words of its own that nothing answers: then it has nothing to refer to
        cites = any(citation.used for citation in citations) or is_courtesy(text)
        refused = finished is not None and (finished.refused or not cites)
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
            unsupported=(*(self._voucher.unsupported if self._voucher else ()), *self._doubted),
            is_closest=finished is not None and finished.is_closest,
            folded=self._folded,
            plan=self._plan,
            clarification=self._clarification,
            mode=self._question.who.mode or None,
            scope=self._question.who.scope,
            follow_ups=follow_ups(self._question.text, citations) if is_plain else (),
            continues=continued_questions(self._question),
            leans_on=self._book.leans_on,
            tools=tuple(self._tools),
        )

    async def _of_answerer(self) -> AsyncGenerator[Step | TextPart, None]:
        async with aclosing(self._answerer.answer(self._question, self._book)) as events:
            async for event in events:
                match event:
                    case TextPart():
                        if piece := await self._checked(event):
                            yield self._said(self._doubt() + piece)
                    case Searched(query, _, is_doubtful):
                        self._is_doubtful = is_doubtful and (self._is_doubtful or not self._searches)
                        self._searches.append(query)
                        yield event
                    case AskedBack(clarification):
                        self._clarification = clarification
                        yield event
                        yield self._said(self._asked_back(clarification))
                    case Planned(plan):
                        self._plan = plan
                        yield event
                    case ItemChanged(position, status):
                        self._plan = self._plan and self._plan.with_status(position, status)
                        yield event
                    case ToolEnded(_, name, _, error):
                        self._tools.append(ToolUse(name=name, failed=bool(error)))
                        yield event
                    case ToolStarted():
                        yield event
                    case TokenUsage():
                        self._used = event
                    case Finished():
                        self._finished = event
                        self._used = event.usage
        if self._clarification:
            return
        if self._finished is None:
            raise UpstreamCutShortError("the answer was cut off in the middle; ask again")
        if piece := await self._rest():
            yield self._said(self._doubt() + piece)
        if self._voucher and self._answerer.instead and not self._finished.refused:
            if self.so_far().refused:
                with suppress(KnowledgeBaseError):  # the answer is complete without help
                    self._finished = await self._answerer.instead.refused(self._question, self._book)
                    async with aclosing(self._all_the_same(self._answerer.instead)) as quoted:
                        async for text in quoted:
                            yield text
            elif (judge := self._answerer.judge) and (piece := await self._judged(judge, self._voucher.statements)):
                yield self._said(piece)

    async def _of_other(self, answerer: Answerer) -> AsyncGenerator[Step | TextPart, None]:
        """Let the answerer speak that needs no model, because the model cannot be reached."""
        self._voucher, self._grounder = None, self._final_grounder
        self._answerer = answerer
        async with aclosing(self._of_answerer()) as events:
            async for event in events:
                if not isinstance(event, Searched) or event.query not in self._searches[:-1]:
                    yield event

    async def _all_the_same(self, answerer: Answerer) -> AsyncGenerator[TextPart, None]:
        """Quote what the search is sure of, although the model says that nothing answers: a passage may want that."""
        if self._plan or self._question.options.web:
            return
        said: list[TextPart] = []
        async with aclosing(answerer.answer(self._question, self._book)) as events:
            async for event in events:
                match event:
                    case TextPart():
                        said.append(event)
                    case AskedBack() | Finished(refused=True) | Finished(is_closest=True):
                        return
        self._voucher, self._grounder = None, self._final_grounder
        for text in (TextPart(f"\n\n{self._say('model_found_none')}\n\n", is_quoted=True), *said):
            if piece := await self._checked(text):
                yield self._said(piece)
        if piece := await self._rest():
            yield self._said(piece)

    async def _judged(self, judge: Judge, statements: Sequence[Statement]) -> str:
        """Return what the judge says of statements that the passages do not bear out, and count what it used."""
        passages = {c.number: "\n".join((*c.heading_path, c.passage)) for c in self._book.citations}
        from app.model.calls import added

        judged = await judge.judge(self._question.text, statements, passages)
        self._used = added(self._used, judged.usage)
        lines = []
        for statement, verdict in zip(statements, judged.verdicts, strict=True):
            if verdict is None or verdict.kind == "supported":
                continue
            says = f"“{inline(verdict.says)}” [Ref #{verdict.passage}]" if verdict.passage else ""
            verdict_in_words = self._say(verdict.kind, passage=says) if says else self._say("unsupported")
            lines.append(f"- “{statement.text}”: {verdict_in_words}")
            self._doubted.append(statement.text)
        if not lines:
            return ""
        said = "\n\n" + "\n".join((self._say("checked"), "", *lines))
        return self._final_grounder.feed(said, is_quoted=True) + self._final_grounder.finish()

    def _doubt(self) -> str:
        """What stands before a model's answer from passages that the search does not trust."""
        if self._voucher and self._is_doubtful and not self._pieces:
            return f"{self._say('none_answers_clearly')}\n\n"
        return ""

    async def _checked(self, text: TextPart) -> str:
        before = sum(map(len, self._pieces))
        grounded = self._grounder.feed(text.delta, is_quoted=text.is_quoted)
        if self._voucher is None:
            if text.is_folded:
                start = self._folded[0] if self._folded else before
                self._folded = start, before + len(grounded)
            return grounded
        vouched = self._voucher.quote(grounded) if text.is_quoted else await self._vouched(grounded)
        return self._final_grounder.feed(vouched, is_quoted=text.is_quoted)

    async def _vouched(self, grounded: str) -> str:
        # A line without a reference is compared with all passages: nobody else should wait for that.
        return (
            await asyncio.to_thread(self._voucher.feed, grounded)
            if self._voucher and "\n" in grounded
            else (self._voucher.feed(grounded) if self._voucher else grounded)
        )

    async def _rest(self) -> str:
        grounded = self._grounder.finish()
        if self._voucher is None:
            return grounded
        voucher = self._voucher
        vouched = await asyncio.to_thread(lambda: voucher.feed(grounded) + voucher.finish())
        return self._final_grounder.feed(vouched) + self._final_grounder.finish()

    def _asked_back(self, clarification: Clarification) -> str:
        """The question and its options, without addresses that a document's title may hold."""
        grounder = Grounder(self._book)
        return grounder.feed(asked_back(clarification), is_quoted=True) + grounder.finish()

    def _said(self, piece: str) -> TextPart:
        self._pieces.append(piece)
        return TextPart(piece)
