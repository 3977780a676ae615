"""A Chromium that resolves no host name and is given no keys, for pages of others: to print them, or to let them draw.

What a page may load is its user's matter, as is how long it may take.
"""

import asyncio
import os
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING

from kb_pipeline.errors import SettingsError

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserType, Playwright

CLOSING_SECONDS = 5.0
"""Seconds for a browser or a page to end by itself; then its processes are killed."""

_PROGRAMS = (
    "chromium-headless-shell",  # has no windows: Debian's takes .06 s of a core for a page, its chromium .36
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
)
_INSTALL = "install one (apt-get install chromium, or playwright install chromium)"
_FLAGS = ("--disable-gpu", "--disable-background-networking", "--host-resolver-rules=MAP * ~NOTFOUND")
_NEEDED = ("PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "LD_LIBRARY_PATH")
"""Environment variables to pass to the browser, which finds fonts through HOME; no keys, which a page could read."""


class KeptBrowser:
    """A browser that starts when it is first asked for, and again after it was stopped."""

    def __init__(self) -> None:
        self._playwright: Playwright | None = None
        self._browser: Browser | None = None

    @property
    def is_started(self) -> bool:
        """Whether somebody asked for it since it was stopped."""
        return self._browser is not None

    async def started(self) -> "Browser":
        """Return the browser.

        Raises:
            SettingsError: none is installed, or it does not start.
        """
        from playwright.async_api import async_playwright

        if self._browser is None:
            self._playwright = await async_playwright().start()
            self._browser = await _launch(self._playwright.chromium)
        return self._browser

    async def stop(self) -> None:
        """End the browser, in whatever state it is."""
        browser, playwright = self._browser, self._playwright
        self._browser = self._playwright = None
        with suppress(Exception):  # it may be gone already
            if browser:
                await asyncio.wait_for(browser.close(), CLOSING_SECONDS)
        with suppress(Exception):
            if playwright:
                await asyncio.wait_for(playwright.stop(), CLOSING_SECONDS)


async def _launch(chromium: "BrowserType") -> "Browser":
    """Start the browser in its sandbox, or without it where that is impossible: as root, and in most containers."""
    from playwright.async_api import Error

    # Playwright chooses among its own
    program = None if shutil.which(chromium.executable_path) else system_browser()
    environment: dict[str, str | float | bool] = {name: os.environ[name] for name in _NEEDED if name in os.environ}
    with suppress(Error):
        return await chromium.launch(executable_path=program, args=_FLAGS, env=environment, chromium_sandbox=True)
    try:
        return await chromium.launch(executable_path=program, args=_FLAGS, env=environment, chromium_sandbox=False)
    except Error as exc:
        raise SettingsError(f"{program or 'Chromium'} does not start ({first_line(exc)}); {_INSTALL}") from exc


def system_browser() -> str:
    """The path of the Chromium that this machine has, the one for programs before those for people.

    Raises:
        SettingsError: there is none.
    """
    if path := next(filter(None, map(shutil.which, _PROGRAMS)), None):
        return path
    raise SettingsError(f"drawing a page needs a browser, and there is none; {_INSTALL}")


def first_line(error: Exception) -> str:
    """What Playwright says of an error, without its log of what it did."""
    return str(error).strip().partition("\n")[0]
