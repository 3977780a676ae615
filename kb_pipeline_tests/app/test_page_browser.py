"""The chat page in a real browser, before the real service and a model: a reader's day, in the order of the tests."""

import re
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from playwright.sync_api import Browser, Page, expect

from app.client import Client
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.model_servers import OwnModel
from kb_pipeline_tests.app.page.serving import Place, SlowModel
from kb_pipeline_tests.app.quality_history import write_history
from kb_pipeline_tests.dagster_ui import browsing, picture

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

expect.set_options(timeout=20_000)  # machines under test may be busy

QUESTION = "How do I crop a layer?"
IMAGE = "/api/images/layers/images/crop.png"
SAID = "Choose **Layer**, then *Crop to Content*. [Ref #1]\n\n"
HAS_RUN = re.compile(r"/runs/11111111-2222")
HOSTILE = "<img src=x onerror='window.hacked=1'> :smile: **b** $x$"


class Day:
    """The servers, and the page that the reader looks at."""

    def __init__(self, place: Place, model: SlowModel, page: Page) -> None:
        self.place, self.model, self.page = place, model, page
        self.servers = ExitStack()
        self.client = Client(place.service_url)

    def start(self) -> None:
        self.servers.enter_context(self.place.service())
        self.servers.enter_context(self.place.page())

    def restart(self) -> None:
        self.servers.close()
        self.start()

    def ask(self, question: str) -> None:
        self.page.get_by_role("textbox", name="Ask a question").fill(question)
        self.page.keyboard.press("Enter")


@pytest.fixture(scope="module")
def day(knowledge_base: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Day]:
    model = SlowModel(SAID, f"![the crop menu]({IMAGE})\n\n")
    folder = tmp_path_factory.mktemp("place")
    with OwnModel(model) as served:
        settings = {"KB_CHAT_MODEL": "m", "KB_CHAT_BASE_URL": served.base_url, "KB_CHAT_API_KEY": "k"}
        place = Place(knowledge_base, folder, KB_ANSWERING="retrieve-first", KB_VISION="false", **settings)
        write_history(knowledge_base.model_copy(update={"home": place.environment["KB_HOME"]}))
        with browsing(place.page_url) as page:
            page.set_default_timeout(15_000)
            page.context.grant_permissions(["clipboard-read", "clipboard-write"])
            day = Day(place, model, page)
            with day.servers:
                day.start()
                yield day


def test_a_reader_is_greeted_and_nothing_reminds_of_a_demo(day: Day) -> None:
    day.page.goto("/")
    expect(day.page.get_by_role("heading", name="What would you like to know?")).to_be_visible()
    expect(day.page.get_by_role("button", name="How do I", exact=False).first).to_be_visible()
    for name in ("Deploy", "Main menu"):
        expect(day.page.get_by_role("button", name=name)).to_have_count(0)
    picture(day.page, "chat-welcome")


def test_an_answer_streams_with_its_image_and_can_be_stopped(day: Day) -> None:
    day.ask(QUESTION)
    answer = day.page.locator(".st-key-turn-live")
    expect(answer.get_by_text("Crop to Content")).to_be_visible()
    expect(answer.get_by_text("more more more")).to_be_visible()
    assert shown_width(day.page) > 0
    expect(day.page.get_by_text("What would you like to know?")).to_be_hidden()
    day.page.get_by_role("button", name="Stop").click()
    expect(day.page.get_by_text("not complete").or_(day.page.get_by_text("You stopped"))).to_be_visible()
    assert day.model.left.wait(5), "the model was left to talk to nobody"


def test_a_follow_up_is_answered_whole(day: Day) -> None:
    day.model.go_on.set()
    day.ask("And where is that?")
    expect(day.page.locator(".st-key-turn-1 .kb-answer")).to_contain_text("and the end.")
    expect(day.page.locator(".st-key-turn-1 button.kb-ref")).to_have_text(["1"])
    picture(day.page, "chat-answer")


def test_a_reference_opens_its_source_with_the_keyboard_and_esc_closes_it(day: Day) -> None:
    day.page.locator(".st-key-turn-1 button.kb-ref").focus()
    day.page.keyboard.press("Enter")
    source = day.page.get_by_role("dialog")
    expect(source.get_by_role("heading", name="Layers")).to_be_visible()
    expect(source.locator("mark").first).to_contain_text("Crop to Content")
    expect(source.get_by_role("link", name="in Dagster")).to_have_attribute("href", HAS_RUN)
    assert shown_width(day.page, "[role=dialog]") > 0
    picture(day.page, "chat-source")
    day.page.keyboard.press("Escape")
    expect(source).to_be_hidden()


def test_an_answer_is_copied_with_its_sources(day: Day) -> None:
    day.page.locator(".st-key-turn-1").get_by_role("button", name="Copy").click()
    expect(day.page.locator(".kb-copied")).to_be_visible()
    copied = day.page.evaluate("navigator.clipboard.readText()")
    assert "Choose Layer, then Crop to Content. [1]" in copied
    assert "[1] Layers › Crop a layer" in copied


def test_what_the_reader_thinks_is_stored(day: Day) -> None:
    turn = day.page.locator(".st-key-turn-1")
    turn.locator('[data-testid="stFeedback"] button, [data-testid="stButtonGroup"] button').first.click()
    turn.get_by_role("button", name="Comment").click()
    day.page.get_by_role("textbox", name="What was good").fill("clear")
    day.page.get_by_role("button", name="Send", exact=True).click()
    expect(day.page.get_by_text("your comment is stored")).to_be_visible()
    [summary] = day.client.conversations().conversations
    assert day.client.conversation(summary.id).turns[1].feedback.comment == "clear"


def test_conversations_outlive_the_page_and_the_service(day: Day) -> None:
    day.restart()
    day.page.goto("/")
    day.page.get_by_test_id("stSidebar").get_by_role("button", name=QUESTION, exact=True).click()
    expect(day.page.locator(".st-key-turn-1 .kb-answer")).to_contain_text("and the end.")
    assert shown_width(day.page) > 0
    day.page.reload()
    expect(day.page.locator(".st-key-turn-1 .kb-answer")).to_contain_text("and the end.")


def test_hostile_words_are_shown_as_they_are_written(day: Day) -> None:
    day.page.get_by_role("button", name="New conversation").click()
    expect(day.page.get_by_role("heading", name="What would you like to know?")).to_be_visible()
    day.ask(HOSTILE)
    expect(day.page.locator(".kb-question", has_text="hacked")).to_have_text(HOSTILE)
    listed = day.page.locator("[class*=st-key-open-conv] p").first
    expect(listed).to_contain_text("smile")
    assert listed.inner_text().replace("\u2060", "") == HOSTILE
    assert day.page.evaluate("window.hacked") is None


def test_a_conversation_is_renamed_and_deleted(day: Day) -> None:
    options(day.page, "Rename")
    day.page.get_by_role("textbox", name="Title").fill("Hostile words")
    day.page.keyboard.press("Enter")
    expect(day.page.get_by_role("button", name="Hostile words", exact=True)).to_be_visible()
    options(day.page, "Delete")
    day.page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(day.page.get_by_role("heading", name="What would you like to know?")).to_be_visible()
    expect(day.page.get_by_text("Hostile words")).to_have_count(0)
    assert [summary.title for summary in day.client.conversations().conversations] == [QUESTION]


def test_the_knowledge_base_is_browsed_and_searched(day: Day) -> None:
    day.page.get_by_role("link", name="Knowledge base").last.click()
    day.page.get_by_role("link", name="Layers").click()
    expect(day.page.get_by_role("heading", name="Undo a crop")).to_be_visible()
    assert shown_width(day.page) > 0
    picture(day.page, "knowledge-base-article")
    day.page.get_by_role("button", name="All articles").click()
    day.page.get_by_role("tab", name="Search").click()
    day.page.get_by_role("textbox", name="Search").fill("crop a layer")
    day.page.keyboard.press("Enter")
    expect(day.page.locator(".kb-card").first).to_contain_text("Crop a layer")
    picture(day.page, "knowledge-base-search")


def test_quality_leads_from_its_history_to_a_lost_question_and_its_article(day: Day) -> None:
    day.page.get_by_role("link", name="Quality").click()
    card = day.page.locator("[class*=st-key-measure-]", has_text="article@5")
    expect(card.locator("canvas, svg.marks")).to_be_visible()
    day.page.get_by_role("tab", name="Questions").click()
    day.page.get_by_text("How do I crop a layer?").last.click()
    lost = day.page.locator("details.kb-known[open]")
    expect(lost.get_by_text("article at place 2")).to_be_visible()
    picture(day.page, "quality")
    lost.get_by_role("link", name="Layers").first.click()
    expect(day.page.get_by_role("heading", name="Undo a crop")).to_be_visible()


def test_it_is_read_on_a_phone_in_the_dark(day: Day) -> None:
    [summary] = day.client.conversations().conversations
    browser = day.page.context.browser
    assert isinstance(browser, Browser)
    phone = browser.new_page(
        base_url=day.place.page_url, viewport={"width": 390, "height": 844}, color_scheme="dark", device_scale_factor=2
    )
    phone.goto("/")
    expect(phone.get_by_role("heading", name="What would you like to know?")).to_be_visible()
    phone.get_by_test_id("stExpandSidebarButton").click()
    phone.get_by_test_id("stSidebar").get_by_role("button", name=QUESTION, exact=True).click()
    expect(phone).to_have_url(f"{day.place.page_url}/?conversation={summary.id}")
    expect(phone.locator(".st-key-turn-1 .kb-answer")).to_contain_text("and the end.")
    expect(phone.get_by_test_id("stSidebar")).to_have_attribute("data-collapsed", "true")
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    assert sum(channels(phone.locator(".stApp").evaluate("e => getComputedStyle(e).backgroundColor"))) < 120
    picture(phone, "chat-phone-dark")
    phone.close()


def test_a_service_that_is_down_is_told_with_the_command_that_starts_it(day: Day) -> None:
    day.servers.close()
    with day.place.page():
        day.page.goto("/")
        expect(day.page.get_by_text("kb serve")).to_be_visible()
        expect(day.page.get_by_text("Traceback")).to_have_count(0)
        picture(day.page, "chat-service-down")


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
