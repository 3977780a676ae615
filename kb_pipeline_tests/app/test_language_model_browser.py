"""Somebody who has only a key chooses a language model on the page, without a restart."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.api.test_model import KEY, Endpoint
from kb_pipeline_tests.app.page.serving import Place
from kb_pipeline_tests.dagster_ui import browsing, picture

CHOSEN = re.compile("Language model: chat-\u2060?1")  # its label is kept on one line

pytestmark = [
    pytest.mark.browser,
    pytest.mark.timeout(300),
    pytest.mark.rare("a further way through the page"),
]


@pytest.fixture
def page(knowledge_base: Settings, tmp_path: Path) -> Iterator[Page]:
    place = Place(knowledge_base, tmp_path)
    with place.service(), place.page(), browsing(place.page_url) as page:
        page.set_default_timeout(60_000)
        page.goto("/")
        yield page


def opens_settings(page: Page) -> None:
    page.keyboard.press("Escape")  # closes it where it is open
    page.get_by_role("button", name="Settings").click()


def test_a_model_is_tried_chosen_used_and_forgotten(page: Page) -> None:
    with Endpoint(tools=False) as endpoint:
        opens_settings(page)
        page.get_by_role("button", name="Language model: none").click()
        page.get_by_label("Where it runs").click()
        page.get_by_role("option", name="Another service").click()
        page.get_by_label("Address").fill(endpoint.base_url)
        page.get_by_label("Key").fill("no-key-of-ours")
        page.get_by_role("button", name="Test").click()
        expect(page.get_by_text("The model endpoint refused our credentials (401); check the key.")).to_be_visible()
        page.get_by_label("Key").fill(KEY)
        page.get_by_role("button", name="Test").click()
        expect(page.get_by_text("chat-1 works")).to_be_visible()
        expect(page.get_by_text("is given what one search finds")).to_be_visible()
        picture(page, "language-model")
        page.get_by_role("button", name="Use this model").click()
        opens_settings(page)
        expect(page.get_by_role("button", name=CHOSEN)).to_be_visible()
        assert KEY not in page.content()
        box = page.get_by_role("textbox", name="Ask a question")
        box.fill("How do I crop a layer?")
        box.press("Enter")
        expect(page.get_by_text("Written by chat-1 from 1 search")).to_be_visible()
        assert KEY not in page.content()
    opens_settings(page)
    page.get_by_role("button", name=CHOSEN).click()
    page.get_by_role("button", name="Answer as the settings say").click()
    opens_settings(page)
    expect(page.get_by_role("button", name="Language model: none")).to_be_visible()
