"""Waiting and failing, as a reader in a browser sees it: late scripts, a line that is gone, a server that is down."""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.page.serving import Place
from kb_pipeline_tests.dagster_ui import chromium, picture, visiting

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

QUESTION = "How do I crop a layer to its content?"
SCRIPTS = re.compile(r"/static/js/")
OF_THE_BOX = re.compile(r"/static/js/ChatInput\.")


@pytest.fixture(scope="module")
def place(knowledge_base: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    place = Place(knowledge_base, tmp_path_factory.mktemp("waiting"))
    with place.service():
        yield place


@pytest.fixture(scope="module")
def serving(place: Place) -> Iterator[ExitStack]:
    """The page's server; closing it stops the server."""
    with ExitStack() as running:
        running.enter_context(place.page())
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def page(browser: Browser, place: Place, serving: ExitStack) -> Iterator[Page]:
    with visiting(browser, place.page_url) as page:
        page.set_default_timeout(90_000)
        yield page


def box(page: Page) -> Locator:
    """The box for questions of the page itself, once it takes one."""
    return page.get_by_test_id("stChatInputTextArea").and_(page.locator(":enabled"))


def opened(page: Page) -> None:
    page.goto("/")
    expect(page.get_by_role("heading", name="What would you like to know?")).to_be_visible()
    expect(box(page)).to_be_visible()
    expect(page.locator("#kb-waiting")).to_have_count(0)


@pytest.mark.slow("starts what it looks at, and a browser")
def test_before_scripts_have_come_a_question_can_be_asked_in_the_readers_language(page: Page) -> None:
    held: list[Route] = []
    may_come = re.compile("(?!)")
    page.route(SCRIPTS, lambda route: route.continue_() if may_come.search(route.request.url) else held.append(route))
    page.set_extra_http_headers({"accept-language": "de-DE"})
    page.goto("/", wait_until="commit")
    early = page.get_by_role("textbox", name="Stellen Sie eine Frage")
    expect(page.get_by_text("Die Seite wird geladen")).to_be_visible()
    early.fill(QUESTION)
    picture(page, "waiting-for-scripts")
    early.press("Enter")
    expect(page.get_by_text("Ihre Frage wird gestellt, sobald die Seite da ist")).to_be_visible()
    box_of_the_page = [each for each in held if OF_THE_BOX.search(each.request.url)]
    may_come = SCRIPTS
    for request in held:
        if request not in box_of_the_page:
            request.continue_()
    expect(page.locator("[data-test-script-state=notRunning]")).to_be_attached()
    expect(early).to_be_visible()
    for request in box_of_the_page:
        request.continue_()
    expect(page.locator(".kb-question")).to_have_text(QUESTION)
    expect(page.locator(".st-key-turn-0 .kb-answer")).to_contain_text("Crop to Content")
    expect(page.locator("#kb-waiting")).to_have_count(0)


@pytest.mark.slow("starts what it looks at, and a browser")
def test_a_question_that_is_asked_offline_is_sent_when_the_line_is_back(page: Page) -> None:
    opened(page)
    page.context.set_offline(True)
    expect(page.get_by_text("You are offline.")).to_be_visible()
    box(page).fill(QUESTION)
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("stChatInputTextArea")).to_have_value(QUESTION)
    picture(page, "waiting-offline")
    page.context.set_offline(False)
    expect(page.locator(".st-key-turn-0 .kb-answer")).to_contain_text("Crop to Content")
    expect(page.get_by_text("You are offline.")).to_have_count(0)
    expect(page.locator(".kb-question")).to_have_count(1)


@pytest.mark.rare("a further way through the page in a browser")
@pytest.mark.slow("starts what it looks at, and a browser")
def test_what_is_typed_outlives_a_reload(page: Page) -> None:
    opened(page)
    box(page).fill("How do I")
    page.reload()
    expect(box(page)).to_have_value("How do I")


@pytest.mark.slow("starts what it looks at, and a browser")
def test_a_server_that_is_down_is_told_in_our_words_and_what_is_typed_is_kept(
    page: Page, place: Place, serving: ExitStack
) -> None:
    opened(page)
    box(page).fill(QUESTION)
    serving.close()
    says = page.get_by_text("The knowledge base does not answer at the moment.")
    expect(says).to_be_visible()
    picture(page, "waiting-server-down")
    serving.enter_context(place.page())
    expect(says).to_have_count(0)
    expect(page.get_by_test_id("stDialog")).to_have_count(0)
    expect(box(page)).to_have_value(QUESTION)
    box(page).press("Enter")
    expect(page.locator(".st-key-turn-0 .kb-answer")).to_contain_text("Crop to Content")


@pytest.mark.rare("a further way through the page in a browser")
def test_a_question_that_did_not_arrive_stands_in_the_box_again(page: Page, place: Place, serving: ExitStack) -> None:
    opened(page)
    page.evaluate(
        """() => { const { send } = WebSocket.prototype
        WebSocket.prototype.send = () => {} // a line that swallows all
        window.mend = () => { WebSocket.prototype.send = send } }"""
    )
    box(page).fill(QUESTION)
    box(page).press("Enter")
    expect(page.get_by_test_id("stChatInputTextArea")).to_have_value("")
    serving.close()
    expect(page.get_by_text("The knowledge base does not answer at the moment.")).to_be_visible()
    page.evaluate("window.mend()")
    serving.enter_context(place.page())
    expect(page.get_by_text("Your question did not arrive. Here it is again.")).to_be_visible()
    expect(box(page)).to_have_value(QUESTION)


@pytest.mark.timeout(600)
@pytest.mark.rare("a further way through the page in a browser, with a service that is started twice")
def test_what_was_read_stays_while_the_service_is_down_and_a_question_is_sent_when_it_is_back(
    browser: Browser, knowledge_base: Settings, tmp_path: Path
) -> None:
    place = Place(knowledge_base, tmp_path / "place")
    with ExitStack() as service, place.page(), visiting(browser, place.page_url) as page:
        service.enter_context(place.service())
        page.set_default_timeout(90_000)
        opened(page)
        box(page).fill(QUESTION)
        box(page).press("Enter")
        expect(page.locator(".st-key-turn-0 .kb-answer")).to_contain_text("Crop to Content")
        expect(box(page)).to_be_visible()
        service.close()
        box(page).fill("How do I undo a crop?")
        box(page).press("Enter")
        expect(page.get_by_text("Your question is kept")).to_be_visible()
        expect(page.locator(".st-key-turn-0 .kb-answer")).to_contain_text("Crop to Content")
        picture(page, "waiting-service-down")
        service.enter_context(place.service())
        expect(page.locator(".st-key-turn-1 .kb-answer")).to_contain_text("Undo")
        expect(page.get_by_text("Your question is kept")).to_have_count(0)
        expect(page.locator(".kb-question")).to_have_count(2)


ASKS_AT_ONCE = """new MutationObserver((_, observer) => {
  const box = document.querySelector('[data-testid="stChatInputTextArea"]:enabled')
  if (!box) return
  observer.disconnect()
  Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value').set.call(box, %r)
  box.dispatchEvent(new Event('input', { bubbles: true }))
  const enter = { key: 'Enter', code: 'Enter', keyCode: 13, bubbles: true, cancelable: true }
  setTimeout(() => box.dispatchEvent(new KeyboardEvent('keydown', enter)))
}).observe(document, { childList: true, subtree: true })"""


@pytest.mark.rare("a further way through the page in a browser")
@pytest.mark.slow("starts what it looks at, and a browser")
def test_a_question_that_is_asked_before_the_page_is_complete_is_not_taken_for_lost(page: Page) -> None:
    page.add_init_script(ASKS_AT_ONCE % QUESTION)
    page.goto("/")
    expect(page.locator(".st-key-turn-0 .kb-answer")).to_contain_text("Crop to Content")
    expect(page.get_by_text("Your question did not arrive.")).to_have_count(0)
    expect(box(page)).to_have_value("")


@pytest.mark.rare("a further way through the page in a browser")
def test_a_picture_that_does_not_come_leaves_its_words_until_the_line_is_back(page: Page) -> None:
    page.route("**/api/images/**", lambda route: route.abort())
    opened(page)
    box(page).fill(QUESTION)
    box(page).press("Enter")
    lost = page.get_by_text("This picture is not available: ")
    expect(lost.first).to_be_visible()
    page.unroute("**/api/images/**")
    page.context.set_offline(True)
    expect(page.get_by_text("You are offline.")).to_be_visible()
    page.context.set_offline(False)
    expect(page.locator(".kb-answer .kb-image img").first).to_be_visible()
    expect(lost).to_have_count(0)


@pytest.mark.rare("a further way through the page in a browser")
def test_ask_is_an_address_of_the_page(page: Page) -> None:
    page.goto("/ask")
    expect(page.get_by_role("heading", name="What would you like to know?")).to_be_visible()
    expect(page.get_by_text("Page not found")).to_have_count(0)
