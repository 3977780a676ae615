"""The real stack for browser tests: a knowledge base of its own, ``kb serve`` on it, and a page to click on."""

import io
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from kb_pipeline.cli import main
from kb_pipeline.limited.browser import system_browser
from kb_pipeline_tests.pictures import screenshot
from kb_pipeline_tests.ports import free_port, wait_for

KB = str(Path(sys.executable).parent / "kb")
ROOT = Path(__file__).parents[1]
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


class Site:
    """A staging folder, and the commands on the knowledge base that is made of it."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.folder = folder
        self.staging = folder / "staging"
        self.staging.mkdir()
        own = {
            "KB_STAGING": str(self.staging),
            "KB_HOME": str(folder / "home"),
            "KB_EMBEDDER": "hashing",
            "KB_WORKERS": "1",
            "KB_WATCH": "false",
            "KB_SETTLE_SECONDS": "0",
            "KB_DELETE_GRACE_SECONDS": "1",
            "KB_WATCH_SECONDS": "2",
            "PYTHONPATH": str(ROOT),
            **settings,
        }
        clean = {key: value for key, value in os.environ.items() if not key.startswith(("KB_", "DAGSTER_"))}
        self.environment = clean | own

    def stage(self, article_id: str, html: str | bytes) -> None:
        """Put an article with one screenshot into the staging folder."""
        folder = self.staging / article_id
        folder.mkdir(exist_ok=True)
        (folder / "a.image").write_bytes(screenshot(f"Form {article_id}", "Save"))
        (folder / "index.html").write_bytes(html if isinstance(html, bytes) else html.encode())

    def kb(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        return subprocess.run(
            [KB, *arguments],
            env=self.environment,
            cwd=self.folder,
            timeout=240,
            capture_output=True,
            text=True,
            check=False,
        )

    def kb_here(self, *arguments: str) -> str:
        """What a command that succeeds writes, run in this process alone, which has loaded all that it needs."""
        here = {"KB_ENGINE": "kb_pipeline_tests.doubles:WorkersHere"}
        written = io.StringIO()
        with (
            patch.dict(os.environ, self.environment | here, clear=True),
            patch.object(sys, "argv", ["kb", *arguments]),
            redirect_stdout(written),
            pytest.raises(SystemExit) as left,
        ):
            main()
        assert not left.value.code, written.getvalue()
        return written.getvalue()


@contextmanager
def served(site: Site) -> Iterator[str]:
    """``kb serve`` on a free port, stopped by a signal at the end; gives its URL."""
    port = free_port()
    server = subprocess.Popen(
        [KB, "serve", "--dagster-only", "--port", str(port)], env=site.environment, cwd=site.folder
    )
    url = f"http://127.0.0.1:{port}"
    try:
        wait_for(f"{url}/server_info", server, 90)
        yield url
    finally:
        server.send_signal(signal.SIGTERM)
        assert server.wait(60) == 0
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(url, timeout=5)


_POLICY = "Content Security Policy"
"""What Chromium says where a page wanted what its policy does not allow."""
_OF_VEGA = "WARN"
"""How a chart complains of what it was given."""


@contextmanager
def chromium(*flags: str) -> Iterator[Browser]:
    """This machine's Chromium."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=system_browser(), args=[*FLAGS, *flags])
        yield browser
        browser.close()


@contextmanager
def visiting(browser: Browser, url: str) -> Iterator[Page]:
    """A page of a new visitor, which may not want anything that a policy forbids, nor draw what is not there."""
    page = browser.new_page(base_url=url, viewport={"width": 1500, "height": 900}, reduced_motion="reduce")
    page.set_default_timeout(60_000)
    expect.set_options(timeout=90_000)  # a machine may be busy
    said: list[str] = []
    page.context.on("console", lambda message: said.append(message.text))
    yield page
    page.close()
    # a policy against frames is for the pages of others
    assert [each for each in said if _POLICY in each and "frame-ancestors" not in each] == []
    assert [each for each in said if each.startswith(_OF_VEGA)] == []


@contextmanager
def browsing(url: str, *flags: str) -> Iterator[Page]:
    """A page of a new visitor in a browser of its own."""
    with chromium(*flags) as browser, visiting(browser, url) as page:
        yield page


def wait_until(page: Page, condition: str) -> None:
    """Wait until an expression is true in the page. Playwright's own way is forbidden by a policy against ``eval``."""
    look = f"() => ({condition}) ? done() : requestAnimationFrame(look)"
    page.evaluate(f"() => new Promise((done) => {{ const look = {look}; look() }})")


def picture(page: Page, name: str) -> None:
    """Save what the page shows, where ``PICTURES`` asks for it."""
    if folder := os.environ.get("PICTURES"):
        page.wait_for_timeout(2500)
        page.screenshot(path=f"{folder}/{name}.png")


def materialized(page: Page, asset: str) -> int:
    """How many partitions of an asset Dagster calls materialized."""
    return int(_told(page, asset, "partitionStats {numMaterialized}")["partitionStats"]["numMaterialized"])


def materializations(page: Page, asset: str, partition: str) -> int:
    """How many times Dagster has materialized a partition of an asset."""
    found = _told(page, asset, f'assetMaterializations(partitions: ["{partition}"]) {{runId}}')
    return len(found["assetMaterializations"])


def _told(page: Page, asset: str, fields: str) -> Any:
    node = f'assetNodeOrError(assetKey: {{path: ["{asset}"]}})'
    return _asked(page, f"{node} {{... on AssetNode {{{fields}}}}}")["assetNodeOrError"]


def status_of(page: Page, run_id: str) -> str:
    """What Dagster says of a run, in capitals."""
    asked = _asked(page, f'runOrError(runId: "{run_id}") {{... on Run {{status}}}}')
    return str(asked["runOrError"]["status"])


def _asked(page: Page, fields: str) -> dict[str, Any]:
    reply = page.request.post("/graphql", data={"query": f"{{{fields}}}"})
    assert reply.ok, reply.text()
    data: dict[str, Any] = reply.json()["data"]
    return data


def comes_true(page: Page, condition: Callable[[], bool], seconds: float) -> bool:
    """Whether something comes true within a while, in which the browser, which would draw all that happens, rests."""
    page.goto("about:blank")
    deadline = time.monotonic() + seconds
    while not (is_true := condition()) and time.monotonic() < deadline:
        page.wait_for_timeout(1000)
    return is_true
