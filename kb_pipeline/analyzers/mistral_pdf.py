"""HTML becomes a PDF, printed by Chromium: nothing in the page runs, and no request leaves the browser.

Not here: what the page says, and what is read from the PDF.
"""

import asyncio
import atexit
import os
import shutil
import threading
from contextlib import suppress
from functools import cache
from importlib.resources import files
from secrets import token_hex
from typing import TYPE_CHECKING

from kb_pipeline.errors import ArticleError, KnowledgeBaseError, SettingsError

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserType, Playwright, Route

SECONDS = 120.0
"""Longest time to print a page; an article takes about one."""

_CLOSING_SECONDS = 5.0
_ADDRESS = "http://article.invalid/"
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_INSTALL = "install one (apt-get install chromium, or playwright install chromium)"
_FLAGS = ("--disable-gpu", "--disable-background-networking", "--host-resolver-rules=MAP * ~NOTFOUND")
_ROOM = {"upright": 680, "sideways": 1009}
"""Widths of A4 between margins of 15 mm, in CSS pixels (96 an inch)."""

_POLICY = "default-src 'none'; style-src 'nonce-{nonce}'; sandbox"
"""Content security: nothing is loaded, run, framed or followed, and no style but ours applies."""


_MAKING = threading.Lock()
"""Two threads that print first would each make a browser."""


def print_pdf(html: str) -> bytes:
    """Print a page on A4. One browser in each process prints for all its threads, one page after the other.

    Raises:
        ArticleError: the page takes too long, or crashes the browser.
        SettingsError: there is no browser that starts.
    """
    with _MAKING:
        printer = _printer(os.getpid())
    return printer.print(html)


@cache
def _printer(_process: int) -> "_Printer":
    # a forked process has neither the thread nor the browser of its parent
    return _Printer()


@cache
def _ours(name: str) -> str:
    return (files("kb_pipeline.analyzers") / name).read_text("utf-8")


class _Printer:
    """A browser, and the thread that talks to it: callers may be in any thread, with or without an event loop."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._one_page = asyncio.Lock()
        self._playwright: Playwright | None = None
        self._browser: Browser | None = None
        self._process = os.getpid()
        threading.Thread(target=self._loop.run_forever, name="printer", daemon=True).start()
        atexit.register(self.close)

    def print(self, html: str) -> bytes:
        return asyncio.run_coroutine_threadsafe(self._print(html), self._loop).result()

    def close(self) -> None:
        if self._process == os.getpid():
            asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result()

    async def _print(self, html: str) -> bytes:
        async with self._one_page:
            try:
                return await self._try(html)
            except KnowledgeBaseError:
                raise
            except Exception:  # a browser that was killed, by whomever, is replaced once
                return await self._try_again(html)

    async def _try_again(self, html: str) -> bytes:
        try:
            return await self._try(html)
        except KnowledgeBaseError:
            raise
        except Exception as exc:
            raise ArticleError(f"its page cannot be printed: Chromium says {_first_line(exc)}") from exc

    async def _try(self, html: str) -> bytes:
        try:
            async with asyncio.timeout(SECONDS):
                return await _printed(await self._started(), html)
        except TimeoutError as exc:
            await self._stop()
            raise ArticleError(
                f"its page ({len(html):,} characters) was not printed within {SECONDS:g} s; split the article"
            ) from exc
        except BaseException:
            await self._stop()
            raise

    async def _started(self) -> "Browser":
        from playwright.async_api import async_playwright

        if self._browser is None:
            self._playwright = await async_playwright().start()
            self._browser = await _launch(self._playwright.chromium)
        return self._browser

    async def _stop(self) -> None:
        browser, playwright = self._browser, self._playwright
        self._browser = self._playwright = None
        with suppress(Exception):  # what is gone already need not be closed
            if browser:
                await asyncio.wait_for(browser.close(), _CLOSING_SECONDS)
        with suppress(Exception):
            if playwright:
                await asyncio.wait_for(playwright.stop(), _CLOSING_SECONDS)


async def _printed(browser: "Browser", html: str) -> bytes:
    """A page of its own for each article, which sees nothing of those before."""

    async def only_the_article(route: "Route") -> None:
        if route.request.url == _ADDRESS and route.request.is_navigation_request():
            await route.fulfill(body=_with_style(html, nonce), headers=headers)
        else:
            await route.abort("aborted")

    nonce = token_hex()
    headers = {"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": _POLICY.format(nonce=nonce)}
    context = await browser.new_context(
        java_script_enabled=False,  # the page's; ours runs from outside
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
        await page.evaluate(_ours("mistral_print.js"), _ROOM)
        return await page.pdf(prefer_css_page_size=True)
    finally:
        await asyncio.wait_for(context.close(), _CLOSING_SECONDS)


def _with_style(html: str, nonce: str) -> str:
    # a parser takes what follows as the rest of the same document: https://html.spec.whatwg.org/#parsing-main-inhead
    return f'<!doctype html><style nonce="{nonce}">{_ours("mistral_print.css")}</style>{html}'


async def _launch(chromium: "BrowserType") -> "Browser":
    """Start the browser in its sandbox, or without where there can be none: as root, and in most containers."""
    from playwright.async_api import Error

    executable = _executable(chromium)
    with suppress(Error):
        return await chromium.launch(executable_path=executable, args=_FLAGS, chromium_sandbox=True)
    try:
        return await chromium.launch(executable_path=executable, args=_FLAGS, chromium_sandbox=False)
    except Error as exc:
        raise SettingsError(f"{executable} does not start ({_first_line(exc)}); {_INSTALL}") from exc


def _executable(chromium: "BrowserType") -> str:
    """Playwright's own browser if it was downloaded, else the system's."""
    found = [path for name in (chromium.executable_path, *_BROWSERS) if (path := shutil.which(name))]
    if not found:
        raise SettingsError(f"printing articles for Mistral Document AI needs a browser, and there is none; {_INSTALL}")
    return found[0]


def _first_line(problem: Exception) -> str:
    return str(problem).strip().partition("\n")[0]
