"""The answerer without a model: quotes the articles' own sentences, with references and pictures."""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING

from app.answering.base import Answerer, AnswerEvent, Finished, Question, Searched, Text
from app.answering.comparisons import comparison_of
from app.answering.extractive.answer import (
    MADE_OF_QUOTATIONS,
    SearchOutcome,
    compared_answer,
    extracted_answer,
    hints,
    is_compared,
    refusal,
)
from app.answering.extractive.comparison import HITS_OF_A_SIDE, Side, explained_together, quoted_side
from app.answering.extractive.guidance import Guidance, guide
from app.answering.extractive.procedures import whole_procedure
from app.answering.extractive.selection import Evidence, evidence_of
from app.answering.query import limits_of, search_for
from app.answering.unmentioned import with_unmentioned
from app.articles import Articles
from app.grounding.citations import CitationBook
from app.grounding.words import parse_question
from app.retrieval import Retrieval
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
        remark: str = MADE_OF_QUOTATIONS,
        web: "WebLookup | None" = None,
    ) -> None:
        """``remark`` ends each answer that quotes, and says why it is made of quotations.

        ``web`` is offered where nothing answers, and searched only for an asker who wants it.
        """
        self._retrieval = retrieval
        self._articles = articles
        self._remark = remark
        self._web = web

    async def answer(self, question: Question, book: CitationBook) -> AsyncGenerator[AnswerEvent, None]:
        if question.on_web and self._web:
            from app.answering.extractive.web import answer_from_web

            async with aclosing(answer_from_web(question, self._web, book)) as events:
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
        yield Searched(query, len(hits))
        comparison = comparison_of(question.text)
        evidence, names = evidence_of(parse_question(query), hits), list[str]()
        if not comparison and evidence != "none":  # what a comparison's side is called is said beside it
            evidence, names = await with_unmentioned(evidence, question.text, hits, question.who, self._retrieval)
        if question.is_unlikely and evidence == "weak":
            evidence = "unlikely"
        outcome = await asyncio.to_thread(_outcome, query, hits, book, evidence)
        sides: list[Side] = []
        if comparison:
            if together := explained_together(comparison, outcome.ranked):
                outcome = outcome.led_by(together)
            else:
                queries = [comparison.query(side) for side in comparison.sides]
                limits = limits_of(question)
                searches = (
                    self._retrieval.search(each, question.who, top=HITS_OF_A_SIDE, filters=limits) for each in queries
                )
                for side, each, found in zip(comparison.sides, queries, await asyncio.gather(*searches), strict=True):
                    yield Searched(each, len(found))
                    sides.append(await asyncio.to_thread(quoted_side, comparison, side, found, book))
        if outcome.evidence == "weak" and sides and not is_compared(outcome, sides):
            outcome = replace(outcome, evidence="unlikely", ranked=(), procedure=())  # about none of what it compares
        if not outcome.ranked and not is_compared(outcome, sides):
            guidance = await self._guidance(question, outcome.evidence, outcome.citations, book)
            for piece in _separated(refusal(outcome, guidance, names)):
                yield Text(piece, is_quoted=True)
            yield self._refused(question, guidance)
            return
        guidance = Guidance()
        if outcome.evidence == "weak":
            guidance = await self._guidance(question, "weak", outcome.citations, book)
        if outcome.procedure:
            first = outcome.procedure[0].citation
            section = await self._retrieval.section(first.article_id, first.chunk_id)
            outcome = replace(outcome, procedure=tuple(whole_procedure(outcome.procedure, section, book)))
        for piece in await asyncio.to_thread(_pieces, outcome, sides, guidance, self._remark):
            yield Text(piece, is_quoted=True)
        yield Finished(did_you_mean=guidance.did_you_mean)

    async def refused(self, question: Question, book: CitationBook) -> Finished:
        return self._refused(question, await self._guidance(question, None, book.citations, book))

    def _refused(self, question: Question, guidance: Guidance) -> Finished:
        offers_web = self._web.name if self._web and not question.on_web else None
        return Finished(
            refused=True, did_you_mean=guidance.did_you_mean, ask_instead=guidance.ask_instead, offers_web=offers_web
        )

    async def _guidance(
        self, question: Question, evidence: Evidence | None, citations: Sequence[Citation], book: CitationBook
    ) -> Guidance:
        guidance = await guide(question, evidence, citations, self._retrieval, self._articles)
        book.lean_on(guidance.leans_on)
        return guidance


def _outcome(query: str, hits: Sequence[SearchHit], book: CitationBook, evidence: Evidence) -> SearchOutcome:
    return SearchOutcome.of(parse_question(query), book.add(hits), evidence)


def _pieces(outcome: SearchOutcome, sides: Sequence[Side], guidance: Guidance, remark: str) -> list[str]:
    compares = is_compared(outcome, sides)
    answer = compared_answer(outcome, sides, remark) if compares else extracted_answer(outcome, remark)
    return _separated((*hints(guidance), *answer))


def _separated(markdown: Iterable[str]) -> list[str]:
    """Put blank lines between pieces of markdown."""
    pieces = list(markdown)
    return [piece + "\n\n" for piece in pieces[:-1]] + pieces[-1:]
