"""The answerer without a model: quotes the articles' own sentences, with references and pictures."""

import asyncio
from collections.abc import AsyncGenerator, Sequence

from app.answering.base import Answerer, AnswerEvent, Finished, Question, Searched, Text
from app.answering.extractive.answer import SearchOutcome, extracted_answer
from app.answering.extractive.selection import evidence_of
from app.answering.query import search_for
from app.grounding.citations import CitationBook
from app.grounding.words import parse_question
from app.retrieval import Retrieval
from kb_pipeline.records import SearchHit


class ExtractiveAnswerer(Answerer):
    """One search in the reader's words. The same passages always give the same answer."""

    answered_by = "extractive"

    def __init__(self, retrieval: Retrieval) -> None:
        self._retrieval = retrieval

    async def answer(self, question: Question, book: CitationBook) -> AsyncGenerator[AnswerEvent, None]:
        query, hits = await search_for(question, self._retrieval)
        yield Searched(query, len(hits))
        for piece in await asyncio.to_thread(_pieces, query, hits, book):
            yield Text(piece)
        yield Finished(refused=outcome.best is None)


def _pieces(query: str, hits: Sequence[SearchHit], book: CitationBook) -> list[str]:
    question = parse_question(query)
    outcome = SearchOutcome.of(question, book.add(hits), evidence_of(question, hits))
    pieces = list(extracted_answer(outcome))
    return [piece + "\n\n" for piece in pieces[:-1]] + pieces[-1:]
