"""Draws a page that holds only scripts with Chromium, and returns the page that they made.

The scripts run, but nothing leaves the browser: there are the page and the files of its folder, nothing else. Time and
memory are limited, those of all processes of the browser together. One browser draws page after page, each in a context
of its own, which keeps nothing. Not here: what is read from the page.
"""

import asyncio
import mimetypes
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache, cached_property
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, unquote, urlsplit

import psutil

from kb_pipeline.errors import ArticleError, KnowledgeBaseError, LimitExceededError, MissingExtraError, WorkerLostError
from kb_pipeline.limited.browser import KeptBrowser, first_line
from kb_pipeline.limited.process import LimitedProcess, ProcessLimits

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Route

SECONDS, MEMORY_MB = 60.0, 1500
"""Limits of a page with all processes of the browser: far more than one that ends needs."""
MOST_BYTES = 50_000_000
"""Bytes of the files in the folder that the browser may load."""

_ORIGIN = "http://article.invalid/"
_QUIET_MS, _SETTLING_MS = 500, 10_000
"""A page is done when its text has not changed for so long, or after so long."""
_LONGEST = 20_000_000
"""Characters of the page that the scripts made."""
_MOST_MISSING = 200
"""Files that are named of those that the page asked for in vain."""
_LOOK_SECONDS = 0.2
"""Seconds between looks at the browser's memory."""
_SETTLED = f"""() => new Promise(done => {{
  let timer = setTimeout(done, {_QUIET_MS});
  const again = () => {{ clearTimeout(timer); timer = setTimeout(done, {_QUIET_MS}); }};
  new MutationObserver(again).observe(document, {{subtree: true, childList: true, characterData: true}});
  setTimeout(done, {_SETTLING_MS});
}})"""


class PageRenderer:
    """Draws pages within a limit of ``seconds`` and ``memory_mb`` each, with one browser until it is closed."""

    def __init__(self, seconds: float = SECONDS, memory_mb: int = MEMORY_MB) -> None:
        self._limits, self._memory_mb = ProcessLimits(seconds), memory_mb

    @cached_property
    def _process(self) -> LimitedProcess:
        return LimitedProcess(quiet=True)

    def render(self, article_id: str, html: str, files: Mapping[str, bytes]) -> str:
        """Return the page as its scripts made it; ``files`` are those of its folder.

        Raises:
            ArticleError: that takes too long or too much memory, or the page crashes the browser.
            SettingsError: no browser is installed, or it does not start.
        """
        return self.draw(article_id, html, files).html

    def close(self) -> None:
        """End the browser. The next page starts another one."""
        self._process.kill()

    def draw(self, article_id: str, html: str, files: Mapping[str, bytes], path: str = "") -> "Drawn":
        """Draw the page as if it were at a path of its site, of which ``files`` are there.

        Raises:
            ArticleError, SettingsError: as :meth:`render`.
        """
        try:
            return self._process.call(draw, html, files, self._memory_mb, path, limits=self._limits)
        except (LimitExceededError, WorkerLostError) as exc:
            raise ArticleError(f"{article_id}: drawing the page with Chromium {exc}; stage a simpler page") from exc
        except KnowledgeBaseError as exc:
            raise type(exc)(f"{article_id}: {exc}") from exc


class Drawn(NamedTuple):
    """The page as its scripts made it, and what it asked for in vain: paths, with the query behind a ``?``."""

    html: str
    missing: tuple[str, ...]


def draw(html: str, files: Mapping[str, bytes], memory_mb: int, path: str = "") -> Drawn:
    """Draw the page in this process's browser; in a new one, if what earlier pages left may be why that fails."""
    try:
        import playwright.async_api  # noqa: F401
    except ImportError as exc:
        raise MissingExtraError("KB_RENDER=chromium", "render") from exc
    chromium = _chromium()
    is_new = chromium.is_new
    try:
        return chromium.draw(html, files, memory_mb, path)
    except ArticleError:
        if is_new:
            raise
    return chromium.draw(html, files, memory_mb, path)


@cache
def _chromium() -> "_Chromium":
    return _Chromium()


class _Chromium:
    """The browser of this process, which ends with it, or when a page fails."""

    def __init__(self) -> None:
        self._runner, self._browser = asyncio.Runner(), KeptBrowser()

    @property
    def is_new(self) -> bool:
        """Whether it has drawn nothing yet."""
        return not self._browser.is_started

    def draw(self, html: str, files: Mapping[str, bytes], memory_mb: int, path: str) -> Drawn:
        """Draw the page.

        Raises:
            ArticleError: the page needs too much memory, or crashes the browser.
        """
        from playwright.async_api import Error

        with _watched(memory_mb) as is_too_large:
            try:
                return self._runner.run(self._draw(html, files, path))
            except Exception as exc:
                self._runner.run(self._browser.stop())
                if not isinstance(exc, Error):
                    raise
                if is_too_large.is_set():
                    raise ArticleError(f"drawing the page with Chromium needed more than {memory_mb:,} MB") from exc
                raise ArticleError(f"drawing the page with Chromium failed: {first_line(exc)}") from exc

    async def _draw(self, html: str, files: Mapping[str, bytes], path: str) -> Drawn:
        browser = await self._browser.started()
        context = await browser.new_context(service_workers="block", accept_downloads=False)
        missing = await _serve(context, html, files, path)
        page = await context.new_page()
        page.on("dialog", lambda dialog: dialog.dismiss())
        await page.goto(_ORIGIN + quote(path), wait_until="load")
        await page.evaluate(_SETTLED)
        drawn = str(await page.evaluate("longest => document.documentElement.outerHTML.slice(0, longest)", _LONGEST))
        await context.close()
        return Drawn(f"<!doctype html>{drawn}", tuple(missing))


@contextmanager
def _watched(memory_mb: int) -> Iterator[threading.Event]:
    """End all processes below this one when they need more memory together."""
    ended, is_too_large = threading.Event(), threading.Event()

    def watch() -> None:
        while not ended.wait(_LOOK_SECONDS):
            below = psutil.Process().children(recursive=True)
            if sum(map(_resident, below)) > memory_mb << 20:
                is_too_large.set()
                for process in below:
                    with suppress(psutil.Error):
                        process.kill()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield is_too_large
    finally:
        ended.set()
        watcher.join()


def _resident(process: psutil.Process) -> int:
    """Memory of its own, without what the processes of a browser share."""
    with suppress(psutil.Error):
        memory = process.memory_info()
        return int(memory.rss - getattr(memory, "shared", 0))
    return 0


async def _serve(context: "BrowserContext", html: str, files: Mapping[str, bytes], path: str) -> dict[str, None]:
    """Let its pages reach nothing but the page and its files; returns what they ask for in vain, from now on."""
    missing: dict[str, None] = {}

    async def only_the_folder(route: "Route") -> None:
        url = urlsplit(route.request.url)
        name = unquote(url.path).removeprefix("/")
        name = f"{name}?{url.query}" if f"{name}?{url.query}" in files else name
        if f"{url.scheme}://{url.netloc}/" != _ORIGIN or route.request.method != "GET":
            await route.abort("aborted")
        elif name == path and route.request.is_navigation_request():
            await route.fulfill(body=html, headers={"Content-Type": "text/html; charset=utf-8"})
        elif name in files:
            kind = mimetypes.guess_type(name.partition("?")[0])[0] or "application/octet-stream"
            await route.fulfill(body=files[name], headers={"Content-Type": kind})
        else:
            if len(missing) < _MOST_MISSING:
                missing[f"{name}?{url.query}" if url.query else name] = None
            await route.abort("aborted")

    await context.route("**/*", only_the_folder)
    await context.route_web_socket("**/*", lambda socket: None)  # never connected
    return missing
