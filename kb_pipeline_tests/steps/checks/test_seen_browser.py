"""What the check takes for seen, by a real browser: its tree for screen readers and its own text of the page."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from kb_pipeline.steps.checks import read_seen
from kb_pipeline_tests.dagster_ui import browsing
from kb_pipeline_tests.steps.checks.test_seen import SEEN

pytestmark = pytest.mark.browser

OPEN = """() => {
  for (const control of document.querySelectorAll("[aria-controls], [href^='#']")) {
    const name = control.getAttribute("aria-controls") || control.getAttribute("href").slice(1);
    const panel = document.getElementById(name);
    if (panel) { panel.hidden = false; panel.style.display = "block"; }
  }
  for (const panel of document.querySelectorAll("[role=tabpanel]")) panel.hidden = false;
}"""
"""What clicks on the controls of these pages would do, if they had their scripts."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Page]:
    with browsing("about:blank") as page:
        yield page


def letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


@pytest.mark.parametrize("page", [page for page, _, _ in SEEN])
def test_each_word_that_the_check_reads_is_shown_or_named(page: str, browser: Page) -> None:
    browser.set_content(f"<!DOCTYPE html><main>{page}</main>")
    browser.evaluate(OPEN)
    shown = letters(browser.inner_text("body") + browser.locator("body").aria_snapshot())
    words = {word for block in read_seen(f"<main>{page}</main>", {}).blocks for word in block.words}
    assert [word for word in words if word not in shown] == []
