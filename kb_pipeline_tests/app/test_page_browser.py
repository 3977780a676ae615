"""The chat page in a real browser, before the real service and a model.

The servers and the browser's page, which has then compiled its scripts, are there once for all tests. Each test begins
without conversations, and without anything that the browser has kept.
"""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, Route, expect

from app.client import Client
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.model_servers import OwnModel
from kb_pipeline_tests.app.page.serving import Place, SlowModel
from kb_pipeline_tests.app.publishing import Author
from kb_pipeline_tests.app.quality_history import write_history
from kb_pipeline_tests.dagster_ui import browsing, picture

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

QUESTION, FOLLOW_UP = "How do I crop a layer to its content?", "And where is that?"
IMAGE = "/api/images/layers/images/crop.png"
SAID = "Choose **Layer**, then *Crop to Content*. [Ref #1]\n\n"
HAS_RUN = re.compile(r"/runs/11111111-2222")
IS_READ_FROM_ITS_TOP = """(turn) => {
    const { top, bottom } = document.querySelector(turn)?.getBoundingClientRect() ?? {}
    return 0 < top && top < 100 && bottom > innerHeight
}"""
HOSTILE = "<img src=x onerror='window.hacked=1'> :smile: **b** $x$"


class Servers:
    """The service and the page, with the model that the service asks, and their own knowledge base."""

    def __init__(self, place: Place, model: SlowModel, own: Settings) -> None:
        self.place, self.model = place, model
        self.client = Client(place.service_url)
        self.own = own
        self.running = ExitStack()

    def start_service(self) -> None:
        self.running.enter_context(self.place.service())

    def start_page(self) -> None:
        self.running.enter_context(self.place.page())

    def forget_conversations(self) -> None:
        while summaries := self.client.conversations().conversations:
            for summary in summaries:
                self.client.delete(summary.id)


@dataclass(frozen=True)
class Reader:
    """Somebody who looks at the page in a browser."""

    servers: Servers
    page: Page

    def ask(self, question: str) -> None:
        self.page.get_by_role("textbox", name="Ask a question").fill(question)
        self.page.keyboard.press("Enter")

    def has_answer(self, conversation_id: str, question: str) -> None:
        """Let the service answer the question to its end, without the page."""
        self.servers.model.go_on.set()
        request = {"model": "knowledge-base", "input": question, "conversation": conversation_id}
        reply = httpx.post(f"{self.servers.place.service_url}/v1/responses", json=request, timeout=60)
        assert reply.raise_for_status().json()["status"] == "completed"

    def opens_conversation(self, *questions: str) -> None:
        """Open a conversation in which these questions were answered."""
        for question in questions:
            self.has_answer("conv_crop", question)
        self.page.goto("/?conversation=conv_crop")
        expect(self.page.locator(f".st-key-turn-{len(questions) - 1} .kb-answer")).to_contain_text("and the end.")


@pytest.fixture(scope="module")
def servers(knowledge_base: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    model = SlowModel(SAID, f"![the crop menu]({IMAGE})\n\n")
    with OwnModel(model) as served:
        settings = {"KB_CHAT_MODEL": "m", "KB_CHAT_BASE_URL": served.base_url, "KB_CHAT_API_KEY": "k"}
        folder = tmp_path_factory.mktemp("place")
        place = Place(knowledge_base, folder, KB_ANSWERING="retrieve-first", KB_VISION="false", **settings)
        own = knowledge_base.model_copy(update={"home": place.environment["KB_HOME"]})
        write_history(own)
        servers = Servers(place, model, own)
        with servers.running:
            servers.start_service()
            servers.start_page()
            yield servers


@pytest.fixture(scope="module")
def opened(servers: Servers) -> Iterator[Page]:
    with browsing(servers.place.page_url) as page:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.set_default_timeout(90_000)
        yield page


@pytest.fixture
def reader(servers: Servers, opened: Page) -> Iterator[Reader]:
    servers.model.go_on.clear()
    opened.set_viewport_size({"width": 1500, "height": 900})
    opened.emulate_media(color_scheme="light")
    yield Reader(servers, opened)
    opened.unroute_all()
    opened.evaluate("localStorage.clear(); sessionStorage.clear()")
    opened.context.clear_cookies()
    opened.goto("about:blank")
    servers.model.go_on.set()  # an answer that is still being written ends
    servers.forget_conversations()


@pytest.mark.rare("a further way through the page in a browser")
@pytest.mark.slow("starts what it looks at, and a browser")
def test_a_reader_is_greeted_and_nothing_reminds_of_a_demo(reader: Reader) -> None:
    reader.page.goto("/")
    expect(reader.page.get_by_role("heading", name="What would you like to know?")).to_be_visible()
    expect(reader.page.get_by_role("button", name="How do I", exact=False).first).to_be_visible()
    for name in ("Deploy", "Main menu"):
        expect(reader.page.get_by_role("button", name=name)).to_have_count(0)
    picture(reader.page, "chat-welcome")


@pytest.mark.slow("starts what it looks at, and a browser")
def test_an_answer_streams_with_its_image_and_can_be_stopped(reader: Reader) -> None:
    reader.page.goto("/")
    reader.ask(QUESTION)
    answer = reader.page.locator(".st-key-turn-live")
    expect(answer.get_by_text("Crop to Content")).to_be_visible()
    expect(answer.get_by_text("more more more")).to_be_visible()
    assert shown_width(reader.page) > 0
    expect(reader.page.get_by_text("What would you like to know?")).to_be_hidden()
    reader.page.get_by_role("button", name="Stop").click()
    expect(reader.page.get_by_text("not complete").or_(reader.page.get_by_text("You stopped"))).to_be_visible()
    assert reader.servers.model.left.wait(60), "the model was left to talk to nobody"


@pytest.mark.slow("starts what it looks at, and a browser")
def test_an_answer_is_read_from_its_question_on_while_it_is_written_and_when_it_is_opened_again(reader: Reader) -> None:
    reader.page.set_viewport_size({"width": 1300, "height": 500})
    reader.opens_conversation(QUESTION)
    reader.servers.model.go_on.clear()
    reader.ask(FOLLOW_UP)
    expect(reader.page.get_by_role("button", name="Stop")).to_be_visible()
    reader.page.wait_for_function(IS_READ_FROM_ITS_TOP, arg=".st-key-turn-live")
    reader.servers.model.go_on.set()
    expect(reader.page.get_by_role("button", name="Stop")).to_be_hidden()
    reader.page.wait_for_function(IS_READ_FROM_ITS_TOP, arg=".st-key-turn-1")
    reader.page.reload()
    reader.page.wait_for_function(IS_READ_FROM_ITS_TOP, arg=".st-key-turn-1")


@pytest.mark.rare("a further way through the page in a browser")
def test_a_follow_up_is_answered_whole(reader: Reader) -> None:
    reader.opens_conversation(QUESTION)
    reader.ask(FOLLOW_UP)
    expect(reader.page.locator(".st-key-turn-1 .kb-answer")).to_contain_text("and the end.")
    expect(reader.page.locator(".st-key-turn-1 button.kb-ref")).to_have_text(["1"])
    picture(reader.page, "chat-answer")


@pytest.mark.slow("starts what it looks at, and a browser")
def test_a_reference_opens_its_source_with_the_keyboard_and_esc_closes_it(reader: Reader) -> None:
    reader.opens_conversation(QUESTION, FOLLOW_UP)
    reference = reader.page.locator(".st-key-turn-1 button.kb-ref")
    expect(reference).to_be_visible()
    reference.press("Enter")
    source = reader.page.locator(".st-key-source-panel")
    expect(source.get_by_role("heading", name="Layers")).to_be_visible()
    expect(source.locator("mark").first).to_contain_text("Crop to Content")
    expect(source.get_by_role("link", name="in Dagster")).to_have_attribute("href", HAS_RUN)
    assert shown_width(reader.page, ".st-key-source-panel") > 0
    picture(reader.page, "chat-source")
    reader.page.keyboard.press("Escape")
    expect(source).to_be_hidden()


@pytest.mark.slow("starts what it looks at, and a browser")
def test_a_source_leads_to_its_section_in_the_article_and_back(reader: Reader) -> None:
    reader.page.set_viewport_size({"width": 1300, "height": 500})
    reader.opens_conversation(QUESTION)
    panel, mark = reader.page.locator(".st-key-source-panel"), reader.page.locator(".kb-cited mark").first
    reader.page.locator(".st-key-turn-0 button.kb-source").click()
    panel.get_by_role("link", name="Open the article").click()
    expect(mark).to_contain_text("Crop to Content")
    expect(mark).to_be_in_viewport()
    expect(reader.page.get_by_role("heading", name="Undo a crop")).to_be_attached()
    picture(reader.page, "article-section-1300")
    address = reader.page.url
    reader.page.set_viewport_size({"width": 390, "height": 500})
    reader.page.reload()
    expect(mark).to_be_in_viewport()
    assert reader.page.url == address
    picture(reader.page, "article-section-390")

    reader.page.go_back()
    expect(panel.locator("mark").first).to_be_visible()
    reader.page.go_back()
    expect(panel).to_be_hidden()
    expect(reader.page.locator(".st-key-turn-0 .kb-answer")).to_contain_text("and the end.")
    reader.page.go_forward()
    expect(panel.locator("mark").first).to_be_visible()
    reader.page.go_forward()
    expect(mark).to_be_in_viewport()


@pytest.mark.rare("a further way through the page in a browser")
@pytest.mark.slow("starts what it looks at, and a browser")
def test_a_picture_is_enlarged_in_place(reader: Reader) -> None:
    reader.opens_conversation(QUESTION)
    reader.page.locator(".st-key-turn-0 .kb-source").click()
    panel, shown = reader.page.locator(".st-key-source-panel"), reader.page.locator("dialog.kb-enlarged")
    for where in (panel, reader.page.locator(".st-key-turn-0 .kb-answer")):
        where.locator(".kb-image").first.click()
        expect(shown.locator("img")).to_be_in_viewport()
        reader.page.keyboard.press("Escape")
        expect(shown).to_have_count(0)
    expect(panel).to_be_visible()


@pytest.mark.rare("a further way through the page in a browser")
@pytest.mark.slow("starts what it looks at, and a browser")
def test_pointing_at_a_reference_shows_what_it_says(reader: Reader) -> None:
    reader.opens_conversation(QUESTION)
    reference = reader.page.locator(".st-key-turn-0 button.kb-ref").first
    reference.hover()
    said = reference.evaluate("each => getComputedStyle(each, '::after').content")
    assert "Crop to Content" in said
    picture(reader.page, "chat-preview")


@pytest.mark.rare("a further way through the page in a browser")
def test_a_link_to_a_section_shows_it_in_a_fresh_tab(reader: Reader) -> None:
    reader.opens_conversation(QUESTION)
    reader.page.locator(".st-key-turn-0 button.kb-source").click()
    link = reader.page.locator(".st-key-source-panel").get_by_role("link", name="Open the article")
    with reader.page.context.expect_page() as opened:
        link.click(modifiers=["Control"])
    with opened.value as tab:
        tab.set_default_timeout(90_000)
        expect(tab.locator(".kb-cited mark").first).to_be_in_viewport()


@pytest.mark.rare("a further way through the page in a browser")
def test_the_panel_of_a_source_is_a_place_until_it_is_closed(reader: Reader) -> None:
    reader.opens_conversation(QUESTION)
    panel = reader.page.locator(".st-key-source-panel")
    reader.page.locator(".st-key-turn-0 button.kb-source").click()
    expect(panel).to_be_visible()
    reader.page.reload()
    expect(panel.locator("mark").first).to_be_visible()
    panel.get_by_role("button", name="Close").click()
    expect(panel).to_be_hidden()
    expect(reader.page).to_have_url(re.compile(r"\?conversation=conv_crop$"))


@pytest.mark.rare("a further way through the page in a browser")
def test_a_source_that_has_changed_since_says_how(reader: Reader, tmp_path: Path) -> None:
    reader.opens_conversation(QUESTION)
    author = Author(reader.servers.own, tmp_path / "staging")
    author.replaces("layers", "Choose Layer, then", "Choose Image, then")
    try:
        reader.page.reload()
        expect(reader.page.get_by_text("The source of this answer has changed since it was given.")).to_be_visible()
        reader.page.get_by_role("button", name="(changed since)").last.click()
        difference = reader.page.locator(".st-key-source-panel").locator(".kb-difference")
        expect(difference.locator("del").first).to_have_text("Layer,")
        expect(difference.locator("ins").first).to_have_text("Image,")
        picture(reader.page, "chat-stale-source")
    finally:
        author.replaces("layers", "Choose Image, then", "Choose Layer, then")


@pytest.mark.rare("a further way through the page in a browser")
def test_nothing_can_be_pressed_before_the_page_listens(reader: Reader) -> None:
    held: list[Route] = []
    reader.page.route(re.compile("/BidiComponent"), lambda route: held.append(route))
    reader.opens_conversation(QUESTION)
    reference = reader.page.locator(".st-key-turn-0 button.kb-ref")
    expect(reference).to_be_hidden()
    reference.focus()
    assert not reference.evaluate("e => e === document.activeElement")
    for request in held:
        request.continue_()
    expect(reference).to_be_visible()


@pytest.mark.rare("a further way through the page in a browser")
def test_a_conversation_cannot_be_opened_on_a_phone_before_the_sidebar_would_close(reader: Reader) -> None:
    reader.has_answer("conv_crop", QUESTION)
    held: list[Route] = []
    reader.page.route(re.compile("/BidiComponent"), lambda route: held.append(route))
    reader.page.set_viewport_size({"width": 390, "height": 844})
    reader.page.goto("/")
    reader.page.get_by_test_id("stExpandSidebarButton").click()
    conversation = reader.page.get_by_test_id("stSidebar").get_by_role(
        "button", name=QUESTION, exact=True, include_hidden=True
    )
    expect(conversation).to_be_attached()
    expect(conversation).to_be_hidden()
    for request in held:
        request.continue_()
    conversation.click()
    expect(reader.page.get_by_test_id("stSidebar")).to_have_attribute("data-collapsed", "true")


@pytest.mark.rare("a further way through the page in a browser")
def test_a_click_counts_once_after_many_questions(reader: Reader) -> None:
    reader.opens_conversation(QUESTION)
    counted = "() => { window.copies = 0; navigator.clipboard.writeText = async () => { window.copies += 1 } }"
    reader.page.evaluate(counted)
    for position in (1, 2):
        reader.ask(FOLLOW_UP)
        expect(reader.page.locator(f".st-key-turn-{position} .kb-answer")).to_contain_text("and the end.")
    reader.page.locator(".st-key-turn-2").get_by_role("button", name="Copy").click()
    expect(reader.page.locator(".kb-copied")).to_be_visible()
    assert reader.page.evaluate("window.copies") == 1


@pytest.mark.rare("a further way through the page in a browser")
def test_an_answer_is_copied_with_its_sources(reader: Reader) -> None:
    reader.opens_conversation(QUESTION, FOLLOW_UP)
    reader.page.locator(".st-key-turn-1").get_by_role("button", name="Copy").click()
    expect(reader.page.locator(".kb-copied")).to_be_visible()
    copied = reader.page.evaluate("navigator.clipboard.readText()")
    assert "Choose Layer, then Crop to Content. [1]" in copied
    assert "[1] Layers › Crop a layer" in copied


@pytest.mark.rare("a further way through the page in a browser")
def test_what_the_reader_thinks_is_stored(reader: Reader) -> None:
    reader.opens_conversation(QUESTION, FOLLOW_UP)
    turn = reader.page.locator(".st-key-turn-1")
    turn.locator('[data-testid="stFeedback"] button, [data-testid="stButtonGroup"] button').first.click()
    turn.get_by_role("button", name="Comment").click()
    reader.page.get_by_role("textbox", name="What was good").fill("clear")
    reader.page.get_by_role("button", name="Send", exact=True).click()
    expect(reader.page.get_by_text("your comment is stored")).to_be_visible()
    [summary] = reader.servers.client.conversations().conversations
    assert reader.servers.client.conversation(summary.id).turns[1].feedback.comment == "clear"


@pytest.mark.rare("a further way through the page in a browser")
def test_a_service_that_is_down_is_told_and_conversations_outlive_it_and_the_page(reader: Reader) -> None:
    reader.opens_conversation(QUESTION, FOLLOW_UP)
    reader.servers.running.close()
    reader.servers.start_page()
    try:
        reader.page.goto("/")
        expect(reader.page.get_by_text("kb serve")).to_be_visible()  # the command that starts it
        expect(reader.page.get_by_text("Traceback")).to_have_count(0)
        picture(reader.page, "chat-service-down")
    finally:
        reader.servers.start_service()
    reader.page.goto("/")
    reader.page.get_by_test_id("stSidebar").get_by_role("button", name=QUESTION, exact=True).click()
    expect(reader.page.locator(".st-key-turn-1 .kb-answer")).to_contain_text("and the end.")
    assert shown_width(reader.page) > 0
    reader.page.reload()
    expect(reader.page.locator(".st-key-turn-1 .kb-answer")).to_contain_text("and the end.")


@pytest.mark.slow("starts what it looks at, and a browser")
def test_hostile_words_are_shown_as_they_are_written(reader: Reader) -> None:
    reader.opens_conversation(QUESTION)
    reader.page.get_by_role("button", name="New conversation").click()
    expect(reader.page.get_by_role("heading", name="What would you like to know?")).to_be_visible()
    reader.ask(HOSTILE)
    expect(reader.page.locator(".kb-question", has_text="hacked")).to_have_text(HOSTILE)
    listed = reader.page.locator("[class*=st-key-open-conv] p").first
    expect(listed).to_contain_text("smile")
    assert listed.inner_text().replace("\u2060", "") == HOSTILE
    assert reader.page.evaluate("window.hacked") is None


@pytest.mark.rare("a further way through the page in a browser")
def test_a_conversation_is_renamed_and_deleted(reader: Reader) -> None:
    reader.has_answer("conv_kept", QUESTION)
    reader.has_answer("conv_hostile", HOSTILE)
    reader.page.goto("/?conversation=conv_hostile")
    options(reader.page, "Rename")
    reader.page.get_by_role("textbox", name="Title").fill("Hostile words")
    reader.page.keyboard.press("Enter")
    expect(reader.page.get_by_role("button", name="Hostile words", exact=True)).to_be_visible()
    options(reader.page, "Delete")
    reader.page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(reader.page.get_by_role("heading", name="What would you like to know?")).to_be_visible()
    expect(reader.page.get_by_text("Hostile words")).to_have_count(0)
    assert [summary.title for summary in reader.servers.client.conversations().conversations] == [QUESTION]


@pytest.mark.slow("starts what it looks at, and a browser")
def test_the_knowledge_base_is_browsed_and_searched(reader: Reader) -> None:
    reader.page.goto("/")
    reader.page.get_by_role("link", name="Knowledge base").last.click()
    reader.page.get_by_role("link", name="Layers").click()
    expect(reader.page.get_by_role("heading", name="Undo a crop")).to_be_visible()
    assert shown_width(reader.page) > 0
    picture(reader.page, "knowledge-base-article")
    reader.page.get_by_role("button", name="All articles").click()
    reader.page.get_by_role("tab", name="Search").click()
    reader.page.get_by_role("textbox", name="Search").fill("crop a layer")
    reader.page.keyboard.press("Enter")
    expect(reader.page.locator(".kb-card", has_text="Choose Layer, then Crop to Content")).to_be_attached()
    picture(reader.page, "knowledge-base-search")


@pytest.mark.rare("a further way through the page in a browser")
def test_quality_leads_from_its_history_to_a_lost_question_and_its_article(reader: Reader) -> None:
    reader.page.goto("/")
    reader.page.get_by_role("link", name="Quality").click()
    card = reader.page.locator("[class*=st-key-measure-]", has_text="article@5")
    expect(card.locator("canvas, svg.marks")).to_be_visible()
    reader.page.get_by_role("tab", name="Questions").click()
    reader.page.get_by_text("How do I crop a layer?").last.click()
    lost = reader.page.locator("details.kb-known[open]")
    expect(lost.get_by_text("article at rank 2")).to_be_visible()
    picture(reader.page, "quality")
    lost.get_by_role("link", name="Layers").first.click()
    expect(reader.page.get_by_role("heading", name="Undo a crop")).to_be_visible()


@pytest.mark.slow("starts what it looks at, and a browser")
def test_it_is_read_on_a_phone_in_the_dark(reader: Reader) -> None:
    for question in (QUESTION, FOLLOW_UP):
        reader.has_answer("conv_crop", question)
    url, phone = reader.servers.place.page_url, reader.page
    phone.set_viewport_size({"width": 390, "height": 844})
    phone.emulate_media(color_scheme="dark")
    phone.goto("/")
    expect(phone.get_by_role("heading", name="What would you like to know?")).to_be_visible()
    phone.get_by_test_id("stExpandSidebarButton").click()
    phone.get_by_test_id("stSidebar").get_by_role("button", name=QUESTION, exact=True).click()
    expect(phone).to_have_url(f"{url}/?conversation=conv_crop")
    expect(phone.locator(".st-key-turn-1 .kb-answer")).to_contain_text("and the end.")
    expect(phone.get_by_test_id("stSidebar")).to_have_attribute("data-collapsed", "true")
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    assert sum(channels(phone.locator(".stApp").evaluate("e => getComputedStyle(e).backgroundColor"))) < 120
    picture(phone, "chat-phone-dark")


def shown_width(page: Page, where: str = ".stMainBlockContainer") -> int:
    """The width of the cropping menu's pixels, as the browser decoded them."""
    image = page.locator(f'{where} img[src="{IMAGE}"]').first
    expect(image).to_be_visible()
    image.scroll_into_view_if_needed()
    expect(image).to_have_js_property("complete", True)
    return int(image.evaluate("e => e.naturalWidth"))


def options(page: Page, choice: str) -> None:
    page.get_by_test_id("stSidebar").get_by_role("button", name="Options of").first.click()
    page.get_by_role("menuitem", name=choice).click()


def channels(colour: str) -> list[int]:
    return [int(each) for each in colour.removeprefix("rgb(").removesuffix(")").split(",")]
