"""Everybody can use the page: axe finds no violation of WCAG 2.1 A and AA, nor of its best practices, on any place.

In the dark, only what depends on colours is looked at again.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from app.client import Client
from app.schema.contributions import NewContribution
from kb_pipeline.evaluation.gaps import save_gaps
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.collections import add_collections
from kb_pipeline_tests.app.page.serving import Place
from kb_pipeline_tests.app.quality_history import write_history
from kb_pipeline_tests.app.test_gaps_browser import GAPS
from kb_pipeline_tests.app.usage_history import write_usage
from kb_pipeline_tests.dagster_ui import browsing, wait_until
from kb_pipeline_tests.pictures import screenshot

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

AXE = Path(__file__).parents[1] / "node/node_modules/axe-core/axe.min.js"
ALL = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice")
COLOURS = ("color-contrast", "link-in-text-block")
DARK_GROUND = "#14181a"
WIDE = "turn --by 90 " * 20
"""Code that is wider than a page."""
PLACES = {
    "/knowledge-base": "Knowledge base",
    "/knowledge-base?article=layers": "Layers",
    "/gaps": "Gaps",
    "/contributions": "Contributions",
    "/quality": "Quality",
    "/usage": "Usage",
}
"""Where a heading says that the page is there."""


@pytest.fixture(scope="module")
def page(knowledge_base: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    folder = tmp_path_factory.mktemp("place")
    shutil.copytree(knowledge_base.staging, folder / "staging")
    place = Place(knowledge_base, folder, KB_STAGING=str(folder / "staging"), KB_UPLOADERS='["local"]')
    own = knowledge_base.model_copy(
        update={"home": place.environment["KB_HOME"], "staging": place.environment["KB_STAGING"]}
    )
    add_collections(own)
    write_history(own)
    save_gaps(own, GAPS)
    write_usage(own)
    with place.service() as url, place.page(), browsing(place.page_url) as opened:
        turning = NewContribution(
            service="layers", description="Turn a layer", content=f"Press R.\n\n```\n{WIDE}\n```\n"
        )
        Client(url).contribute(turning)
        opened.set_default_timeout(90_000)
        yield opened


@pytest.fixture
def reading(page: Page) -> Page:
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 1500, "height": 900})
    return page


def violations(page: Page, rules: tuple[str, ...] = ALL) -> list[str]:
    """What axe finds, once nothing moves any more: what is being faded in has too little contrast."""
    wait_until(page, "document.getAnimations().every((each) => each.playState !== 'running')")
    page.evaluate(AXE.read_text())
    found: dict[str, Any] = page.evaluate("(rules) => axe.run(document, {runOnly: rules})", list(rules))
    assert len(found["passes"]) > (20 if rules == ALL else 0)
    return [f"{each['id']}: {node['html'][:200]}" for each in found["violations"] for node in each["nodes"]]


def in_the_dark(page: Page) -> None:
    """Read the same place again, in dark colours."""
    page.emulate_media(color_scheme="dark")
    page.reload()
    ground = "getComputedStyle(document.documentElement).getPropertyValue('--kb-ground')"
    wait_until(page, f"{ground} === '{DARK_GROUND}'")


@pytest.mark.slow("starts what it looks at, and a browser")
def test_an_answer_and_its_source(reading: Page) -> None:
    reading.route("**/*.js", lambda route: route.abort())
    reading.goto("/")
    expect(reading.locator("#kb-waiting")).to_be_visible()
    assert violations(reading) == []
    reading.unroute("**/*.js")
    reading.reload()
    expect(reading.locator("#kb-waiting")).to_have_count(0)
    expect(reading.get_by_role("heading", name="What would you like to know?")).to_be_visible()
    assert violations(reading) == []
    reading.get_by_role("textbox", name="Ask a question").fill("How do I crop a layer?")
    reading.keyboard.press("Enter")
    source = reading.locator(".st-key-turn-0 .kb-source").first
    expect(source).to_be_visible()
    assert violations(reading) == []
    source.press("Enter")
    expect(reading.locator(".kb-source-head")).to_be_visible()
    expect(reading.get_by_role("button", name="Close")).to_be_focused()
    assert violations(reading) == []
    reading.keyboard.press("Escape")
    expect(reading.locator(".kb-source-head")).to_have_count(0)
    expect(source).to_be_focused()
    source.press("Enter")
    expect(reading.locator(".kb-source-head")).to_be_visible()
    in_the_dark(reading)
    expect(reading.locator(".kb-source-head")).to_be_visible()
    assert violations(reading, COLOURS) == []


@pytest.mark.rare("axe on a further place")
def test_a_question_with_a_picture(reading: Page) -> None:
    reading.goto("/")
    question = reading.get_by_role("textbox", name="Ask a question")
    expect(reading.get_by_role("button", name="Upload a file")).to_be_visible()
    dialog = screenshot("Crop a layer", "Choose Crop to Content.", size=(700, 220))
    attached = {"name": "crop.png", "mimeType": "image/png", "buffer": dialog}
    reading.locator("[data-testid=stChatInput] input[type=file]").set_input_files([attached])  # type: ignore[list-item]
    expect(reading.get_by_text("crop.png")).to_be_visible()
    assert violations(reading) == []
    question.fill("What does this mean?")
    reading.keyboard.press("Enter")
    expect(reading.locator(".st-key-turn-0 .kb-source", has_text="Layers").first).to_be_visible()
    picture = reading.locator(".st-key-turn-0 .kb-asked img")
    expect(picture).to_have_js_property("naturalWidth", 700)
    assert violations(reading) == []
    in_the_dark(reading)
    expect(picture).to_have_js_property("naturalWidth", 700)
    assert violations(reading, COLOURS) == []
    reading.get_by_text("Text read on it").press("Enter")
    expect(reading.locator(".kb-asked details")).to_contain_text("Crop to Content")


@pytest.mark.rare("axe on a further place")
@pytest.mark.parametrize("place", PLACES)
def test_other_places(reading: Page, place: str) -> None:
    reading.goto(place)
    expect(reading.get_by_role("heading", name=PLACES[place]).first).to_be_visible()
    assert violations(reading) == []
    reading.set_viewport_size({"width": 390, "height": 844})
    assert violations(reading) == []
    in_the_dark(reading)
    expect(reading.get_by_role("heading", name=PLACES[place]).first).to_be_visible()
    assert violations(reading, COLOURS) == []


@pytest.mark.rare("axe on a further place")
def test_a_contribution_and_its_form(reading: Page) -> None:
    reading.goto("/contributions?question=How+is+a+layer+turned%3F&article=layers")
    form, turning = (
        reading.get_by_role("textbox", name="Text, as Markdown"),
        reading.get_by_role("heading", name="Turn a layer"),
    )
    expect(form).to_be_visible()
    assert violations(reading) == []
    in_the_dark(reading)
    expect(form).to_be_visible()
    assert violations(reading, COLOURS) == []
    reading.emulate_media(color_scheme="light")
    reading.goto("/contributions")
    reading.get_by_role("link", name="Turn a layer").click()
    expect(turning).to_be_visible()
    assert violations(reading) == []
    code = reading.locator(".kb-passage pre")
    expect(code).to_have_attribute("tabindex", "0")  # the keyboard reaches what has to be scrolled
    in_the_dark(reading)
    expect(turning).to_be_visible()
    assert violations(reading, COLOURS) == []


@pytest.mark.rare("axe on a further place")
def test_a_file_to_upload(reading: Page) -> None:
    reading.goto("/contributions")
    reading.get_by_text("Upload a file").click()
    expect(reading.get_by_role("textbox", name="Topics")).to_be_visible()
    assert violations(reading) == []
    reading.locator("input[type=file]").set_input_files({"name": "a.md", "mimeType": "text/markdown", "buffer": b"# A"})
    expect(reading.get_by_text("a.md")).to_be_visible()
    assert violations(reading) == []
    in_the_dark(reading)
    reading.get_by_text("Upload a file").click()
    expect(reading.get_by_role("textbox", name="Topics")).to_be_visible()
    assert violations(reading, COLOURS) == []


def tab_to(page: Page, target: Locator) -> None:
    """Go there with the Tab key alone."""
    for _ in range(60):
        if target.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"the Tab key does not lead to {target}")


@pytest.mark.rare("axe on a further place")
def test_a_contribution_is_made_and_accepted_with_the_keyboard(reading: Page) -> None:
    reading.goto("/contributions?question=Who+may+crop+a+layer%3F&article=layers")
    text = reading.get_by_role("textbox", name="Text, as Markdown")
    expect(text).to_be_visible()
    tab_to(reading, text)
    reading.keyboard.type("Everybody may crop a layer.")
    tab_to(reading, reading.get_by_role("button", name="Propose", exact=True))
    reading.keyboard.press("Enter")
    expect(reading.get_by_role("heading", name="Who may crop a layer?")).to_be_visible()
    tab_to(reading, reading.get_by_role("button", name="Accept"))
    reading.keyboard.press("Enter")
    accepted = reading.get_by_text("It stands in the staging folder")
    expect(accepted).to_be_visible()
    assert violations(reading) == []
    in_the_dark(reading)
    expect(accepted).to_be_visible()
    assert violations(reading, COLOURS) == []


@pytest.mark.rare("axe on a further place")
def test_the_dialog_of_the_language_model(reading: Page) -> None:
    reading.goto("/")
    settings, shown, first_field = (
        reading.get_by_role("button", name="Settings"),
        reading.get_by_role("button", name="Language model: none"),
        reading.get_by_label("Where it runs"),
    )
    settings.click()
    expect(shown).to_be_visible()
    assert violations(reading) == []
    shown.click()
    expect(first_field).to_be_visible()
    assert violations(reading) == []
    in_the_dark(reading)
    settings.click()
    shown.click()
    expect(first_field).to_be_visible()
    assert violations(reading, COLOURS) == []


@pytest.mark.rare("axe on a further place")
@pytest.mark.slow("starts what it looks at, and a browser")
def test_on_a_phone(reading: Page) -> None:
    reading.set_viewport_size({"width": 390, "height": 844})
    reading.goto("/")
    greeting = reading.get_by_role("heading", name="What would you like to know?")
    expect(greeting).to_be_visible()
    assert violations(reading) == []
    in_the_dark(reading)
    expect(greeting).to_be_visible()
    assert violations(reading, COLOURS) == []


@pytest.mark.rare("axe on a further place")
@pytest.mark.slow("starts what it looks at, and a browser")
def test_it_turns_dark_with_the_system_without_being_asked(reading: Page) -> None:
    reading.goto("/quality")
    expect(reading.get_by_role("heading", name="Quality")).to_be_visible()
    reading.emulate_media(color_scheme="dark")
    for ground in ("document.documentElement", "document.querySelector('.stApp')"):
        wait_until(reading, f"getComputedStyle({ground}).getPropertyValue('--kb-ground') === '{DARK_GROUND}'")
    expect(reading.locator(".stApp")).to_have_css("background-color", "rgb(20, 24, 26)")
    expect(reading.locator(".kb-lead")).to_have_css("color", "rgb(157, 168, 170)")


@pytest.mark.slow("starts what it looks at, and a browser")
def test_at_200_percent_greeting_and_question_are_on_one_screen(reading: Page) -> None:
    reading.set_viewport_size({"width": 640, "height": 400})
    reading.goto("/")
    greeting, question, scope = (
        reading.get_by_role("heading", name="What would you like to know?"),
        reading.get_by_role("textbox", name="Ask a question"),
        reading.get_by_role("combobox", name="Search in"),
    )
    for each in (greeting, question, scope, reading.locator(".st-key-suggestions button").last):
        expect(each).to_be_in_viewport(ratio=1)
    asked_with = reading.get_by_test_id("stBottomBlockContainer").bounding_box()
    assert asked_with and asked_with["height"] < 100, "a quarter of what is seen"
    assert violations(reading) == []


@pytest.mark.rare("axe on a further place")
def test_the_choice_of_a_collection(reading: Page) -> None:
    reading.goto("/")
    expect(reading.get_by_role("combobox", name="Search in")).to_be_visible()
    reading.get_by_role("combobox", name="Search in").focus()
    reading.keyboard.type("Report")
    reading.keyboard.press("Enter")
    reading.wait_for_url("**in=type**")
    reading.get_by_role("textbox", name="Ask a question").fill("How do I clean the oven?")
    reading.keyboard.press("Enter")
    everywhere = reading.get_by_role("button", name="Ask everywhere")
    expect(everywhere).to_be_visible()
    assert violations(reading) == []
    everywhere.press("Enter")
    expect(reading.locator(".st-key-turn-1 .kb-source").first).to_be_visible()
    assert violations(reading) == []
