"""The answerer without a model: quotes the articles' own sentences, with references and pictures."""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Sequence
from dataclasses import replace

from app.answering.base import Answerer, AnswerEvent, Finished, Question, Searched, Text
from app.answering.comparisons import comparison_of
from app.answering.extractive.answer import (
    MADE_OF_QUOTATIONS,
    SearchOutcome,
    compared_answer,
    extracted_answer,
    is_compared,
    refusal,
)
from app.answering.extractive.comparison import HITS_OF_A_SIDE, Side, explained_together, quoted_side
from app.answering.extractive.guidance import guide
from app.answering.extractive.procedures import whole_procedure
from app.answering.extractive.selection import evidence_of
from app.answering.query import search_for
from app.articles import Articles
from app.grounding.citations import CitationBook
from app.grounding.words import parse_question
from app.retrieval import Retrieval
from kb_pipeline.records import SearchHit


class ExtractiveAnswerer(Answerer):
    """One search in the reader's words. The same passages always give the same answer."""

    answered_by = "extractive"

    def __init__(self, retrieval: Retrieval, articles: Articles, remark: str = MADE_OF_QUOTATIONS) -> None:
        """``remark`` ends each answer that quotes, and says why it is made of quotations."""
        self._retrieval = retrieval
        self._articles = articles
        self._remark = remark

    async def answer(self, question: Question, book: CitationBook) -> AsyncGenerator[AnswerEvent, None]:
        query, hits = await search_for(question, self._retrieval)
        yield Searched(query, len(hits))
        outcome = await asyncio.to_thread(_outcome, query, hits, book)
        sides: list[Side] = []
        if comparison := comparison_of(question.text):
            if together := explained_together(comparison, outcome.ranked):
                outcome = outcome.led_by(together)
            else:
                queries = [comparison.query(side) for side in comparison.sides]
                searches = (self._retrieval.search(each, question.who, top=HITS_OF_A_SIDE) for each in queries)
                for side, each, found in zip(comparison.sides, queries, await asyncio.gather(*searches), strict=True):
                    yield Searched(each, len(found))
                    sides.append(await asyncio.to_thread(quoted_side, comparison, side, found, book))
        if outcome.evidence == "weak" and sides and not is_compared(outcome, sides):
            outcome = replace(outcome, evidence="unlikely", ranked=(), procedure=())  # about none of what it compares
        if not outcome.ranked and not is_compared(outcome, sides):
            guidance = await guide(question, outcome.evidence, outcome.citations, self._retrieval, self._articles)
            for piece in _separated(refusal(outcome, guidance)):
                yield Text(piece, is_quoted=True)
            yield Finished(refused=True, did_you_mean=guidance.did_you_mean, ask_instead=guidance.ask_instead)
            return
        if outcome.procedure:
            first = outcome.procedure[0].citation
            section = await self._retrieval.section(first.article_id, first.chunk_id)
            outcome = replace(outcome, procedure=tuple(whole_procedure(outcome.procedure, section, book)))
        for piece in await asyncio.to_thread(_pieces, outcome, sides, self._remark):
            yield Text(piece, is_quoted=True)
        yield Finished()


def _outcome(query: str, hits: Sequence[SearchHit], book: CitationBook) -> SearchOutcome:
    question = parse_question(query)
    return SearchOutcome.of(question, book.add(hits), evidence_of(question, hits))


def _pieces(outcome: SearchOutcome, sides: Sequence[Side], remark: str) -> list[str]:
    compares = is_compared(outcome, sides)
    return _separated(compared_answer(outcome, sides, remark) if compares else extracted_answer(outcome, remark))


def _separated(markdown: Iterable[str]) -> list[str]:
    """Put blank lines between pieces of markdown."""
    pieces = list(markdown)
    return [piece + "\n\n" for piece in pieces[:-1]] + pieces[-1:]
