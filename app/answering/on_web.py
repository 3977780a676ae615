"""Looks queries up on the web for an answer: the passages of pages that it is given, and how likely they answer."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from app.answering.base import Question, Searched
from app.answering.confidence import Evidence, evidence_of_shared, shared_words
from app.grounding.citations import CitationBook, WebPassage
from app.schema.passages import Citation
from app.web.excerpt import excerpt
from app.web.lookup import SHOWN_CHARACTERS, WebLookup


@dataclass(frozen=True, slots=True)
class LookedUp:
    """A query and what the best pages say about it. Its first line is the question, the others are earlier ones."""

    query: str
    passages: tuple[WebPassage, ...] = ()

    @property
    def evidence(self) -> Evidence:
        """How well the pages can answer, by the words that they share with the query."""
        shared = [shared_words(self.query, f"{page.title}\n{page.passage}") for page in self.passages]
        return evidence_of_shared(max(shared)) if shared else "nothing"

    def cite(self, book: CitationBook) -> tuple[Searched, list[Citation]]:
        """Add the pages to the book of an answer."""
        is_doubtful = self.evidence in ("unlikely", "nothing")
        return Searched(self.query, len(self.passages), is_doubtful, on_web=True), book.add_web(self.passages)


async def look_up(web: WebLookup | None, queries: Sequence[str], question: Question) -> list[LookedUp]:
    """Search the web for all queries at once; nothing if it is off. Never fails: it finds nothing then."""
    if web is None:
        return []
    results = await asyncio.gather(
        *(web.pages(" ".join(query.split()), conversation=question.conversation) for query in queries)
    )
    return [
        LookedUp(
            query,
            tuple(
                WebPassage(
                    page.url, page.title, excerpt(page.markdown, query, SHOWN_CHARACTERS), page.fetched_at, page.sha256
                )
                for page in pages
            ),
        )
        for query, pages in zip(queries, results, strict=True)
    ]
