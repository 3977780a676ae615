"""The answerer without a model: quotes the articles' own sentences, with references and pictures."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace

from app.answering.base import Answerer, AnswerEvent, Finished, Question, Searched, Text
from app.answering.extractive.answer import SearchOutcome, extracted_answer, find_procedure, select_figures
from app.answering.extractive.blocks import blocks_of
from app.answering.extractive.selection import evidence_of, procedure_around
from app.answering.query import search_for
from app.grounding.citations import CitationBook
from app.grounding.surroundings import around_with_pictures
from app.grounding.words import parse_question
from app.principal import Principal
from app.retrieval import Retrieval
from app.schema import Citation
from kb_pipeline.records import SearchHit


class ExtractiveAnswerer(Answerer):
    """One search in the reader's words; then the pictures around the hits, and the rest of a procedure.

    The same passages always give the same answer.
    """

    answered_by = "extractive"

    def __init__(self, retrieval: Retrieval) -> None:
        self._retrieval = retrieval

    async def answer(self, question: Question, book: CitationBook) -> AsyncGenerator[AnswerEvent, None]:
        query, hits = await search_for(question, self._retrieval)
        yield Searched(query, len(hits))
        outcome = await asyncio.to_thread(_outcome, query, hits, book)
        if outcome.best:
            around = await self._retrieval.sections([hit.chunk for hit in hits], question.who)
            outcome = await asyncio.to_thread(_with_pictures, outcome, hits, around, book)
        part = find_procedure(outcome)
        procedure = await self._procedure(part, hits, question.who, book) if part else []
        for piece in await asyncio.to_thread(_pieces, outcome, procedure):
            yield Text(piece)
        yield Finished()

    async def _procedure(
        self, part: Citation, hits: Sequence[SearchHit], who: Principal, book: CitationBook
    ) -> list[Citation]:
        """Add the passages with text of the procedure around ``part`` to the book, and return them in order."""
        chunk = next(hit.chunk for hit in hits if hit.chunk.id == part.chunk_id)
        section = {hit.chunk.id: hit for hit in await self._retrieval.sections([chunk], who)}
        parts = await asyncio.to_thread(procedure_around, chunk.id, CitationBook().add(section.values()))
        return book.add([section[part.chunk_id] for part in parts if blocks_of(part)])


def _outcome(query: str, hits: Sequence[SearchHit], book: CitationBook) -> SearchOutcome:
    question = parse_question(query)
    return SearchOutcome.of(question, book.add(hits), evidence_of(question, hits))


def _with_pictures(
    outcome: SearchOutcome, hits: Sequence[SearchHit], around: Sequence[SearchHit], book: CitationBook
) -> SearchOutcome:
    """Add the passages around the hits whose pictures belong to the answer, to the outcome and to the book."""
    candidates = {hit.chunk.id: hit for hit in around_with_pictures(hits, around)}
    chosen = select_figures(outcome, CitationBook().add(candidates.values()))
    return replace(outcome, beside=tuple(book.add([candidates[citation.chunk_id] for citation in chosen])))


def _pieces(outcome: SearchOutcome, procedure: Sequence[Citation]) -> list[str]:
    pieces = list(extracted_answer(outcome, procedure))
    return [piece + "\n\n" for piece in pieces[:-1]] + pieces[-1:]
