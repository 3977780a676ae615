"""A question that a PDF answers, in a real browser: the answer leads to the page of the document on which it stands."""

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from kb_pipeline.flow.build import build_article
from kb_pipeline.flow.layers import LAYER_NAMES, Run
from kb_pipeline.flow.publish import publish
from kb_pipeline.flow.workspace import open_workspace
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.page.serving import ROOT, Place
from kb_pipeline_tests.dagster_ui import browsing, picture, wait_until

pytestmark = [
    pytest.mark.browser,
    pytest.mark.timeout(300),
    pytest.mark.rare("a further way through the page"),
]

HANDBOOK = "administrator-handbook.pdf"
QUESTION = "How much memory does a server for 50 agents need?"
AGREEMENT = "signed-agreement.pdf"
ABOUT_AGREEMENT = "How fast does Wrendesk answer tickets of priority Urgent?"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """The chat page before a knowledge base that has the administrators' handbook and an agreement that was scanned."""
    folder = tmp_path_factory.mktemp("documents")
    staging = folder / "staging"
    staging.mkdir()
    for name in (HANDBOOK, AGREEMENT):
        shutil.copy(ROOT / "samples" / "staging" / name, staging)
    settings = Settings(staging=str(staging), home=str(folder / "home"), embedder="hashing")
    run = Run("11111111-2222-3333-4444-555555555555", "2026-01-01T00:00:00+00:00")
    built = [build_article(settings, name, LAYER_NAMES, run) for name in (HANDBOOK, AGREEMENT)]
    assert [each.error for each in publish(open_workspace(settings), built, LAYER_NAMES, run)] == [None, None]
    (folder / "place").mkdir()
    place = Place(settings, folder / "place")
    with place.service(), place.page(), browsing(place.page_url) as page:
        yield page


def test_a_reference_to_a_pdf_opens_the_picture_of_its_page(page: Page) -> None:
    page.goto("/")
    page.get_by_role("textbox", name="Ask a question").fill(QUESTION)
    page.keyboard.press("Enter")
    source = page.locator(".kb-source").first
    expect(source).to_contain_text(f"{HANDBOOK}, p. 1")
    picture(page, "document-answer")
    source.click()
    panel = page.locator(".st-key-source-panel")
    shown = panel.get_by_role("img", name=f"Page 1 of {HANDBOOK}")
    expect(shown).to_be_visible()
    expect(panel).to_contain_text("page 1 (number 3 in the file)")
    link = panel.get_by_role("link", name="Open at page 1")
    assert link.get_attribute("href") == f"/api/documents/{HANDBOOK}/{HANDBOOK}#page=3"
    assert panel.get_by_text("Nothing is marked").count() == 0
    wait_until(page, "document.querySelector('.kb-page-picture img').naturalWidth > 0")
    picture(page, "document-page")
    panel.get_by_role("button", name="Next page").click()
    expect(panel.get_by_role("img", name=f"Page 2 of {HANDBOOK}")).to_be_visible()
    panel.get_by_role("button", name="Back to page 1").click()
    expect(shown).to_be_visible()


@pytest.mark.rare("a further way through the page in a browser")
def test_the_sentence_is_marked_on_the_picture_of_a_scanned_page(page: Page) -> None:
    page.goto("/")
    page.get_by_role("textbox", name="Ask a question").fill(ABOUT_AGREEMENT)
    page.keyboard.press("Enter")
    page.locator(".kb-source", has_text=AGREEMENT).first.click()
    panel = page.locator(".st-key-source-panel")
    expect(panel.get_by_role("img", name=f"Page 1 of {AGREEMENT}")).to_be_visible()
    wait_until(page, "document.querySelector('.kb-page-picture img').naturalWidth > 0")
    assert panel.get_by_text("The page is a scan").count() == 0
    assert panel.get_by_text("marked").count() == 0, "nothing is said where all sentences are marked"
    picture(page, "document-scan")
    address = panel.get_by_role("img").get_attribute("src")
    assert address
    headers = page.request.get(address).headers
    assert (headers["kb-scan"], headers["kb-marked"].partition("/")[0]) == ("true", headers["kb-marked"][-1])
    assert headers["kb-marked"] != "0/0"
