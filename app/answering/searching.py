"""Searches for an answer: a question in the words of its reader, and what stands around what was found."""

import asyncio
from collections.abc import Sequence

from app.answering.base import Question
from app.answering.query import believed, search_queries
from app.grounding.citations import CitationBook
from app.grounding.surroundings import neighbours
from app.principal import Principal
from app.retrieval import Retrieval
from app.schema import Citation
from kb_pipeline.records import SearchHit


async def search_for(question: Question, retrieval: Retrieval) -> tuple[str, list[SearchHit]]:
    """What was looked up, and the passages that were found: best first, as many as were asked for.

    Raises:
        KnowledgeBaseError: the index cannot be searched.
    """
    queries = search_queries(question)
    searches = (retrieval.search(query, question.who, top=question.top) for query in queries)
    alone, *together = await asyncio.gather(*searches)
    if together and believed(alone, together[0]):
        return queries[1], together[0]
    return queries[0], alone


async def read_around(
    hits: Sequence[SearchHit], who: Principal, retrieval: Retrieval, book: CitationBook
) -> list[Citation]:
    """The citations of these hits, and of what this person may see right beside them, entered into the book.

    Raises:
        KnowledgeBaseError: the index cannot be searched.
    """
    found = book.add(hits)
    sections = await retrieval.sections([hit.chunk for hit in hits], who)
    return [*found, *book.add_neighbours(neighbours(hits, sections))]
