"""The answerer without a model: quotes the articles' own sentences, with references and pictures."""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Sequence

from app.answering.base import Answerer, AnswerEvent, Finished, Question, Searched, Text
from app.answering.extractive.answer import MADE_OF_QUOTATIONS, SearchOutcome, extracted_answer, refusal
from app.answering.extractive.guidance import guide
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
        if not outcome.ranked:
            guidance = await guide(question, outcome.evidence, outcome.citations, self._retrieval, self._articles)
            for piece in _separated(refusal(outcome, guidance)):
                yield Text(piece, is_quoted=True)
            yield Finished(refused=True, did_you_mean=guidance.did_you_mean, ask_instead=guidance.ask_instead)
            return
        for piece in await asyncio.to_thread(_pieces, outcome, self._remark):
            yield Text(piece, is_quoted=True)
        yield Finished()


def _outcome(query: str, hits: Sequence[SearchHit], book: CitationBook) -> SearchOutcome:
    question = parse_question(query)
    return SearchOutcome.of(question, book.add(hits), evidence_of(question, hits))


def _pieces(outcome: SearchOutcome, remark: str) -> list[str]:
    return _separated(extracted_answer(outcome, remark))


def _separated(markdown: Iterable[str]) -> list[str]:
    """Put blank lines between pieces of markdown."""
    pieces = list(markdown)
    return [piece + "\n\n" for piece in pieces[:-1]] + pieces[-1:]
