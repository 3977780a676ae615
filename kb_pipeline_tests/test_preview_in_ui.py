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
from kb_pipeline_tests.dagster_ui import Site, browsing, picture, served
from kb_pipeline_tests.mistral_service import KEY, document_service
from kb_pipeline_tests.openai_server import openai_server

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(900)]

OTHER = "mistral-doc-ai"
CONFIG = f"""
ops:
  preview_sample:
    config:
      set: {{KB_ANALYZER: {OTHER}}}
      articles: [alpha, gamma]
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Three articles that are read here, and services that can read them too."""
    folder = tmp_path_factory.mktemp("site")
    with document_service() as documents, openai_server() as models:
        site = Site(
            folder,
            KB_ANALYZER="kb_pipeline_tests.doubles:PaidAnalyzer",
            PAID_LEDGER=str(folder / "ledger"),
            KB_MISTRAL_ENDPOINT=documents.url,
            KB_MISTRAL_API_KEY=KEY,
            KB_VISION_MODEL="gpt-4.1",
            **models.environment,
        )
        for name in ("alpha", "beta", "gamma"):
            site.stage(name, f"<body><h1>Article {name}</h1><p>Some text.</p><img src='a.image' alt='A form'></body>")
        ingested = site.kb("ingest")
        assert ingested.returncode == 0, ingested.stderr
        yield site


@pytest.fixture(scope="module")
def page(site: Site) -> Iterator[Page]:
    with served(site) as url, browsing(url) as page:
        yield page


def test_the_run_shows_what_the_full_run_then_does(page: Page, site: Site) -> None:
    home = Path(site.environment["KB_HOME"])
    published = listing(home / "serving")
    report = previewed(page)
    assert f"Preview: KB_ANALYZER={OTHER}" in report
    assert "2 articles built beside the live ones: 2 with another text, 0 fail" in report
    assert listing(home / "serving") == published

    told = site.kb("preview", "--analyzer", OTHER, "--article", "alpha", "--article", "gamma", "--json")
    assert told.returncode == 0, told.stderr
    articles = {one["article_id"]: one for one in json.loads(told.stdout)["articles"]}
    site.environment["KB_ANALYZER"] = OTHER
    ingested = site.kb("ingest")
    assert ingested.returncode == 0, ingested.stderr
    for name, one in articles.items():
        before = one["diff"].split()[1]
        assert json.loads(site.kb("diff", name, before, "--json").stdout)["diff"] == one["diff"]
        added = [line for line in one["diff"].splitlines() if line.startswith("+>")]
        assert added and [line for line in added if line not in report] == []


def previewed(page: Page) -> str:
    """Launch the job from its launchpad, and open the report of its run."""
    page.goto(f"/locations/kb_pipeline/jobs/preview_changes/playground/setup?config={quote(CONFIG)}")
    page.get_by_role("button", name=re.compile("Launch Run", re.IGNORECASE)).click()
    expect(page).to_have_url(re.compile("/runs/"))
    expect(page.get_by_text("Success", exact=True).first).to_be_visible(timeout=400_000)
    page.get_by_text("Show markdown", exact=False).first.click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("Preview:", exact=False).first).to_be_visible()
    picture(page, "preview-report")
    return dialog.inner_text()
