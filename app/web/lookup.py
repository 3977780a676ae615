"""Looks things up on the web for an answer. Nothing here ever raises: a failure is an empty result.

Backends raise; here each failure is logged with its reason and counted, because whoever sees only empty results could
not tell a broken service from one that found nothing.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Iterable, Sequence

from app.settings import AppSettings
from app.web.base import WebPage, WebResult, WebSearch
from app.web.cache import CacheStats, ConversationCaches, SearchCache
from app.web.excerpt import cut
from kb_pipeline.errors import WebError

MOST_RESULTS = 3
"""Pages whose words a model gets; each takes as much room as several passages."""
SHOWN_CHARACTERS = 3_000
"""The longest part of a page that an answer is given: several passages."""

_log = logging.getLogger(__name__)


class WebLookup:
    """The web for answers: ``name`` is what readers call it. All share it; each conversation has its own cache."""

    def __init__(self, web: WebSearch, settings: AppSettings) -> None:
        self.web = web
        self.name = web.name
        self.failures: Counter[str] = Counter()
        """How many searches and pages failed, by reason."""
        self._caches = ConversationCaches[tuple[WebPage, ...]]()

    async def search_learn(self, query: str, max_results: int = MOST_RESULTS) -> list[WebResult]:
        """What a search finds: on Microsoft Learn, or on what the settings put in its place."""
        return await self._search(query, max_results) or []

    async def fetch_page_content(self, url: str) -> str:
        """A page as plain text, at most ``MOST_CHARACTERS`` long; empty if it cannot be had."""
        page = await self._fetch(url)
        return page.text if page else ""

    async def search_and_fetch(self, query: str, max_results: int = MOST_RESULTS, *, conversation: str = "") -> str:
        """What the best pages say, as one text with title and address of each; empty if nothing is found."""
        pages = await self.pages(query, max_results, conversation=conversation)
        parts = (_shown(page.title, page.url, cut(page.text, SHOWN_CHARACTERS)) for page in pages)
        return "\n\n---\n\n".join(parts)

    async def pages(
        self, query: str, max_results: int = MOST_RESULTS, *, conversation: str = ""
    ) -> tuple[WebPage, ...]:
        """The best pages for a query, fetched together. What a conversation found before is not looked up again."""
        cache: SearchCache[tuple[WebPage, ...]] = self._caches.of(conversation)
        if (kept := cache.get(query)) is not None:
            return kept
        results = await self._search(query, max_results)
        fetched = await asyncio.gather(*(self._fetch(result.url) for result in results or ()))
        pages = tuple({page.url: page for page in fetched if page}.values())
        if results is not None and all(fetched):  # what failed may work the next time
            cache.put(query, pages)
        return pages

    def stats(self) -> CacheStats:
        """The counts of all caches."""
        return self._caches.stats()

    async def close(self) -> None:
        await self.web.close()

    async def _search(self, query: str, max_results: int) -> list[WebResult] | None:
        """Search; ``None`` if that failed."""
        try:
            return await self.web.search(query, max_results)
        except Exception as exc:
            self._failed("a search", exc)
            return None

    async def _fetch(self, url: str) -> WebPage | None:
        try:
            return await self.web.fetch(url)
        except Exception as exc:
            self._failed("a page", exc)
            return None

    def _failed(self, what: str, problem: Exception) -> None:
        if isinstance(problem, WebError):
            self.failures[problem.reason] += 1
            _log.warning("%s of %s failed (%s): %s", what, self.name, problem.reason, problem)
        else:  # a plug-in may raise anything
            self.failures["unexpected"] += 1
            _log.error("%s of %s failed unexpectedly", what, self.name, exc_info=problem)


def format_search_results(results: Iterable[WebResult]) -> str:
    """Results for a model to read: heading, source and text of each, with a line between them."""
    return "\n\n---\n\n".join(_shown(result.title, result.url, result.description) for result in results)


def _shown(title: str, url: str, text: str) -> str:
    lines: Sequence[str] = (f"## {' '.join(title.split())}", f"Source: {url}", "", text)
    return "\n".join(lines).rstrip()
