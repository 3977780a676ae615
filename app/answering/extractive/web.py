"""The answer without a model from the web, which is only given where the asker wants it: pages are quoted."""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence

from app.answering.base import AnswerEvent, Finished, Question, TextPart
from app.answering.confidence import Evidence
from app.answering.extractive.answer import pages_to_read, quoted_answer
from app.answering.extractive.choosing import best_lead, quotable
from app.answering.nearness import Nearness
from app.answering.on_web import look_up
from app.answering.query import search_queries
from app.grounding.citations import CitationBook
from app.language.messages import Messages
from app.schema.passages import Citation
from app.web.lookup import WebLookup


async def answer_from_web(
    question: Question, web: WebLookup, book: CitationBook, nearness: Nearness, say: Messages
) -> AsyncGenerator[AnswerEvent, None]:
    """Yield the events of an answer that quotes pages of the web, or that says that none was found."""
    query = search_queries(question)[0]
    [looked_up] = await look_up(web, [query], question)
    searched, citations = looked_up.cite(book)
    yield searched
    texts = _quoted if citations and not searched.is_doubtful else _not_found
    for text in await asyncio.to_thread(
        lambda: list(texts(query, citations, looked_up.evidence, nearness, say, web.name))
    ):
        yield text
    yield Finished(refused=searched.is_doubtful)


def _quoted(
    query: str, citations: Sequence[Citation], evidence: Evidence, nearness: Nearness, say: Messages, name: str
) -> Iterator[TextPart]:
    lead = best_lead(query, citations, nearness)
    if lead is None:
        yield from _not_found(query, citations, evidence, nearness, say, name)
        return
    is_sure = evidence == "answers"
    quoted = quotable(query, lead, citations, [lead.citation], nearness, is_sure=is_sure)
    closest = "" if is_sure else say("no_page_answers")
    yield from quoted_answer(quoted, say, say("quoted_from_web"), closest)


def _not_found(
    query: str, citations: Sequence[Citation], evidence: Evidence, nearness: Nearness, say: Messages, name: str
) -> Iterator[TextPart]:
    yield TextPart(say("nothing_on_web", name=name), is_quoted=True)
    if citations:
        yield TextPart(f"\n\n{''.join(pages_to_read(citations, say))}", is_quoted=True)
