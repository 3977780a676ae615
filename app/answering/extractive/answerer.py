"""The answerer without a model: quotes the articles' own sentences, with references and pictures."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING

from app.answering.base import Answerer, AnswerEvent, Finished, Question, Searched, TextPart
from app.answering.confidence import Evidence, evidence_of
from app.answering.extractive.answer import quoted_answer, refusal
from app.answering.extractive.choosing import Quotable, answering_first, best_lead, named_first, quotable
from app.answering.extractive.guidance import Guidance, guide
from app.answering.nearness import nearness_of
from app.answering.query import search_for
from app.grounding.citations import CitationBook
from app.language.detection import reader_language
from app.language.messages import Messages
from app.library.articles import Articles
from app.library.retrieval import Retrieval
from app.schema.passages import Citation
from kb_pipeline.records import SearchHit

if TYPE_CHECKING:
    from app.web.lookup import WebLookup


class ExtractiveAnswerer(Answerer):
    """One search in the reader's words. The same passages always give the same answer."""

    answered_by = "extractive"

    def __init__(
        self,
        retrieval: Retrieval,
        articles: Articles,
        remark: str = "made_of_quotations",
        web: "WebLookup | None" = None,
    ) -> None:
        """``remark`` is the message that ends each answer that quotes, and says why it is made of quotations.

        ``web`` is offered where nothing answers, and searched only for an asker who wants it.
        """
        self._retrieval = retrieval
        self._articles = articles
        self._remark = remark
        self._web = web

    async def answer(self, question: Question, book: CitationBook) -> AsyncGenerator[AnswerEvent, None]:
        if question.options.web and self._web:
            from app.answering.extractive.web import answer_from_web

            nearness = nearness_of(self._retrieval.reader().embedder)
            say = Messages.of(reader_language(question.text))
            async with aclosing(answer_from_web(question, self._web, book, nearness, say)) as events:
                async for event in events:
                    yield event
            return
        query, hits = await search_for(question, self._retrieval)
        async with aclosing(self.answer_from(question, query, hits, book)) as events:
            async for event in events:
                yield event

    async def answer_from(
        self, question: Question, query: str, hits: Sequence[SearchHit], book: CitationBook
    ) -> AsyncGenerator[AnswerEvent, None]:
        """Yield the events of an answer from the hits of a search, which it does not repeat. Raises like an answer."""
        say = Messages.of(reader_language(question.text, (hit.chunk.content for hit in hits)))
        evidence = evidence_of(query, hits)
        yield Searched(query, len(hits), evidence in ("unlikely", "nothing"))
        guidance = Guidance()
        if evidence != "answers":
            guidance = await self._guidance(question, evidence, hits, book, say)
        if respelt := guidance.did_you_mean:
            async with aclosing(self._respelt(question, respelt, book, say)) as events:
                async for event in events:
                    yield event
            return
        citations = answering_first(named_first(query, book.add(hits)))
        is_sure = evidence == "answers"
        quoted = None if evidence == "nothing" else await self._quotable(query, citations, book, is_sure=is_sure)
        if quoted is None or guidance.language_note:
            yield TextPart(refusal(guidance, say), is_quoted=True)
            yield self._refused(question, guidance)
            return
        closest = "" if is_sure else say("closest")
        for text in quoted_answer(quoted, say, say(self._remark), closest):
            yield text
        yield Finished(is_closest=bool(closest))

    async def refused(self, question: Question, book: CitationBook) -> Finished:
        say = Messages.of(reader_language(question.text))
        return self._refused(question, await self._guidance(question, None, (), book, say))

    async def _respelt(
        self, question: Question, respelt: str, book: CitationBook, say: Messages
    ) -> AsyncGenerator[AnswerEvent, None]:
        """Answer the question in its right spelling, which has an answer."""
        yield TextPart(f"{say('corrected', question=f'*{respelt}*')}\n\n", is_quoted=True)
        again = replace(question, text=respelt)
        query, hits = await search_for(again, self._retrieval)
        async with aclosing(self.answer_from(again, query, hits, book)) as events:
            async for event in events:
                yield event

    async def _quotable(
        self, query: str, citations: Sequence[Citation], book: CitationBook, *, is_sure: bool
    ) -> Quotable | None:
        nearness = await asyncio.to_thread(lambda: nearness_of(self._retrieval.reader().embedder))
        lead = await asyncio.to_thread(best_lead, query, citations, nearness)
        if lead is None:
            return None
        best = lead.citation
        section = book.add(await self._retrieval.section(best.article_id, best.chunk_id)) or [best]
        return await asyncio.to_thread(quotable, query, lead, citations, section, nearness, is_sure=is_sure)

    def _refused(self, question: Question, guidance: Guidance) -> Finished:
        offers_web = self._web.name if self._web and not question.options.web else None
        return Finished(
            refused=True, did_you_mean=guidance.did_you_mean, ask_instead=guidance.ask_instead, offers_web=offers_web
        )

    async def _guidance(
        self,
        question: Question,
        evidence: Evidence | None,
        hits: Sequence[SearchHit],
        book: CitationBook,
        say: Messages,
    ) -> Guidance:
        guidance = await guide(question, evidence, hits, self._retrieval, self._articles, say)
        book.lean_on(guidance.leans_on)
        return guidance
