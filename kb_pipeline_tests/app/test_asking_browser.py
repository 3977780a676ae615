"""A question that is asked back, and a plan, in a real browser: by mouse, by keyboard, on a phone."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Locator, Page, expect

from app.settings import AppSettings
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.asking_back import AMBIGUOUS, AskingBack, asking_back
from kb_pipeline_tests.app.page.serving import Place
from kb_pipeline_tests.app.serving import serving_app
from kb_pipeline_tests.dagster_ui import browsing, picture

pytestmark = [
    pytest.mark.browser,
    pytest.mark.timeout(300),
    pytest.mark.rare("a further way through the page"),
]

PHONE = {"width": 390, "height": 844}


@dataclass(frozen=True)
class Reader:
    """Somebody who looks at the page, and the answerer behind it."""

    page: Page
    answerer: AskingBack

    def ask(self, question: str) -> None:
        self.page.get_by_role("textbox", name="Ask a question").fill(question)
        self.page.keyboard.press("Enter")

    def option(self, name: str) -> Locator:
        return self.page.locator(".st-key-options").get_by_role("button", name=name)


@pytest.fixture(scope="module")
def reader(knowledge_base: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    place = Place(knowledge_base, tmp_path_factory.mktemp("place"))
    own = knowledge_base.model_copy(update={"home": place.environment["KB_HOME"]})
    app, answerer = asking_back(AppSettings(_env_file=None), own)  # type: ignore[call-arg]
    with serving_app(app) as url:
        place.environment["KB_APP_URL"] = url
        with place.page(), browsing(place.page_url) as page:
            page.set_default_timeout(90_000)
            yield Reader(page, answerer)


@pytest.fixture(autouse=True)
def _a_new_conversation(reader: Reader) -> None:
    reader.page.set_viewport_size({"width": 1500, "height": 900})
    reader.page.goto("/")


def test_a_click_on_an_option_is_the_reply(reader: Reader) -> None:
    reader.ask(AMBIGUOUS)
    expect(reader.page.locator(".st-key-turn-0 .kb-answer")).to_have_text("Which guide do you mean?")
    described = "layers.pdf, Manual, 2026-\u206005-\u206001, 12 pages"  # Streamlit would combine the hyphens
    expect(reader.option("Layers")).to_contain_text(described)
    picture(reader.page, "asked-back")
    reader.option("Printing").click()
    expect(reader.page.locator(".st-key-turn-1")).to_contain_text("Printing: Paper jam")
    expect(reader.page.locator(".st-key-options")).to_have_count(0)
    expect(reader.page.locator(".st-key-turn-0 .kb-answer li")).to_have_count(2)
    picture(reader.page, "asked-back-answered")


def test_what_goes_on_is_said_and_the_plan_is_folded_afterwards(reader: Reader) -> None:
    reader.answerer.go_on.clear()
    reader.ask(AMBIGUOUS)
    reader.option("Layers").click()
    expect(reader.page.get_by_role("status")).to_have_text("Reading the summary of layers …")
    picture(reader.page, "asked-back-step")
    reader.answerer.go_on.set()
    plan = reader.page.locator(".kb-plan")
    expect(plan).to_have_text("Plan · Summary · 2 of 2 steps done", use_inner_text=True)
    plan.locator("summary").click()
    expect(plan.get_by_text("Say what it holds")).to_be_visible()
    picture(reader.page, "plan")


@pytest.mark.rare("a further way through the page in a browser")
def test_an_option_can_be_chosen_with_the_keyboard(reader: Reader) -> None:
    reader.ask(AMBIGUOUS)
    reader.option("Layers").focus()
    reader.page.keyboard.press("Tab")
    expect(reader.option("Printing")).to_be_focused()
    reader.page.keyboard.press("Enter")
    expect(reader.page.locator(".st-key-turn-1")).to_contain_text("Printing: Paper jam")


@pytest.mark.rare("a further way through the page in a browser")
def test_on_a_phone_the_options_fit(reader: Reader) -> None:
    reader.page.set_viewport_size(PHONE)
    reader.page.goto("/")
    reader.ask(AMBIGUOUS)
    expect(reader.option("Printing")).to_be_visible()
    for button in reader.page.locator(".st-key-options button").all():
        box = button.bounding_box()
        assert box and box["x"] >= 0 and box["x"] + box["width"] <= PHONE["width"]
    assert reader.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    picture(reader.page, "asked-back-phone")
    reader.option("All of them").click()
    expect(reader.page.locator(".st-key-turn-1 .kb-plan")).to_be_visible()
    picture(reader.page, "plan-phone")
