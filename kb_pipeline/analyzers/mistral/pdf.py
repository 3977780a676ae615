"""Prints HTML to PDF with Chromium.

Nothing in the page runs, and no request leaves the browser. The content of the page does not matter here.
"""

import asyncio
import atexit
import os
import threading
from functools import cache
from importlib.resources import files
from secrets import token_hex
from typing import TYPE_CHECKING

from kb_pipeline.errors import ArticleError, KnowledgeBaseError
from kb_pipeline.limited.browser import CLOSING_SECONDS, KeptBrowser, first_line

if TYPE_CHECKING:
    from playwright.async_api import Browser, Route


SECONDS = 120.0
"""Longest time to print a page; a usual article takes about a second."""

_ADDRESS = "http://article.invalid/"
_ROOM = {"upright": 680, "sideways": 1009}
"""Widths of A4 between margins of 15 mm, in CSS pixels (96 an inch)."""

_POLICY = "default-src 'none'; style-src 'nonce-{nonce}'; sandbox"
"""Content security policy: nothing is loaded, run, framed or followed, and only our style applies."""


_MAKING = threading.Lock()
"""Without it, two threads that print first would each start a browser."""


def print_pdf(html: str) -> bytes:
    """Print a page on A4. All threads of a process share one browser, which prints one page at a time.

    Raises:
        ArticleError: printing takes too long, or the page crashes the browser.
        SettingsError: no browser is installed, or it does not start.
    """
    with _MAKING:
        printer = _printer(os.getpid())
    return printer.print(html)


@cache
def _printer(_process: int) -> "_Printer":
    # One per process, because a forked process has neither the thread nor the browser of its parent.
    return _Printer()


@cache
def _asset(name: str) -> str:
    return (files(__package__) / name).read_text("utf-8")


class _Printer:
    """A browser and the thread that controls it; callers may be in any thread, with or without an event loop."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._one_page = asyncio.Lock()
        self._browser = KeptBrowser()
        self._process = os.getpid()
        threading.Thread(target=self._loop.run_forever, name="printer", daemon=True).start()
        atexit.register(self.close)

    def print(self, html: str) -> bytes:
        return asyncio.run_coroutine_threadsafe(self._print(html), self._loop).result()

    def close(self) -> None:
        if self._process == os.getpid():
            asyncio.run_coroutine_threadsafe(self._browser.stop(), self._loop).result()

    async def _print(self, html: str) -> bytes:
        async with self._one_page:
            try:
                return await self._try(html)
            except KnowledgeBaseError:
                raise
            except Exception:  # the browser was killed, so start another one, once
                return await self._try_again(html)

    async def _try_again(self, html: str) -> bytes:
        try:
            return await self._try(html)
        except KnowledgeBaseError:
            raise
        except Exception as exc:
            raise ArticleError(f"its page cannot be printed: Chromium says {first_line(exc)}") from exc

    async def _try(self, html: str) -> bytes:
        try:
            async with asyncio.timeout(SECONDS):
                return await _print_article(await self._browser.started(), html)
        except TimeoutError as exc:
            await self._browser.stop()
            raise ArticleError(
                f"its page ({len(html):,} characters) was not printed within {SECONDS:g} s; split the article"
            ) from exc
        except BaseException:
            await self._browser.stop()
            raise


async def _print_article(browser: "Browser", html: str) -> bytes:
    """Print the article in a browser context of its own, isolated from earlier articles."""

    async def only_the_article(route: "Route") -> None:
        if route.request.url == _ADDRESS and route.request.is_navigation_request():
            await route.fulfill(body=body, headers=headers)
        else:
            await route.abort("aborted")

    nonce = token_hex()
    # After our style, a parser continues with the same document: https://html.spec.whatwg.org/#parsing-main-inhead
    body = f'<!doctype html><style nonce="{nonce}">{_asset("print.css")}</style>{html}'
    headers = {"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": _POLICY.format(nonce=nonce)}
    context = await browser.new_context(
        java_script_enabled=False,  # of the page; our script runs from outside
        offline=True,
        service_workers="block",
        accept_downloads=False,
        viewport={"width": _ROOM["upright"], "height": _ROOM["sideways"]},
    )
    try:
        await context.route("**/*", only_the_article)
        page = await context.new_page()
        await page.goto(_ADDRESS, timeout=0)
        await page.emulate_media(media="print")
        await page.evaluate(_asset("print.js"), _ROOM)
        return await page.pdf(prefer_css_page_size=True)
    finally:
        await asyncio.wait_for(context.close(), CLOSING_SECONDS)
