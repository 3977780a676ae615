"""The stand-in for the web: a folder of saved pages with an index of its own. It needs no network.

A page is an HTML file that names its address, as browsers and most documentation tools write it: ``<link
rel="canonical">``, ``og:url``, or ``<!-- saved from url=... -->``.
"""

import asyncio
import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock

from app.language.words import WordWeights, words
from app.settings import AppSettings
from app.web.base import MOST_BYTES, MOST_CHARACTERS, MOST_RESULTS, WebPage, WebResult, WebSearch
from app.web.page_text import page_of, without_links
from kb_pipeline.errors import ArticleError, SettingsError, WebError
from kb_pipeline.steps.html.convert import convert_html
from kb_pipeline.steps.main_file import PAGES
from kb_pipeline.wording import counted

_SAVED_FROM = re.compile(rb"<!--\s*saved from url=(?:\(\d+\))?(https?://[^\s<>\"]{1,2000})\s*-->")
_TITLE_COUNTS = 3
"""What a word of the title counts for: more than one said in passing, less than what the page is full of."""
_K1, _B = 1.2, 0.75
"""The usual values of BM25."""
_DESCRIPTION = 200
"""Characters of a description, as search engines show them."""


@dataclass(frozen=True, slots=True)
class _Saved:
    path: Path
    url: str
    title: str
    description: str
    counts: Counter[str]

    @property
    def length(self) -> int:
        return self.counts.total()


@dataclass(frozen=True, slots=True)
class _Index:
    """The pages of the folder as it was at ``listing``; ``without_address`` could not be used."""

    listing: tuple[tuple[str, int, int], ...]
    pages: tuple[_Saved, ...]
    without_address: int


class LocalPages(WebSearch):
    """Searches saved pages by their words (BM25, titles count more), and reads the folder again when it changes."""

    name = "the saved pages"

    def __init__(self, settings: AppSettings) -> None:
        super().__init__(settings)
        self._folder = Path(settings.web_folder)
        if not self._folder.is_dir():
            raise SettingsError(
                f"KB_WEB_SEARCH is local, but KB_WEB_FOLDER is {settings.web_folder!r}, which is not a folder"
            )
        self._index: _Index | None = None
        self._reading = Lock()

    async def search(self, query: str, max_results: int = 3) -> list[WebResult]:
        return await asyncio.to_thread(self._search, query, max(1, min(max_results, MOST_RESULTS)))

    async def fetch(self, url: str) -> WebPage:
        return await asyncio.to_thread(self._fetch, url)

    async def check(self) -> str:
        index = await asyncio.to_thread(self._current)
        ignored = f", {counted(index.without_address, 'file')} without an address" if index.without_address else ""
        return f"{len(index.pages)} saved pages{ignored}"

    def _search(self, query: str, most: int) -> list[WebResult]:
        pages = self._current().pages
        if not pages:
            return []
        weights = WordWeights(page.counts for page in pages)
        mean = sum(page.length for page in pages) / len(pages) or 1.0
        query_words = dict.fromkeys(words(query))

        def score(page: _Saved) -> float:
            long = _K1 * (1 - _B + _B * page.length / mean)
            found = ((weights.of(word), page.counts[word]) for word in query_words if page.counts[word])
            return math.fsum(weight * count * (_K1 + 1) / (count + long) for weight, count in found)

        scored = sorted(((score(page), page) for page in pages), key=lambda each: (-each[0], each[1].url))
        return [WebResult(page.title, page.url, page.description) for value, page in scored[:most] if value > 0]

    def _fetch(self, url: str) -> WebPage:
        saved = next((page for page in self._current().pages if page.url == url.partition("#")[0]), None)
        if saved is None:
            raise WebError("this page is not among the saved ones", "refused")
        body = self._read(saved.path)
        at = datetime.fromtimestamp(saved.path.stat().st_mtime, UTC).isoformat(timespec="seconds")
        return page_of(saved.url, body, "text/html", at, MOST_CHARACTERS)

    def _current(self) -> _Index:
        with self._reading:
            listing = tuple(sorted(self._files()))
            if self._index is None or self._index.listing != listing:
                saved = [self._saved(Path(name)) for name, *_ in listing]
                pages = {page.url: page for page in saved if page}
                self._index = _Index(listing, tuple(pages.values()), saved.count(None))
            return self._index

    def _files(self) -> Iterator[tuple[str, int, int]]:
        try:
            for path in self._folder.rglob("*"):
                if path.suffix.lower() in PAGES and path.is_file():
                    facts = path.stat()
                    yield str(path), facts.st_size, facts.st_mtime_ns
        except OSError as exc:
            raise WebError(f"the folder of saved pages cannot be read: {exc.strerror}", "unreachable") from exc

    def _saved(self, path: Path) -> _Saved | None:
        """Read a page; ``None`` if it names no address or holds nothing to read."""
        try:
            body = self._read(path)
            converted = convert_html(path.stem, body, {})
        except (ArticleError, WebError):
            return None
        saved_from = _SAVED_FROM.search(body[:4096])
        url = saved_from[1].decode("ascii", "replace") if saved_from else converted.source_url
        if not url:
            return None
        markdown = without_links(converted.markdown)
        counts = Counter(words(markdown)) + Counter(words(converted.title) * _TITLE_COUNTS)
        paragraphs = (line for line in markdown.split("\n") if line.strip() and not line.startswith(("#", "|", "`")))
        description = next(paragraphs, "")[:_DESCRIPTION]
        return _Saved(path, url.partition("#")[0], converted.title, description, counts)

    def _read(self, path: Path) -> bytes:
        try:
            with path.open("rb") as file:
                body = file.read(MOST_BYTES + 1)
        except OSError as exc:
            raise WebError(f"a saved page cannot be read: {exc.strerror}", "unreachable") from exc
        if len(body) > MOST_BYTES:
            raise WebError(f"a saved page has more than {MOST_BYTES:,} bytes", "too large")
        return body
