"""The time that Dagster's UI takes to show the partitions of an asset, in a real browser."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from kb_pipeline.limited.browser import system_browser

_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
_START_SECONDS = 180
_PAGE = "/assets/search_index?view=partitions"


def time_partitions_page(environment: Mapping[str, str], materialized: int, visits: int = 5) -> dict[str, float]:
    """Measure the seconds until the page shows the number of materialized partitions: first visit, and later.

    Raises:
        TimeoutError: the UI did not come up, or never showed that number.
    """
    text = f"Materialized ({materialized})"
    with _served(environment) as url, _browser() as page:
        cold = _visit(page, url, text)
        warm = sorted(_visit(page, url, text) for _ in range(visits))
    return {"cold_s": round(cold, 2), "warm_median_s": round(warm[visits // 2], 2), "warm_best_s": round(warm[0], 2)}


def _visit(page: Page, url: str, text: str) -> float:
    page.goto("about:blank")
    started = time.perf_counter()
    page.goto(url + _PAGE, wait_until="commit")
    page.get_by_text(text).first.wait_for()
    return time.perf_counter() - started


@contextmanager
def _served(environment: Mapping[str, str]) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(Path(sys.executable).parent / "kb"), "serve", "--dagster-only", "--port", str(port)]
    server = subprocess.Popen(command, env=os.environ | dict(environment) | {"KB_WATCH": "false"}, text=True)
    try:
        url = f"http://127.0.0.1:{port}"
        _wait_for(url)
        yield url
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait()


def _wait_for(url: str) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"{url}/server_info", timeout=5):
                return
        except OSError:
            time.sleep(0.5)
    raise TimeoutError(f"the Dagster UI did not come up at {url}")


@contextmanager
def _browser() -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=system_browser(), args=_FLAGS)
        page = browser.new_page(viewport={"width": 1500, "height": 900})
        page.set_default_timeout(120_000)
        yield page
        browser.close()
