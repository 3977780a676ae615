"""Draws pages that only scripts make, with Chromium. The browser itself has no network: what the scripts ask their site
for is fetched here, by the rules of the crawl, and the page is drawn again with it.
"""

import asyncio
from collections.abc import Awaitable, Callable
from urllib.parse import quote, unquote, urlsplit

from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.flow.page_renderer import MOST_BYTES, PageRenderer
from kb_pipeline.intake.website.addresses import whole

_FEW_WORDS = 30
"""Words that a page may show which scripts fill, such as a sign that something loads."""
_ROUNDS = 4
"""A script loads another one, which loads what it shows."""
_MOST_FILES = 1000
"""Files that the scripts of a page ask for: bounds what one in a loop costs."""

Fetch = Callable[[str], Awaitable[bytes | None]]
"""Returns the file at an address of the site; ``None`` if there is none."""


def may_need_scripts(html: str, words: int) -> bool:
    """Whether scripts may make the text of a page that shows so many words without them."""
    return words < _FEW_WORDS and "<script" in html.lower()


class ScriptedPages:
    """Draws the pages of one site with one browser. One is drawn at a time; files are fetched once."""

    def __init__(self, origin: str, fetch: Fetch) -> None:
        self._origin, self._fetch, self._renderer = origin, fetch, PageRenderer()
        self._files: dict[str, bytes] = {}
        self._absent: set[str] = set()
        self._drawing = asyncio.Lock()

    async def draw(self, address: str, html: str) -> str:
        """The page as its scripts make it.

        Raises:
            ArticleError: that takes too long or too much memory.
            SettingsError: no browser is installed.
        """
        async with self._drawing:
            path = unquote(urlsplit(address).path).removeprefix("/")
            drawn = await asyncio.to_thread(self._renderer.draw, address, html, self._files, path)
            for _ in range(_ROUNDS):
                if not any([await self._bring(name) for name in drawn.missing]):
                    break
                drawn = await asyncio.to_thread(self._renderer.draw, address, html, self._files, path)
        return drawn.html

    def close(self) -> None:
        """End the browser."""
        self._renderer.close()

    async def _bring(self, name: str) -> bool:
        """Fetch a file that a page asked for, and say whether it is there."""
        path, mark, query = name.partition("?")
        address = whole(f"{self._origin}/{quote(path)}{mark}{query}")
        if name in self._absent or address is None or len(self._files) >= _MOST_FILES:
            return False
        self._absent.add(name)
        try:
            data = await self._fetch(address)
        except KnowledgeBaseError:
            data = None
        if data is None or sum(map(len, self._files.values())) + len(data) > MOST_BYTES:
            return False
        self._files[name] = data
        return True
