"""An answer leaves the page: by a link that others open, by the clipboard, and on paper."""

import io
import os
from collections.abc import Iterator

import pypdfium2
import pytest
from playwright.sync_api import Page, expect

from app.client import Client
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.page.serving import Place
from kb_pipeline_tests.app.test_accessibility_browser import COLOURS, in_the_dark, violations
from kb_pipeline_tests.dagster_ui import browsing, picture

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300), pytest.mark.slow("starts what it looks at, and a browser")]

QUESTION = "How do I crop a layer?"


@pytest.fixture(scope="module")
def place(knowledge_base: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    place = Place(knowledge_base, tmp_path_factory.mktemp("place"))
    with place.service(), place.page():
        yield place


@pytest.fixture(scope="module")
def opened(place: Place) -> Iterator[Page]:
    with browsing(place.page_url) as page:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.set_default_timeout(90_000)
        yield page


@pytest.fixture
def page(opened: Page) -> Iterator[Page]:
    """The page with one answer."""
    opened.emulate_media(color_scheme="light")
    opened.goto("/")
    opened.get_by_role("textbox", name="Ask a question").fill(QUESTION)
    opened.keyboard.press("Enter")
    expect(opened.locator(".st-key-turn-0 .kb-source").first).to_be_visible()
    yield opened
    opened.goto("about:blank")


def test_a_link_is_made_opened_and_taken_back(page: Page, place: Place) -> None:
    page.get_by_role("button", name="Share").click()
    page.get_by_role("button", name="Make a link").click()
    link = page.get_by_role("dialog").locator("code")
    expect(link).to_contain_text(f"{place.page_url}/shared?answer=share_")
    assert violations(page) == []
    picture(page, "sharing-dialog")
    assert page.context.browser
    other = page.context.browser.new_page(viewport={"width": 1500, "height": 900}, reduced_motion="reduce")
    address = str(link.text_content())
    other.goto(address)
    expect(other.get_by_role("heading", name="A shared answer")).to_be_visible()
    expect(other.locator(".kb-question")).to_have_text(QUESTION)
    expect(other.locator(".kb-answer")).to_contain_text("Crop to Content")
    expect(other.get_by_role("button", name="Share")).to_have_count(0)
    expect(other.get_by_role("link", name="Shared answer")).to_have_count(0)
    assert violations(other) == []
    picture(other, "sharing-shared")
    other.locator(".kb-source").first.click()
    expect(other.locator(".kb-source-head")).to_contain_text("Layers")
    in_the_dark(other)
    expect(other.locator(".kb-source-head")).to_contain_text("Layers")
    assert violations(other, COLOURS) == []
    page.get_by_role("button", name="Stop sharing").click()
    expect(page.get_by_role("button", name="Make a link")).to_be_visible()
    other.goto(address)
    expect(other.get_by_text("Nothing is shared here any more")).to_be_visible()
    assert violations(other) == []
    other.close()


@pytest.mark.rare("a further way through the page in a browser")
def test_copied_sources_carry_their_addresses(page: Page, place: Place) -> None:
    page.get_by_role("button", name="Copy").click()
    expect(page.locator(".kb-copied")).to_be_visible()
    text = page.evaluate("navigator.clipboard.readText()")
    named, address = next(each for each in text.split("\n\n") if each.startswith("[1] ")).split("\n")
    assert named == "[1] Layers › Crop a layer"
    assert address.startswith(f"{place.page_url}/knowledge-base?article=layers&section=")
    page.goto(address)
    expect(page.locator(".kb-cited")).to_contain_text("Crop to Content")


@pytest.mark.parametrize("scheme", ["dark", pytest.param("light", marks=pytest.mark.rare("a further way to print"))])
def test_an_answer_is_printed_with_numbered_sources_and_their_addresses(page: Page, place: Place, scheme: str) -> None:
    page.get_by_role("textbox", name="Ask a question").fill("How do I clear a paper jam?")
    page.keyboard.press("Enter")
    expect(page.locator(".st-key-turn-1 .kb-source").first).to_be_visible()
    if scheme == "dark":
        in_the_dark(page)
    expect(page.locator(".st-key-turn-1 .kb-source").first).to_be_visible()
    page.evaluate("window.print = () => { window.printed = true }")
    page.locator(".st-key-turn-0").get_by_role("button", name="Print").click()
    page.wait_for_function("window.printed")
    paper = page.pdf(format="A4", print_background=True)
    keep(paper, f"sharing-paper-{scheme}")
    text = text_of(paper)
    assert QUESTION in text and "Crop to Content" in text
    assert "[1] Layers › Crop a layer. As it stood on" in text
    assert f"{place.page_url}/knowledge-base?article=layers" in text.replace("\n", "")
    assert not any(other in text for other in ("paper jam", "New conversation", "Ask a question", "Show more", "Share"))
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    whole = text_of(page.pdf(format="A4"))
    assert QUESTION in whole and "paper jam" in whole


def keep(pdf: bytes, name: str) -> None:
    """Save the first page, where ``PICTURES`` asks for it."""
    if folder := os.environ.get("PICTURES"):
        pypdfium2.PdfDocument(io.BytesIO(pdf))[0].render(scale=1.5).to_pil().save(f"{folder}/{name}.png")


def text_of(pdf: bytes) -> str:
    document = pypdfium2.PdfDocument(io.BytesIO(pdf))
    return "\n".join(page.get_textpage().get_text_bounded() for page in document).replace("\r", "")


def test_a_client_of_the_service_can_do_the_same(place: Place, page: Page) -> None:
    client = Client(place.service_url)
    conversation = client.conversation(client.conversations().conversations[0].id)
    share = client.share(conversation.id, conversation.turns[0].response_id)
    assert client.shared(share.id).turn.question == QUESTION
    client.take_back(conversation.id, conversation.turns[0].response_id)
    assert client.conversation(conversation.id).turns[0].share is None
