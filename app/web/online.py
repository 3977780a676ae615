"""What all backends share that ask a service over HTTP and fetch pages from the web."""

import asyncio
from abc import abstractmethod
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import ClassVar
from urllib.parse import urlsplit

import httpx

from app.settings import AppSettings
from app.web.base import MOST_BYTES, MOST_CHARACTERS, MOST_RESULTS, WebPage, WebResult, WebSearch
from app.web.guard import PageFetcher
from app.web.page_text import page_of
from kb_pipeline.errors import SettingsError, WebError
from kb_pipeline.services.urls import web_url
from kb_pipeline.services.web.limited import direct_transport, get_json

_LONGEST_QUERY = 400
"""Characters of a query: some sentences; engines ignore the rest, and strangers need not see it."""


class OnlineSearch(WebSearch):
    """Asks the service at ``KB_WEB_URL``, which answers with ``results``. Pages are fetched through the guard."""

    url: ClassVar[str] = ""
    """Where the service is if the settings do not say; empty if they must."""
    hosts: ClassVar[tuple[str, ...]]
    """The hosts whose pages may be fetched if the settings do not say."""
    fields: ClassVar[tuple[str, str, str]] = ("title", "url", "description")
    """Where a result has its title, address and description."""

    def __init__(self, settings: AppSettings, fetcher: PageFetcher | None = None) -> None:
        """``fetcher`` replaces the one that the settings make."""
        super().__init__(settings)
        if not (settings.web_url or self.url):
            raise SettingsError(
                f"KB_WEB_SEARCH is {settings.web_search}, which needs the address of it; set KB_WEB_URL"
            )
        self._url = web_url("KB_WEB_URL", settings.web_url or self.url)
        self._transport: httpx.AsyncBaseTransport | None = None
        self._fetcher = fetcher

    @abstractmethod
    def parameters(self, query: str, max_results: int) -> Mapping[str, str]:
        """The parameters of a search."""

    @property
    def search_url(self) -> str:
        """Where searches are sent."""
        return self._url

    async def search(self, query: str, max_results: int = 3) -> list[WebResult]:
        wanted = max(1, min(max_results, MOST_RESULTS))
        words = " ".join(query.split())[:_LONGEST_QUERY]
        if not words:
            return []
        if self._transport is None:
            self._transport = await asyncio.to_thread(direct_transport)
        seconds = self.settings.web_seconds
        try:
            async with asyncio.timeout(seconds):
                answer = await get_json(
                    self._transport,
                    self.search_url,
                    self.parameters(words, wanted),
                    seconds=seconds,
                    most_bytes=MOST_BYTES,
                )
        except TimeoutError as exc:
            raise WebError(f"{self.name} took more than {seconds:g} s (KB_WEB_SECONDS)", "timeout") from exc
        results = answer.get("results")
        if not isinstance(results, list):
            raise WebError(f"{self.name} answered without a list of results", "malformed")
        pages = dict.fromkeys(filter(None, map(self._result, results)))
        return list(pages)[:wanted]

    async def fetch(self, url: str) -> WebPage:
        if self._fetcher is None:
            self._fetcher = await asyncio.to_thread(self._make_fetcher)
        at = datetime.now(UTC).isoformat(timespec="seconds")
        address, received = await self._fetcher.fetch(url)
        content_type = received.headers.get("content-type", "")
        return await asyncio.to_thread(page_of, address, received.body, content_type, at, MOST_CHARACTERS)

    async def close(self) -> None:
        if self._transport:
            await self._transport.aclose()
        if self._fetcher:
            await self._fetcher.close()

    def _make_fetcher(self) -> PageFetcher:
        settings = self.settings
        return PageFetcher(settings.web_hosts or self.hosts, seconds=settings.web_seconds, most_bytes=MOST_BYTES)

    def _result(self, result: object) -> WebResult | None:
        """The result of a search, if it is one of a page."""
        if not isinstance(result, dict):
            return None
        title, url, description = (" ".join(str(result.get(field) or "").split()) for field in self.fields)
        try:
            is_page = urlsplit(url).scheme in ("http", "https")
        except ValueError:
            is_page = False
        return WebResult(title or url, url, description) if is_page else None
