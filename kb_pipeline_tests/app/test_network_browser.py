"""The page of a network in a real browser, before the real service: what an engineer of a control room expects of it.

The servers run once for all tests. The scenario is the sample, in which a name, a message and a runbook are hostile.
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from app.client import Client
from app.network.records import InvestigationRecords, new_id
from app.page.investigations import Followings
from app.schema.passages import Citation
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.page.citing import citation
from kb_pipeline_tests.app.page.networks import STORM, HeldStore, hostile_scenario, load_scenario
from kb_pipeline_tests.app.page.serving import Place
from kb_pipeline_tests.app.test_accessibility_browser import ALL, COLOURS, in_the_dark, violations
from kb_pipeline_tests.dagster_ui import browsing, picture

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

DESKTOP, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
CAUSE = "LINK-SYD-MEL"


class Control:
    """The home folder of the service, in which files hold up or break its store."""

    def __init__(self, place: Place) -> None:
        self.home = Path(place.environment["KB_HOME"])
        self.client = Client(place.service_url)

    @contextmanager
    def store(self, state: str) -> Iterator[None]:
        (self.home / state).touch()
        try:
            yield
        finally:
            (self.home / state).unlink(missing_ok=True)

    def investigation(self) -> str:
        """The id of an investigation of the storm that has ended."""
        done = [each.id for each in self.client.investigations() if each.cause == CAUSE]
        if done:
            return done[0]
        return str(next(event.data["run_id"] for event in list(self.client.investigate(STORM))))

    def investigation_that_cites(self, citation: Citation) -> str:
        """The id of a copy of an investigation, whose report ends with a reference."""
        records = InvestigationRecords(self.home / "investigations")
        whole = records.read_now(self.investigation())
        assert whole
        copy, lines = new_id(), []
        for line in whole.lines:
            changed = dict(line)
            if line["event"] == "message":
                text = f"{line['data']['text']}\n\nClear the jam. [Ref #1]\n"
                changed |= {"data": {"text": text}, "citations": [citation.model_dump(mode="json")]}
            lines.append(json.dumps(changed) + "\n")
        (records.folder / f"{copy}.jsonl").write_text("".join(lines))
        records.close()
        return copy


@pytest.fixture(scope="module")
def place(knowledge_base: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    scenarios = hostile_scenario(tmp_path_factory.mktemp("scenarios"))
    store = f"{HeldStore.__module__}:{HeldStore.__name__}"
    folder = tmp_path_factory.mktemp("place")
    place = Place(knowledge_base, folder, KB_SCENARIOS=str(scenarios), KB_NETWORK=store, KB_RUNS_AT_ONCE="2")
    load_scenario(scenarios, place.environment["KB_HOME"])
    with place.service(), place.page():
        yield place


@pytest.fixture(scope="module")
def control(place: Place) -> Control:
    return Control(place)


@pytest.fixture(scope="module")
def opened(place: Place) -> Iterator[Page]:
    with browsing(place.page_url) as page:
        page.set_default_timeout(90_000)
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        yield page


@pytest.fixture
def reader(opened: Page) -> Iterator[Page]:
    """The browser's page, wherever it is."""
    opened.set_viewport_size(DESKTOP)  # type: ignore[arg-type]
    opened.emulate_media(color_scheme="light")
    yield opened
    opened.evaluate("localStorage.clear()")


@pytest.fixture
def page(reader: Page) -> Page:
    """The browser's page, at the network."""
    reader.goto("/network")
    drawn(reader)
    return reader


def drawn(page: Page) -> None:
    """Wait until the map has come to rest."""
    expect(page.locator(".map[data-settled]")).to_be_attached()


def colours(page: Page) -> set[str]:
    """The colours of the map, each as ``rrggbb``, coarsely."""
    points = page.locator(".canvas canvas").first.evaluate(
        """(canvas) => {
          const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
          const seen = new Map()
          for (let at = 0; at < data.length; at += 4) {
            if (data[at + 3] < 250) continue
            const parts = [data[at], data[at + 1], data[at + 2]]
            const key = parts.map((each) => each.toString(16).padStart(2, '0')).join('')
            seen.set(key, (seen.get(key) ?? 0) + 1)
          }
          return [...seen].filter(([, count]) => count > 15).map(([key]) => key)
        }"""
    )
    return set(points)


def open_report(page: Page, control: Control) -> Locator:
    page.goto(f"/network?investigation={control.investigation()}")
    report = page.locator(".kb-report")
    expect(report).to_be_visible()
    drawn(page)
    return report


@pytest.mark.slow("starts what it looks at, and a browser")
def test_the_storm_is_pasted_and_the_cause_stands_in_the_first_line(page: Page, control: Control) -> None:
    page.get_by_role("button", name="Use the sample").click()
    expect(page.get_by_role("textbox", name="Alerts, as they came")).to_have_value(re.compile("LINK_DOWN"))
    with control.store("hold"):
        page.get_by_role("button", name="Investigate", exact=True).click()
        step = page.locator(".kb-step", has_text="Graph explorer").first
        expect(step).to_contain_text("reading the network")
        expect(page.locator(".kb-step .kb-pulse")).to_have_count(1)
        page.wait_for_url("**/network?investigation=*")
        address = page.url
        step.locator("summary").click()
        expect(step).to_contain_text("50 elements, 54 dependencies")
        picture(page, "network-running")
        page.goto("/ask")  # an investigation goes on while its reader is elsewhere
        expect(page.get_by_role("heading", name="What would you like to know?")).to_be_visible()
        page.goto(address)
        expect(page.locator(".kb-step .kb-pulse")).to_have_count(1)
    first = page.locator(".kb-report h1 + p")
    expect(first).to_contain_text(f"Very likely cause: {CAUSE} (99%), since 2026-11-02 03:39:03 UTC")
    expect(page.locator(".kb-report")).to_contain_text("10 alerts, 8 elements, 3 groups")
    expect(page.locator(".kb-report")).to_contain_text("FAN_WARN of AGG-BNE-01")
    page.reload()
    expect(first).to_contain_text(CAUSE)


@pytest.mark.rare("a further way through the network's page")
@pytest.mark.slow("starts what it looks at, and a browser")
def test_the_map_shows_cause_alerts_and_who_is_hit(page: Page, control: Control) -> None:
    before = colours(page)
    open_report(page, control)
    legend = page.locator(".legend")
    expect(legend).to_have_text(re.compile("1 suspected cause.*8 alerting.*5 down.*2 weakened.*way of the failure"))
    assert "b3372f" in colours(page) - before  # --kb-bad: the cause's rings and the way of the failure
    picture(page, "network-report")
    page.get_by_role("heading", name="What is not explained or could not be looked at").scroll_into_view_if_needed()
    expect(legend).to_be_in_viewport()  # the map stays while the report is read


@pytest.mark.rare("a further way through the network's page")
def test_an_element_of_the_report_is_chosen_on_the_map(reader: Page, control: Control) -> None:
    report = open_report(reader, control)
    report.get_by_role("button", name="VPN-ACME").first.click()
    details = reader.locator(".details")
    expect(details.get_by_role("heading", name="VPN-ACME")).to_be_visible()
    expect(details).to_contain_text("Service · alerts · down")
    expect(details).to_contain_text("customer")
    details.get_by_role("button", name=re.compile("MPLS-SYD-MEL-1")).press("Enter")
    expect(details.get_by_role("heading", name="MPLS-SYD-MEL-1")).to_be_visible()
    expect(reader.locator(".canvas")).to_have_attribute("aria-label", re.compile("MPLS-SYD-MEL-1 is chosen"))
    reader.keyboard.press("Escape")
    expect(details).to_be_hidden()


@pytest.mark.rare("a further way through the network's page")
def test_each_number_leads_to_its_query_which_can_be_asked_again(reader: Page, control: Control) -> None:
    open_report(reader, control)
    reader.get_by_text(re.compile("^6 steps ·")).click()
    step = reader.locator(".kb-step").nth(1)
    step.locator("> summary").click()
    expect(step.locator(".kb-query")).to_contain_text("SELECT source_id, alert_type")
    step.get_by_role("button", name="Copy").click()
    assert reader.evaluate("navigator.clipboard.readText()").startswith("SELECT source_id, alert_type")
    step.get_by_role("button", name="Ask again").click()
    dialog = reader.get_by_role("dialog")
    expect(dialog).to_contain_text("10 rows")
    query = dialog.get_by_role("textbox", name="Query")
    query.fill("SELECT nothing FROM alerts")
    query.press("Control+Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("nothing")
    assert violations(reader) == []


@pytest.mark.rare("a further way through the network's page")
def test_a_report_is_copied_as_a_ticket_with_an_address_that_others_can_open(reader: Page, control: Control) -> None:
    open_report(reader, control)
    reader.get_by_role("button", name="Copy as ticket").click()
    ticket = reader.evaluate("navigator.clipboard.readText()")
    assert f"**Very likely cause: {CAUSE}**" in ticket and "LINK_DOWN LINK-SYD-MEL: loss of signal" in ticket
    address = ticket.rstrip().splitlines()[-1]
    browser = reader.context.browser
    assert browser
    with browser.new_page() as colleague:
        colleague.goto(address)
        expect(colleague.locator(".kb-report h1 + p")).to_contain_text(CAUSE, timeout=90_000)
    reader.get_by_role("link", name="All investigations").click()
    reader.get_by_role("link", name=CAUSE).first.click()
    expect(reader.locator(".kb-report h1 + p")).to_contain_text(CAUSE)


@pytest.mark.rare("a further way through the network's page")
def test_a_source_that_is_down_is_said_and_the_rest_is_reported(page: Page, control: Control) -> None:
    with control.store("deaf"):
        page.get_by_role("textbox", name="Alerts, as they came").fill(STORM)
        page.get_by_role("button", name="Investigate", exact=True).click()
        expect(page.locator(".kb-report")).to_contain_text("the telemetry did not answer in time")
    expect(page.locator(".kb-report h1 + p")).to_contain_text(CAUSE)
    page.get_by_text(re.compile("^6 steps ·")).click()
    expect(page.locator(".kb-step.kb-failed").first).to_contain_text("failed")


@pytest.mark.rare("a further way through the network's page")
def test_an_alert_that_cannot_be_investigated_now_can_be_tried_again(page: Page, control: Control) -> None:
    page.get_by_role("button", name="Investigate", exact=True).click()
    expect(page.get_by_role("note")).to_contain_text("There is nothing to investigate yet")
    page.get_by_role("button", name="Use the sample").click()
    with control.store("hold"):
        expect(page.get_by_role("textbox", name="Alerts, as they came")).to_have_value(re.compile("LINK_DOWN"))
        others = [Followings().begin(control.client, (), STORM, "") for _ in range(2)]
        assert all(other.id for other in others)
        page.get_by_role("button", name="Investigate", exact=True).click()
        expect(page.get_by_role("alert")).to_contain_text("2 investigations are under way already")
        assert violations(page) == []
        picture(page, "network-busy")
    expect(page.get_by_role("textbox", name="Alerts, as they came")).to_have_value(re.compile("LINK_DOWN"))
    for other in others:
        while not other.done:
            page.wait_for_timeout(50)
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".kb-report h1 + p")).to_contain_text(CAUSE)


@pytest.mark.rare("a further way through the network's page")
def test_a_reference_opens_the_panel_of_its_source(reader: Page, control: Control) -> None:
    article = control.client.article("printing")
    chunk = next(each for each in article.chunks if "rear tray" in each.content)
    quote = "Open the rear tray and pull the paper out slowly to clear a paper jam."
    own = citation(
        1, article_id="printing", title="Printing", heading_path=chunk.heading_path, chunk_id=chunk.chunk_id,
        passage=chunk.content, quotes=(quote,), images=(),
    )  # fmt: skip
    reader.goto(f"/network?investigation={control.investigation_that_cites(own)}")
    reader.locator(".kb-report").get_by_role("button", name=re.compile("^Source 1: Printing")).last.click()
    panel = reader.locator(".st-key-source-panel")
    expect(panel.locator("mark")).to_contain_text("Open the rear tray")
    assert "source=" in reader.url
    assert violations(reader) == []
    picture(reader, "network-source")
    panel.get_by_role("link", name="Open the article").click()
    expect(reader.get_by_role("heading", name="Printing").first).to_be_visible()
    reader.go_back()
    expect(panel).to_be_visible()
    reader.get_by_role("button", name="Close").first.click()
    expect(panel).to_be_hidden()
    expect(reader.locator(".kb-report")).to_be_visible()


@pytest.mark.rare("a further way through the network's page")
def test_a_map_that_cannot_be_read_can_be_tried_again(page: Page, control: Control) -> None:
    with control.store("blind"):
        page.get_by_role("button", name="Read the network again").click()
        expect(page.get_by_role("alert")).to_contain_text("The graph did not answer in time")
    page.get_by_role("button", name="Try again").click()
    drawn(page)


@pytest.mark.rare("a further way through the network's page")
def test_elements_are_found_by_name_and_types_are_hidden(page: Page) -> None:
    page.get_by_role("searchbox", name="Find an element").fill("bank")
    hits = page.locator(".hits")
    expect(hits.get_by_role("button")).to_have_count(2)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator(".details").get_by_role("heading").first).to_have_text(re.compile("BANK"))
    chip = page.get_by_role("button", name="BaseStation 12")
    chip.click()
    expect(chip).to_have_attribute("aria-pressed", "false")
    expect(page.locator(".canvas")).to_have_attribute("aria-label", re.compile("^38 elements"))


@pytest.mark.rare("a further way through the network's page")
def test_enter_behind_a_name_chooses_the_element_and_opens_nothing_else(page: Page) -> None:
    page.get_by_role("searchbox", name="Find an element").fill("vpn-bank")
    expect(page.locator(".hits").get_by_role("button").first).to_contain_text("VPN-BANK")
    page.keyboard.press("Enter")
    expect(page.locator(".details").get_by_role("heading").first).to_have_text("VPN-BANK")
    expect(page.get_by_role("dialog", name="How this type is shown")).to_be_hidden()
    expect(page.locator(".details").get_by_role("button", name="Display")).to_be_focused()


@pytest.mark.rare("a further way through the network's page")
def test_a_reader_chooses_label_and_colour_of_a_type_for_good(page: Page) -> None:
    chip = page.get_by_role("button", name="CoreRouter 4")
    assert "38bdf8" in colours(page)
    chip.click(button="right")
    menu = page.get_by_role("dialog", name="How this type is shown")
    menu.get_by_role("radio", name="region").check()
    menu.get_by_label("Colour").fill("#123456")
    menu.get_by_role("button", name="Close").click()
    assert json.loads(page.evaluate("localStorage['kb-network:telco']")) == {
        "CoreRouter": {"field": "region", "colour": "#123456"}
    }
    page.reload()
    drawn(page)
    assert "123456" in colours(page) and "38bdf8" not in colours(page)


@pytest.mark.rare("a further way through the network's page")
def test_who_points_at_an_element_reads_about_it(page: Page) -> None:
    at = point_at(page, "VPN-ACME")
    expect(page.locator(".tip")).to_contain_text("<img src=x onerror=window.hacked=1>")  # its name, as a text
    page.mouse.click(*at, button="right")
    menu = page.get_by_role("dialog", name="How this type is shown")
    expect(menu).to_contain_text("Service")
    page.keyboard.press("Escape")
    expect(menu).to_be_hidden()
    page.mouse.click(*at)  # last, since it moves the map: the element goes to where nothing covers it
    expect(page.locator(".details").get_by_role("heading", name="VPN-ACME")).to_be_visible()


def point_at(page: Page, element: str) -> tuple[float, float]:
    """Point at an element, and follow it, until the map tells about it; returns where that is."""
    tip = page.locator(".tip", has_text=element)
    for _ in range(300):
        x, y = page.locator(".map").evaluate(
            """(map, element) => {
              const shown = map.getRootNode().map
              const node = shown.byId.get(element)
              const { x, y } = shown.graph.graph2ScreenCoords(node.x, node.y)
              const box = map.querySelector('.canvas').getBoundingClientRect()
              return [box.left + x, box.top + y]
            }""",
            element,
        )
        page.mouse.move(x - 5, y)
        page.mouse.move(x, y)
        page.wait_for_timeout(100)
        if tip.is_visible():
            return x, y
    raise AssertionError(f"the map says nothing about {element} to who points at it")


@pytest.mark.slow("starts what it looks at, and a browser")
def test_texts_of_others_stay_texts(page: Page, control: Control) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    evil = f"{STORM}\n2026-11-02T03:40:00Z MAJOR LSP_DOWN <img src=x onerror=window.hacked=1> [a](http://evil.example)"
    page.get_by_role("textbox", name="Alerts, as they came").fill(evil)
    page.get_by_role("button", name="Investigate", exact=True).click()
    report = page.locator(".kb-report")
    expect(report).to_contain_text("What to do now")
    expect(report).to_contain_text("onerror=window.hacked=1")  # the runbook, word for word
    page.get_by_text(re.compile("^6 steps ·")).click()
    for step in page.locator(".kb-step > summary").all():
        step.click()
    page.get_by_text("Alert of").click()
    expect(page.locator(".kb-said", has_text="[a](http://evil.example)")).to_be_visible()
    page.get_by_role("searchbox", name="Find an element").fill("onerror")
    page.locator(".hits button").first.click()
    page.get_by_role("link", name="All investigations").click()
    expect(page.get_by_role("heading", name="Earlier investigations")).to_be_visible()
    assert page.evaluate("window.hacked") is None
    assert page.locator("img[src='x'], a[href*='evil']").count() == 0
    assert not [url for url in asked if "evil" in url]


@pytest.mark.rare("a further way through the network's page")
def test_the_log_goes_on_and_can_be_paused(page: Page, control: Control) -> None:
    lines = page.locator(".kb-log")
    expect(page.locator(".kb-log-head")).to_contain_text("connected")
    control.client.query_telemetry("SELECT count(*) AS alerts FROM alerts")
    expect(lines).to_contain_text("/query/telemetry")
    page.locator("label", has_text="Follow").click()
    expect(page.locator(".kb-log-head")).to_contain_text("paused")


@pytest.mark.rare("a further way through the network's page")
def test_everybody_can_use_it(page: Page, control: Control) -> None:
    assert violations(page) == []
    details = page.locator(".details")
    for rules in (ALL, COLOURS):
        if rules == COLOURS:
            in_the_dark(page)
            drawn(page)
        else:
            open_report(page, control)
        page.get_by_text(re.compile("^6 steps ·")).click()
        page.locator(".kb-step > summary").nth(1).click()
        page.locator(".kb-report").get_by_role("button", name="VPN-ACME").first.click()
        expect(details.get_by_role("heading", name="VPN-ACME")).to_be_visible()
        assert violations(page, rules) == []
        details.get_by_role("button", name="Display …").click()
        assert violations(page, rules) == []
        picture(page, f"network-{'dark' if rules == COLOURS else 'light'}")


@pytest.mark.rare("a further way through the network's page")
def test_on_a_phone_the_report_comes_first_and_the_map_when_it_is_wanted(reader: Page, control: Control) -> None:
    reader.set_viewport_size(PHONE)  # type: ignore[arg-type]
    reader.goto(f"/network?investigation={control.investigation()}")
    report = reader.locator(".kb-report")
    expect(report).to_be_visible()
    stage = reader.locator(".stage")
    expect(stage).to_be_hidden()
    assert reader.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert violations(reader) == []
    report.get_by_role("button", name="VPN-ACME").first.click()
    expect(stage).to_be_in_viewport()
    expect(reader.locator(".details").get_by_role("heading", name="VPN-ACME")).to_be_visible()
    drawn(reader)
    assert violations(reader) == []
    picture(reader, "network-phone")
