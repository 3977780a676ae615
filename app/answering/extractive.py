"""Answers without a model: the articles' own sentences, quoted with references and pictures."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace

from app.answering.base import Answerer, AnswerEvent, Finished, Question, Searched, Text
from app.answering.extracted import Found, extracted_answer, illustrating, procedure_wanted
from app.answering.searching import search_for
from app.grounding.asked import asked
from app.grounding.blocks import blocks_of
from app.grounding.citations import CitationBook
from app.grounding.evidence import evidence_of
from app.grounding.procedures import procedure_around
from app.grounding.surroundings import around_with_pictures
from app.principal import Principal
from app.retrieval import Retrieval
from app.schema import Citation
from kb_pipeline.records import SearchHit


class ExtractiveAnswerer(Answerer):
    """One search in the words of the reader; then what stands around: pictures, and the rest of a procedure.

    The same passages give the same answer.
    """

    answered_by = "extractive"

    def __init__(self, retrieval: Retrieval) -> None:
        """Say where to search."""
        self._retrieval = retrieval

    async def answer(self, question: Question, book: CitationBook) -> AsyncGenerator[AnswerEvent, None]:
        """Answer; see the base class."""
        query, hits = await search_for(question, self._retrieval)
        yield Searched(query, len(hits))
        found = await asyncio.to_thread(_found, query, hits, book)
        if found.best:
            around = await self._retrieval.sections([hit.chunk for hit in hits], question.who)
            found = await asyncio.to_thread(_with_pictures, found, hits, around, book)
        wanted = procedure_wanted(found)
        procedure = await self._procedure(wanted, hits, question.who, book) if wanted else []
        for piece in await asyncio.to_thread(_pieces, found, procedure):
            yield Text(piece)
        yield Finished()

    async def _procedure(
        self, citation: Citation, hits: Sequence[SearchHit], who: Principal, book: CitationBook
    ) -> list[Citation]:
        """The passages with the text of the procedure that a passage is a part of, in order, entered into the book."""
        chunk = next(hit.chunk for hit in hits if hit.chunk.id == citation.chunk_id)
        section = {hit.chunk.id: hit for hit in await self._retrieval.sections([chunk], who)}
        parts = await asyncio.to_thread(procedure_around, chunk.id, CitationBook().add(section.values()))
        return book.add([section[part.chunk_id] for part in parts if blocks_of(part)])


def _found(query: str, hits: Sequence[SearchHit], book: CitationBook) -> Found:
    wanted = asked(query)
    return Found.of(wanted, book.add(hits), evidence_of(wanted, hits))


def _with_pictures(found: Found, hits: Sequence[SearchHit], around: Sequence[SearchHit], book: CitationBook) -> Found:
    """With those passages around the found ones, entered into the book, whose pictures belong to the answer."""
    illustrated = {hit.chunk.id: hit for hit in around_with_pictures(hits, around)}
    chosen = illustrating(found, CitationBook().add(illustrated.values()))
    return replace(found, beside=tuple(book.add([illustrated[citation.chunk_id] for citation in chosen])))


def _pieces(found: Found, procedure: Sequence[Citation]) -> list[str]:
    pieces = list(extracted_answer(found, procedure))
    return [piece + "\n\n" for piece in pieces[:-1]] + pieces[-1:]
