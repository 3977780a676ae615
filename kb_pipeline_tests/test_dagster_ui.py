"""The real webserver and daemon in a real browser: a platform engineer's day, in the order of the tests."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from kb_pipeline.settings import Settings
from kb_pipeline_tests.dagster_ui import (
    Site,
    browsing,
    comes_true,
    materializations,
    materialized,
    picture,
    served,
)
from kb_pipeline_tests.served import index_rows

pytestmark = [pytest.mark.browser, pytest.mark.timeout(900), pytest.mark.rare("further ways through Dagster's page")]

TABLE = "<table><tr><th>Plan</th><th>Price</th></tr><tr><td>Basic</td><td>10</td></tr></table>"


def html(name: str, text: str = "Some text.", more: str = "") -> str:
    return f"<body><h1>Article {name}</h1><p>{text}</p><img src='a.image' alt='A form'>{more}</body>"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Good articles and a broken one, ingested by an analyzer that loses tables."""
    folder = tmp_path_factory.mktemp("site")
    lossy = "kb_pipeline_tests.doubles:LossyAnalyzer"
    site = Site(folder, KB_ANALYZER=lossy, PAID_LEDGER=str(folder / "ledger"))
    for name in ("alpha", "beta", "delta", "gamma"):
        site.stage(name, html(name))
    site.stage("broken", b"%PDF-1.7")
    assert site.kb("ingest").returncode == 1
    return site


@pytest.fixture(scope="module")
def page(site: Site) -> Iterator[Page]:
    with served(site) as url, browsing(url) as page:
        yield page


def test_a_failing_article_is_red_beside_good_ones_and_retried_alone(page: Page, site: Site) -> None:
    page.goto("/assets/converted_markdown?view=partitions&partition=broken")
    expect(page.get_by_text("Failed (1)")).to_be_visible()
    expect(page.get_by_text("Materialized (4)")).to_be_visible()
    picture(page, "failing-article")
    page.goto("/assets/failing_articles")
    expect(page.get_by_text("is a PDF, not HTML").first).to_be_visible()
    picture(page, "failing-articles")

    site.stage("broken", html("mended"))
    for _ in range(3):  # the daemon of a machine that stood still for a while may lose a launch
        materialize(page, "Failed and missing")
        if comes_true(page, lambda: materialized(page, "search_index") == 5, seconds=80):
            break
    page.goto("/assets/search_index?view=partitions")
    expect(page.get_by_text("Materialized (5)")).to_be_visible()


def test_a_range_is_backfilled(page: Page) -> None:
    events = page.get_by_text(re.compile(r"View all historical events \([1-9]"))
    address = "/assets/search_index?view=partitions&partition=beta"
    page.goto(address)
    before, counted = materializations(page, "search_index", "beta"), events.first.inner_text()
    for _ in range(3):
        materialize(page, ["beta", "broken", "delta"])
        if comes_true(page, lambda: materializations(page, "search_index", "beta") > before, seconds=80):
            break
    page.goto(address)
    expect(events.first).not_to_have_text(counted)


def test_a_check_blocks_a_broken_new_version_and_the_old_one_keeps_serving(page: Page, site: Site) -> None:
    page.goto("about:blank")
    site.stage("alpha", html("alpha", "Text of the new version.", TABLE))
    assert site.kb("ingest", "--article", "alpha").returncode == 1
    page.goto("/assets/converted_markdown?view=checks&checkDetail=structure_is_preserved")
    expect(page.get_by_text("1 table", exact=False).first).to_be_visible()
    picture(page, "blocking-check")
    assert "new version" not in served_text(site, "alpha")
    assert "new version" not in found_text(site)

    site.stage("alpha", html("alpha", "Text of the new version."))
    assert site.kb("retry").returncode == 0
    assert "new version" in served_text(site, "alpha")
    assert "new version" in found_text(site)


def test_a_deleted_article_is_gone_and_the_history_says_so(page: Page, site: Site) -> None:
    shutil.rmtree(site.staging / "gamma")
    page.goto("/locations/kb_pipeline/sensors/staging_sensor")
    page.locator("label[for^=checkbox]").first.click()
    assert comes_true(page, lambda: materialized(page, "search_index") == 4, seconds=240)
    page.goto("/assets/search_index?view=partitions")
    expect(page.get_by_text("Materialized (4)")).to_be_visible()
    page.goto("/assets/search_index?view=events")
    expect(page.get_by_text("gamma").first).to_be_visible()
    picture(page, "deletion")
    page.goto("/assets/removed_articles")
    expect(page.get_by_text("gamma").first).to_be_visible()
    assert not (site.folder / "home" / "serving" / "gamma").exists()
    assert "gamma" not in found_text(site)


def materialize(page: Page, partitions: str | list[str]) -> None:
    """Press Materialize all, and choose partitions by name, or by one of the dialog's own words."""
    page.goto("/locations/kb_pipeline/asset-groups/articles")
    page.get_by_role("button", name="Materialize all").click()
    dialog = page.get_by_role("dialog").first
    if isinstance(partitions, str):
        dialog.get_by_role("button", name=partitions, exact=True).click()
    else:
        dialog.get_by_text("Select a partition").click()
        for partition in partitions:
            page.get_by_role("menuitem").filter(has_text=partition).click()
        page.keyboard.press("Escape")
    dialog.get_by_role("button", name="Launch", exact=False).click()
    expect(dialog).to_be_hidden()


def served_text(site: Site, article: str) -> str:
    return (Path(site.folder) / "home" / "serving" / article / "article.md").read_text()


def found_text(site: Site) -> str:
    """All that a search can find."""
    settings = Settings(staging=site.environment["KB_STAGING"], home=site.environment["KB_HOME"], embedder="hashing")
    return "\n".join(str(row["content"]) for row in index_rows(settings))
