"""Another analyzer, tried from the Dagster UI in a real browser, with a service that reads articles and one that sees.

What the report in the run shows is what the command line shows, and what the full run then does.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from kb_pipeline_tests.building import listing
from kb_pipeline_tests.dagster_ui import Site, browsing, comes_true, picture, served, status_of
from kb_pipeline_tests.mistral_service import KEY, document_service
from kb_pipeline_tests.openai_server import openai_server

pytestmark = [pytest.mark.browser, pytest.mark.timeout(900), pytest.mark.rare("a further way through Dagster's page")]

OTHER = "mistral-doc-ai"
CONFIG = f"""
ops:
  preview_sample:
    config:
      set: {{KB_ANALYZER: {OTHER}}}
      articles: [alpha, gamma]
"""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """Three articles that are read here, and services that can read them too."""
    with document_service() as documents, openai_server() as models:
        site = Site(
            tmp_path,
            KB_ANALYZER="kb_pipeline_tests.doubles:PaidAnalyzer",
            PAID_LEDGER=str(tmp_path / "ledger"),
            KB_MISTRAL_ENDPOINT=documents.url,
            KB_MISTRAL_API_KEY=KEY,
            KB_VISION_MODEL="gpt-4.1",
            **models.environment,
        )
        for name in ("alpha", "beta", "gamma"):
            site.stage(name, f"<body><h1>Article {name}</h1><p>Some text.</p><img src='a.image' alt='A form'></body>")
        site.kb_here("ingest")
        yield site


def test_the_run_shows_what_the_full_run_then_does(site: Site) -> None:
    home = Path(site.environment["KB_HOME"])
    published = listing(home / "serving")
    with served(site) as url, browsing(url) as page:
        report = previewed(page)
    assert f"Preview: KB_ANALYZER={OTHER}" in report
    assert "2 articles built beside the live ones: 2 with another text, 0 fail" in report
    assert listing(home / "serving") == published

    told = site.kb_here("preview", "--analyzer", OTHER, "--article", "alpha", "--article", "gamma", "--json")
    articles = {one["article_id"]: one for one in json.loads(told)["articles"]}
    site.environment["KB_ANALYZER"] = OTHER
    site.kb_here("ingest")
    for name, one in articles.items():
        before = one["diff"].split()[1]
        assert json.loads(site.kb_here("diff", name, before, "--json"))["diff"] == one["diff"]
        added = [line for line in one["diff"].splitlines() if line.startswith("+>")]
        assert added and [line for line in added if line not in report] == []


def previewed(page: Page) -> str:
    """Launch the job from its launchpad, and open the report of its run."""
    page.goto(f"/locations/kb_pipeline/jobs/preview_changes/playground/setup?config={quote(CONFIG)}")
    page.get_by_role("button", name=re.compile("Launch Run", re.IGNORECASE)).click()
    expect(page).to_have_url(re.compile("/runs/"))
    address = page.url
    run_id = address.partition("/runs/")[2].partition("?")[0]
    assert comes_true(page, lambda: status_of(page, run_id) in ("SUCCESS", "FAILURE"), seconds=400)
    page.goto(address)
    expect(page.get_by_text("Success", exact=True).first).to_be_visible()
    page.get_by_text("Show markdown", exact=False).first.click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("Preview:", exact=False).first).to_be_visible()
    picture(page, "preview-report")
    return dialog.inner_text()
