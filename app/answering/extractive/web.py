"""The answer without a model from the web, which is only given where the asker wants it: pages are quoted."""

import asyncio
from collections.abc import AsyncGenerator, Iterator

from app.answering.base import AnswerEvent, Finished, Question, Text
from app.answering.extractive.answer import SearchOutcome, extracted_answer, pages_to_read
from app.answering.extractive.selection import Evidence
from app.answering.on_web import look_up
from app.answering.query import search_queries
from app.grounding.citations import CitationBook
from app.grounding.words import parse_question
from app.schema.passages import Citation
from app.web.lookup import WebLookup

QUOTED_FROM_THE_WEB = "*Quoted from pages of the web word for word; they are not part of this knowledge base.*"
CLOSEST_PAGE = "No page says this in so many words. The closest:"


async def answer_from_web(question: Question, web: WebLookup, book: CitationBook) -> AsyncGenerator[AnswerEvent, None]:
    """Yield the events of an answer that quotes pages of the web, or that says that none was found."""
    query = search_queries(question)[0]
    [looked_up] = await look_up(web, [query], question)
    searched, citations = looked_up.cite(book)
    yield searched
    pieces = await asyncio.to_thread(lambda: list(_pieces(query, citations, looked_up.evidence, web.name)))
    for at, piece in enumerate(pieces):
        yield Text(piece if at == len(pieces) - 1 else f"{piece}\n\n", is_quoted=True)
    yield Finished(refused=searched.is_doubtful)


def _pieces(query: str, citations: list[Citation], evidence: Evidence, name: str) -> Iterator[str]:
    outcome = SearchOutcome.of(parse_question(query), citations, evidence)
    if outcome.ranked:
        yield from extracted_answer(outcome, QUOTED_FROM_THE_WEB, CLOSEST_PAGE)
        return
    yield f"Nothing that answers this was found in {name}."
    if citations:
        yield from pages_to_read(citations)
