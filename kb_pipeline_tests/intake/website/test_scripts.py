"""Pages that only scripts make are drawn with Chromium, which itself reaches nothing."""

from pathlib import Path

import pytest

from kb_pipeline.intake.running import run
from kb_pipeline.settings import Settings
from kb_pipeline_tests.intake.conftest import PROSE
from kb_pipeline_tests.intake.website.site import Site

SHELL = """<html><head><title>Guide</title><script type="module" src="/static/app.js"></script></head>
<body><div id="app">Loading …</div></body></html>"""
APP = """const page = await import("./pages.js");
const text = await (await fetch(`/api/text?page=${location.pathname}`)).json();
try { await fetch("http://INNER/secret"); } catch {}
document.getElementById("app").innerHTML = page.show(text);"""
PAGES = """export const show = text =>
  `<h1>${text.title}</h1><p>${text.body}</p><a href="/guide/two">Two</a><img src="/a.png">`;"""


@pytest.fixture
def scripted(site: Site) -> Site:
    for path, title in (("/guide/", "One"), ("/guide/two", "Two")):
        site.put(path, SHELL)
        site.put(
            f"/api/text?page={path}", f'{{"title": "{title}", "body": "{title}: {PROSE} {PROSE}"}}', "application/json"
        )
    site.put("/static/app.js", APP, "text/javascript")
    site.put("/static/pages.js", PAGES, "text/javascript")
    return site


@pytest.mark.browser
@pytest.mark.slow("starts a browser for each page")
def test_pages_that_scripts_make_are_read_as_they_are_seen_and_followed(
    scripted: Site, settings: Settings, staging: Path
) -> None:
    inner = Site()
    try:
        scripted.put("/static/app.js", APP.replace("INNER", inner.url.split("/")[2]), "text/javascript")
        drawing = settings.model_copy(update={"render": "chromium"})
        taken = run(scripted.source(drawing, start="guide/"), drawing)
        assert (sorted(taken.new), taken.refused) == (["site", "site-two"], {})
        assert f"Two: {PROSE}" in (staging / "site-two" / "index.html").read_text()
        assert 'href="../site-two/index.html"' in (staging / "site" / "index.html").read_text()
        assert inner.asked == []
        assert [path for path, _ in scripted.asked].count("/static/app.js") == 1
        scripted.put("/api/text?page=/guide/two", '{"title": "Two", "body": "Another text."}', "application/json")
        assert run(scripted.source(drawing, start="guide/"), drawing).changed == ["site-two"]
    finally:
        inner.close()


def test_without_a_browser_they_are_named(scripted: Site, settings: Settings) -> None:
    scripted.put("/guide/", SHELL.replace("Loading …", ""))
    taken = run(scripted.source(settings, start="guide/"), settings)
    assert "set KB_RENDER=chromium" in taken.refused["."]
    assert taken.new == []


@pytest.mark.browser
@pytest.mark.slow("starts a browser")
def test_files_that_robots_may_not_read_are_not_fetched_for_scripts(scripted: Site, settings: Settings) -> None:
    drawing = settings.model_copy(update={"render": "chromium"})
    scripted.put("/robots.txt", "User-agent: *\nDisallow: /api/", "text/plain")
    run(scripted.source(drawing, start="guide/"), drawing)
    assert not [path for path, _ in scripted.asked if path.startswith("/api")]
