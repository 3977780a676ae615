"""From a question that nobody can answer to its answer, in a real browser, with the real daemon, and what it takes.

It is asked and answered on a phone, and read on a wide screen. With ``PICTURES`` set to a folder, each step is pictured
there, and ``loop.json`` says how long it took.
"""

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from kb_pipeline_tests.dagster_ui import KB, Site, browsing, picture
from kb_pipeline_tests.ports import free_port, wait_for

pytestmark = [
    pytest.mark.browser,
    pytest.mark.timeout(1800),
    pytest.mark.rare("the whole loop; its steps have their own tests"),
]

SAMPLES = Path(__file__).parents[1] / "samples" / "staging"
MOST_CLICKS = 9
WAIT = 600_000
"""Milliseconds that anything may take on a machine that is busy."""
SCREENS = {"phone": (390, 844), "desktop": (1500, 900)}
QUESTION, ANSWER = "How long is the zebra export kept?", "The zebra export is kept for 45 days, then deleted."


@dataclass
class Person:
    """Uses the page by pointing, clicking and typing, and counts it; ``seconds`` is how long each step took."""

    page: Page
    clicks: int = 0
    keys: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    _since: float = field(default_factory=time.monotonic)
    _screen: str = ""

    def turn_to(self, screen: str) -> None:
        """Go on before another screen."""
        width, height = SCREENS[screen]
        self.page.set_viewport_size({"width": width, "height": height})
        self._screen = screen

    def picture(self, name: str) -> None:
        """Save what is shown now."""
        picture(self.page, f"loop-{name}-{self._screen}")

    def click(self, target: Locator) -> None:
        target.click()
        self.clicks += 1

    def type(self, text: str) -> None:
        self.page.keyboard.type(text)
        self.keys += len(text)

    def press(self, key: str) -> None:
        self.page.keyboard.press(key)
        self.keys += 1

    def done(self, step: str) -> None:
        """The step is over."""
        now = time.monotonic()
        self.seconds[step], self._since = round(now - self._since, 1), now


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The chat page of a knowledge base of two sample articles that the daemon watches, as ``kb serve`` serves it."""
    ports = {name: str(free_port()) for name in ("KB_PAGE_PORT", "KB_APP_PORT", "KB_DAGSTER_PORT")}
    site = Site(tmp_path_factory.mktemp("site"), KB_EMBEDDER="minilm", KB_WATCH="true", KB_WATCH_SECONDS="5", **ports)
    for name in ("rest-api", "service-notes.md"):
        (shutil.copytree if (SAMPLES / name).is_dir() else shutil.copy)(SAMPLES / name, site.staging / name)
    site.kb_here("ingest")
    serving = subprocess.Popen([KB, "serve"], env=site.environment, cwd=site.folder)
    try:
        wait_for(f"http://127.0.0.1:{ports['KB_DAGSTER_PORT']}/server_info", serving, 300)
        yield f"http://127.0.0.1:{ports['KB_PAGE_PORT']}"
    finally:
        serving.send_signal(signal.SIGTERM)
        serving.wait(120)


def test_a_question_is_answered_with_what_a_person_contributes(url: str) -> None:
    with browsing(url) as page:
        page.set_default_timeout(WAIT)
        expect.set_options(timeout=WAIT)
        person = Person(page)
        contribute(person)
    assert person.clicks <= MOST_CLICKS
    assert person.keys == len(QUESTION) + 1 + len(ANSWER), "nothing is typed twice"
    if folder := os.environ.get("PICTURES"):
        told = {"clicks": person.clicks, "keys": person.keys, "seconds": person.seconds}
        Path(folder, "loop.json").write_text(json.dumps(told, indent=1))


def contribute(person: Person) -> None:
    """Ask, find the gap, and write what is missing, on a phone; accept it and ask again, before a wide screen."""
    page = person.page
    person.turn_to("phone")
    page.goto("/")
    person.click(page.get_by_role("textbox", name="Ask a question"))
    person.done("open")
    person.type(QUESTION)
    person.press("Enter")
    expect(page.get_by_role("button", name="Propose an answer")).to_be_visible()
    person.done("ask")
    person.picture("1-refused")
    page.goto("/gaps")
    person.clicks += 1
    person.click(page.get_by_role("button", name="Look now"))
    gap = page.locator(".kb-articles > li", has_text=QUESTION)
    expect(gap).to_be_visible()
    person.done("look for gaps")
    person.picture("2-gap")
    person.click(gap.get_by_role("link", name="Contribute"))
    expect(page.get_by_role("textbox", name="Description")).to_have_value(QUESTION)
    person.click(page.get_by_role("textbox", name="Text, as Markdown"))
    person.type(ANSWER)
    person.picture("3-form")
    person.click(page.get_by_role("button", name="Propose", exact=True))
    expect(page.get_by_role("heading", name=QUESTION)).to_be_visible()
    person.done("propose")
    person.picture("4-proposed")
    person.turn_to("desktop")
    person.click(page.get_by_role("button", name="Accept"))
    expect(page.get_by_text("It stands in the staging folder")).to_be_visible()
    person.done("accept")
    person.picture("5-accepted")
    expect(page.get_by_text("It is published")).to_be_visible()
    person.done("ingest")
    person.picture("6-published")
    person.click(page.get_by_role("button", name=f"Ask: {QUESTION}"))
    answered = page.locator(".kb-answer").last
    expect(answered).to_contain_text(ANSWER.partition(",")[0].removesuffix("."))
    person.click(page.locator(".st-key-turn-0 .kb-source").first)
    expect(page.locator(".kb-source-head")).to_be_visible()
    person.done("ask again")
    person.picture("7-answered")
