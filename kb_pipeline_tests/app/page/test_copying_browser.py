"""What *Copy* below an answer takes along, in a browser: the words as they are shown, with what lists are marked by."""

from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

import app.page
from app.page.chat import TAKE_ALONG, answer_html
from app.schema.answers import ChatAnswer
from kb_pipeline_tests.app.page.citing import answer, citation
from kb_pipeline_tests.dagster_ui import browsing

pytestmark = pytest.mark.browser

BRIDGE = b64encode(Path(app.page.__file__).with_name("bridge.js").read_bytes()).decode()
LISTEN = """async (script) => {
  Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (text) => { window.copied = text } } })
  const { default: listen } = await import(`data:text/javascript;base64,${script}`)
  listen({ data: {}, parentElement: document.body, setTriggerValue() {} })
}"""
STEPS = "> 1. Open the form.\n> 2. Enter\n>     - a name\n>     - a trigger\n> 3. Save it. [Ref #1]\n\n"
MORE = "From *Tests*:\n\n> 1. Test it. [Ref #2]\n\n"
REMARK = "*Quoted.*"


@pytest.fixture(scope="module")
def browser() -> Iterator[Page]:
    with browsing("about:blank") as page:
        yield page


def copied(browser: Page, given: ChatAnswer, *, unfolded: bool = False) -> str:
    turn = f'<div class="st-key-turn-0">{answer_html(given, 0)}{TAKE_ALONG}</div>'
    browser.route("http://kb.example/", lambda route: route.fulfill(body=turn, content_type="text/html; charset=utf-8"))
    browser.goto("http://kb.example/")
    browser.evaluate(LISTEN, BRIDGE)
    if unfolded:
        browser.get_by_text("Show more").click()
    browser.get_by_role("button", name="Copy").click()
    return str(browser.evaluate("window.copied"))


def folded_answer() -> ChatAnswer:
    long = "> " + "a word " * 120 + "[Ref #1]\n\n"
    other = citation(2, section="Tests", heading_path=("Layers", "Tests"))
    fold = (len(long), len(long + MORE))
    return answer(long + MORE + REMARK, citation(1), other, folded=fold)


def test_steps_keep_their_numbers(browser: Page) -> None:
    lines = copied(browser, answer(STEPS + REMARK, citation(1))).splitlines()
    assert [line for line in lines if line][:5] == [
        "1. Open the form.",
        "2. Enter",
        "   - a name",
        "   - a trigger",
        "3. Save it. [1]",
    ]


def test_steps_behind_a_picture_go_on_with_their_numbers(browser: Page) -> None:
    text = copied(browser, answer("> 2. First this.\n>\n> 3. Then that. [Ref #1]\n\n", citation(1)))
    assert "2. First this." in text
    assert "3. Then that. [1]" in text


def test_what_is_folded_is_not_copied_nor_are_its_sources(browser: Page) -> None:
    text = copied(browser, folded_answer())
    assert "Show more" not in text
    assert "Test it" not in text
    assert "[1] Layers › Crop a layer" in text
    assert "[2]" not in text


def test_what_is_unfolded_is_copied_with_its_sources(browser: Page) -> None:
    text = copied(browser, folded_answer(), unfolded=True)
    assert "Show more" not in text
    assert "1. Test it. [2]" in text
    assert "[2] Layers › Tests" in text
