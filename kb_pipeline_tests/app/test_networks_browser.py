"""The page of two networks in a real browser: one is chosen by hand or by an alert, and a link keeps it."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from kb_pipeline.network.loading import load
from kb_pipeline.network.scenario import ScenarioFolder
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.api.networks import SAMPLE
from kb_pipeline_tests.app.page.networks import hostile_scenario
from kb_pipeline_tests.app.page.serving import Place
from kb_pipeline_tests.app.test_accessibility_browser import violations
from kb_pipeline_tests.app.test_network_browser import DESKTOP, PHONE, drawn
from kb_pipeline_tests.dagster_ui import chromium, picture, visiting
from kb_pipeline_tests.network.data_centre import STORM, data_centre

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
TELCO, CENTRE = "Metro backbone of four cities", "Data centre West"


@pytest.fixture(scope="module")
def place(knowledge_base: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    scenarios = hostile_scenario(tmp_path_factory.mktemp("scenarios"))
    data_centre(scenarios)
    place = Place(
        knowledge_base, tmp_path_factory.mktemp("place"), KB_SCENARIOS=str(scenarios), KB_SCENARIO=SAMPLE.name
    )
    for name in ("telco", "datacentre"):
        load(ScenarioFolder(scenarios / name), Settings(home=place.environment["KB_HOME"]).home_path)
    with place.service(), place.page():
        yield place


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def page(browser: Browser, place: Place) -> Iterator[Page]:
    with visiting(browser, place.page_url) as page:
        page.set_default_timeout(90_000)
        page.set_viewport_size(DESKTOP)  # type: ignore[arg-type]
        yield page


def chosen_network(page: Page) -> Locator:
    return page.get_by_role("combobox", name="Network")


def expect_network(page: Page, title: str, elements: int) -> None:
    expect(chosen_network(page)).to_have_value(title)
    expect(page.locator(".kb-status")).to_contain_text(f"{elements} elements")
    expect(page.locator(f".canvas[aria-label^='{elements} elements']")).to_be_attached()
    expect(page.locator(".map")).to_have_count(1)  # that of the network before is gone
    drawn(page)


@pytest.mark.rare("a further way through the network's page")
@pytest.mark.slow("starts what it looks at, and a browser")
def test_a_network_is_chosen_and_its_address_opens_it_again(page: Page) -> None:
    page.goto("/network")
    expect_network(page, TELCO, 50)
    chosen_network(page).click()
    page.get_by_role("option", name=CENTRE).click()
    expect_network(page, CENTRE, 15)
    page.wait_for_url("**/network?scenario=datacentre")
    page.locator(".search").fill("LEAF-2")
    expect(page.locator(".hits")).to_contain_text("LEAF-2")
    assert violations(page) == []
    picture(page, "networks-chosen")
    page.reload()
    expect_network(page, CENTRE, 15)
    page.go_back()
    expect_network(page, TELCO, 50)


@pytest.mark.slow("starts what it looks at, and a browser")
def test_an_alert_opens_the_network_that_it_names_and_its_link_does(page: Page) -> None:
    page.goto("/network")
    expect_network(page, TELCO, 50)
    page.get_by_role("textbox", name="Alerts, as they came").fill(STORM)
    page.get_by_role("button", name="Investigate").click()
    report = page.locator(".kb-report")
    expect(report).to_contain_text("Very likely cause: LEAF-2")
    expect_network(page, CENTRE, 15)
    page.wait_for_url("**/network?investigation=*")
    picture(page, "networks-investigated")
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    page.goto(page.url)
    expect(report).to_contain_text("Very likely cause: LEAF-2")
    expect(chosen_network(page)).to_have_value(CENTRE)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert violations(page) == []
    picture(page, "networks-phone")
    page.get_by_role("link", name="All investigations").click()
    expect(page.locator(".kb-articles li").first).to_contain_text(CENTRE)
    page.wait_for_url("**/network")  # nobody chose one


@pytest.mark.rare("a further way through the network's page")
@pytest.mark.slow("starts what it looks at, and a browser")
def test_the_address_of_a_network_that_is_not_there_says_so(page: Page) -> None:
    page.goto("/network?scenario=gone")
    expect(page.get_by_text("This network was not found")).to_be_visible()
    chosen_network(page).click()
    page.get_by_role("option", name=CENTRE).click()
    expect_network(page, CENTRE, 15)
