"""The real webserver and daemon in a real browser: what a platform engineer sees and clicks."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from kb_pipeline.settings import Settings
from kb_pipeline_tests.conftest import Article
from kb_pipeline_tests.pictures import screenshot

KB = str(Path(sys.executable).parent / "kb")
pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(600)]

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


@pytest.fixture
def environment(settings: Settings, tmp_path: Path) -> dict[str, str]:
    own = {"KB_STAGING": settings.staging, "KB_HOME": settings.home, "KB_EMBEDDER": "hashing", "KB_WORKERS": "1"}
    return {key: value for key, value in os.environ.items() if not key.startswith(("KB_", "DAGSTER_"))} | own


@pytest.fixture
def ui(environment: dict[str, str], article: Article, tmp_path: Path) -> Iterator[str]:
    """``kb serve`` on a free port, two good articles and a broken one ingested."""
    for name in ("alpha", "beta"):
        html = f"<body><h1>Article {name}</h1><p>Some text.</p><img src='a.image' alt='A form'></body>"
        article(name, html, {"a.image": screenshot(f"Form {name}", "Save")})
    article("broken", b"%PDF-1.7")
    subprocess.run([KB, "ingest"], env=environment, cwd=tmp_path, timeout=120, check=False)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen([KB, "serve", "--port", str(port)], env=environment, cwd=tmp_path)
    url = f"http://127.0.0.1:{port}"
    _wait_for(url)
    yield url
    server.send_signal(signal.SIGTERM)
    assert server.wait(40) == 0
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(url, timeout=5)


@pytest.fixture
def page(ui: str) -> Iterator[Page]:
    browser = next(path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name)))
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=browser, args=FLAGS)
        page = opened.new_page(base_url=ui, viewport={"width": 1500, "height": 900})
        page.set_default_timeout(60_000)
        expect.set_options(timeout=30_000)
        yield page
        opened.close()


def _wait_for(url: str) -> None:
    deadline = time.monotonic() + 90
    while True:
        try:
            urllib.request.urlopen(f"{url}/server_info", timeout=5)
        except OSError:
            assert time.monotonic() < deadline, "the UI never came up"
            time.sleep(0.5)
        else:
            return


def test_the_graph_an_article_a_failure_and_a_materialisation(page: Page, article: Article) -> None:
    page.goto("/asset-groups")
    for name in ("staged_article", "converted_markdown", "image_descriptions", "search_index", "index_state"):
        expect(page.get_by_text(name).first).to_be_visible()

    page.goto("/assets/serving_article?view=partitions&partition=alpha")
    expect(page.get_by_role("heading", name="Article alpha")).to_be_visible()
    expect(page.get_by_text("images/a.png").first).to_be_visible()

    page.goto("/assets/converted_markdown?view=partitions&partition=broken")
    expect(page.get_by_text("Failed (1)")).to_be_visible()
    expect(page.get_by_text("Materialized (2)")).to_be_visible()

    # mend it, then materialise what failed by hand
    article("broken", "<body><h1>Mended now</h1><p>Text.</p></body>")
    for _ in range(3):  # the daemon of a machine that stood still for a while may lose a launch
        _materialise_failed_and_missing(page)
        if _shows(page, "/assets/search_index?view=partitions", "Materialized (3)", seconds=80):
            break
    expect(page.get_by_text("Materialized (3)")).to_be_visible()


def _materialise_failed_and_missing(page: Page) -> None:
    page.goto("/asset-groups")
    page.get_by_role("button", name="Materialize all").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Failed and missing").click()
    dialog.get_by_role("button", name="Launch", exact=False).click()
    expect(dialog).to_be_hidden()


def _shows(page: Page, path: str, text: str, seconds: float) -> bool:
    """Whether a page shows a text, looked up again and again for a while."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        page.goto(path)
        expect(page.get_by_text("Missing (")).to_be_visible()
        if page.get_by_text(text).count():
            return True
        page.wait_for_timeout(3000)
    return False
