"""The switch for what is left for later, and the page of what was not answered, in a real browser and on a phone."""

from collections.abc import Iterator
from hashlib import sha256

import pytest
from playwright.sync_api import Page, expect

from kb_pipeline.evaluation.gaps import Gap, KnowledgeGaps, save_gaps
from kb_pipeline_tests.app.page.serving import Place
from kb_pipeline_tests.app.services_with_backlog import publish_services
from kb_pipeline_tests.dagster_ui import browsing, picture

pytestmark = [
    pytest.mark.browser,
    pytest.mark.timeout(300),
    pytest.mark.rare("a further way through the page"),
]

DESKTOP, PHONE = {"width": 1500, "height": 900}, {"width": 390, "height": 844}
QUESTION = "How are orders replicated to the zebra region?"
LONG = "Does the nightly replication of orders between regions keep the order of messages of one customer? " * 3


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    services = publish_services(tmp_path_factory.mktemp("services"))
    save_gaps(services, GAPS)
    place = Place(services, tmp_path_factory.mktemp("place"), KB_WHOLE_QUESTIONS="true")
    with place.service(), place.page(), browsing(place.page_url) as page:
        page.set_default_timeout(90_000)
        yield page


def gap(question: str, count: int, article_id: str, **reasons: int) -> Gap:
    return Gap.model_validate(
        {
            "id": sha256(question.encode()).hexdigest()[:16],
            "whole": f"Dear Ms Smith,\n{question}\nYours, Jane" if question else "",
            "first_asked": "2026-01-08T10:00:00+00:00",
            "question": question,
            "count": count,
            "reasons": reasons,
            "last_asked": "2026-02-02T10:00:00+00:00",
            "article_id": article_id,
        }
    )


GAPS = KnowledgeGaps(
    made_at="2026-03-01T05:30:00+00:00",
    questions=9,
    records_content=True,
    gaps=(
        gap("Is there a price calculator?", 5, "cosmos-db", refused=4, disliked=1),
        gap(LONG, 3, "key-vault", closest=3),
        gap("", 1, "", refused=1),
    ),
)


def test_the_gaps_are_listed_with_the_articles_that_may_be_read(page: Page) -> None:
    page.set_viewport_size(DESKTOP)
    page.goto("/gaps")
    items = page.locator(".kb-articles > li")
    expect(items).to_have_count(3)
    expect(items.nth(0)).to_contain_text("Is there a price calculator?")
    expect(items.nth(0)).to_contain_text("5×")
    expect(items.nth(1)).not_to_contain_text("Nearest")
    picture(page, "gaps")
    page.set_viewport_size(PHONE)
    expect(items.nth(1)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    picture(page, "gaps-phone")
    items.nth(0).get_by_role("link", name="Cosmos DB").click()
    expect(page.get_by_role("heading", name="Cosmos DB").first).to_be_visible()


def test_a_gap_is_assigned_and_dismissed_and_shows_what_was_written_on_request(page: Page) -> None:
    page.set_viewport_size(PHONE)
    page.goto("/gaps")
    page.get_by_role("link", name="Is there a price calculator?").click()
    expect(page.get_by_role("heading", name="Is there a price calculator?")).to_be_visible()
    page.get_by_role("textbox", name="Who sees to it").fill("ann@example.com")
    page.get_by_role("button", name="Assign").click()
    expect(page.locator(".kb-facts")).to_contain_text("ann@example.com")
    expect(page.locator(".kb-written")).to_have_count(0)
    page.locator("label", has_text="Show the whole message").click()
    expect(page.locator(".kb-written")).to_contain_text("Dear Ms Smith")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    picture(page, "gap-phone")
    page.get_by_role("tab", name="Dismiss").click()
    page.get_by_role("textbox", name="Why it is no gap").fill("There is one on the price list.")
    page.get_by_role("button", name="Dismiss").click()
    expect(page.get_by_role("button", name="Open it again")).to_be_visible()
    page.set_viewport_size(DESKTOP)
    picture(page, "gap-dismissed")
    page.get_by_role("button", name="All gaps").click()
    expect(page.locator(".kb-articles > li")).to_have_count(2)
    page.get_by_role("radio", name="Dismissed (1)").click()
    expect(page.locator(".kb-articles > li")).to_have_count(1)
    expect(page.locator(".kb-articles > li")).to_contain_text("Assigned to ann@example.com")
    picture(page, "gaps-dismissed")


@pytest.mark.rare("a further way through the page in a browser")
def test_the_switch_adds_what_is_left_for_later(page: Page) -> None:
    page.set_viewport_size(DESKTOP)
    page.goto("/")
    switch = page.get_by_role("switch", name="Include planned work")
    for turn, told in enumerate(("Patterns", "quagga key")):
        page.get_by_role("textbox", name="Ask a question").fill(QUESTION)
        page.keyboard.press("Enter")
        answer = page.locator(f".st-key-turn-{turn} .kb-answer")
        expect(answer).to_contain_text(told)
        if turn == 0:
            expect(answer).not_to_contain_text("quagga")
            page.get_by_role("button", name="Settings").click()
            expect(switch).not_to_be_checked()
            page.locator("label", has_text="Include planned work").click()
            expect(switch).to_be_checked()
            page.keyboard.press("Escape")
    picture(page, "with-backlog")
