"""Looks a query up on the web for an answer: the passages of pages that it is given, and how likely they answer."""

from collections.abc import Sequence

from app.answering.base import Question, Searched
from app.answering.extractive.selection import Evidence, evidence_of_shared
from app.grounding.citations import CitationBook, WebPassage
from app.grounding.words import parse_question, words
from app.schema import Citation
from app.web.base import WebPage
from app.web.excerpt import excerpt
from app.web.lookup import WebLookup


async def look_up(
    web: WebLookup, query: str, question: Question, book: CitationBook
) -> tuple[Searched, list[Citation], Evidence]:
    """Search the web, and add what the best pages say about the query to the book. Never fails: it finds nothing then.

    The first line of the query is the question, the other lines are earlier questions.
    """
    pages = await web.pages(" ".join(query.split()), conversation=question.conversation)
    citations = book.add_web(_passage(page, query, web.result_characters) for page in pages)
    evidence = evidence_of_shared(_most_shared(query, citations)) if citations else "none"
    return Searched(query, len(citations), evidence in ("unlikely", "none"), on_web=True), citations, evidence


def _passage(page: WebPage, query: str, most: int) -> WebPassage:
    return WebPassage(page.url, page.title, excerpt(page.markdown, query, most), page.fetched_at, page.sha256)


def _most_shared(query: str, citations: Sequence[Citation]) -> float:
    """Return the largest share of the query's words that one of the pages contains."""
    asked = parse_question(query).words
    total = sum(asked.values()) or 1.0
    of_pages = (set(words(f"{citation.title}\n{citation.passage}")) for citation in citations)
    return max(sum(share for word, share in asked.items() if word in here) / total for here in of_pages)
