"""The page of usage in a real browser and on a phone: figures, bars, a table, articles that no answer used, a file."""

import csv
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.page.serving import Place
from kb_pipeline_tests.app.usage_history import write_usage
from kb_pipeline_tests.dagster_ui import browsing, picture

pytestmark = [
    pytest.mark.browser,
    pytest.mark.timeout(300),
    pytest.mark.rare("a further way through the page"),
]

DESKTOP, PHONE = {"width": 1500, "height": 900}, {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def page(knowledge_base: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    place = Place(
        knowledge_base,
        tmp_path_factory.mktemp("place"),
        KB_PRICES='{"big": {"input_tokens": 2, "output_tokens": 8}}',
    )
    write_usage(knowledge_base.model_copy(update={"home": place.environment["KB_HOME"]}))
    with place.service(), place.page(), browsing(place.page_url) as page:
        page.set_default_timeout(90_000)
        yield page


def test_who_answers_for_it_sees_what_became_of_the_questions(page: Page, tmp_path: Path) -> None:
    page.set_viewport_size(DESKTOP)
    page.goto("/usage")
    expect(page.locator(".kb-lead")).to_contain_text("questions in the last 7 days")
    expect(page.locator(".kb-measure", has_text="Cost")).to_contain_text("0.0")
    expect(page.locator("canvas, .vega-embed svg").first).to_be_visible()
    picture(page, "usage")
    page.get_by_text("The 12 weeks as a table").click()
    expect(page.get_by_role("columnheader", name="Asked back")).to_be_visible()
    picture(page, "usage-table")
    page.get_by_role("radio", name="By day").click()
    expect(page.get_by_text("The 30 days as a table")).to_be_visible()
    page.set_viewport_size(PHONE)
    page.reload()
    expect(page.locator(".kb-lead")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    picture(page, "usage-phone")
    with page.expect_download() as downloading:
        page.get_by_role("button", name="Download all as CSV").click()
    file = tmp_path / "usage.csv"
    downloading.value.save_as(file)
    assert {row["of"] for row in csv.DictReader(file.read_text().splitlines())} >= {"all", "week", "day"}
    page.set_viewport_size(DESKTOP)
    page.locator(".kb-articles a").first.click()
    expect(page).to_have_url(re.compile(r"knowledge-base\?article="))
