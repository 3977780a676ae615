"""A page that holds only scripts is drawn by a real browser, which reaches nothing but the article's folder."""

import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import psutil
import pytest

from kb_pipeline.errors import ArticleError
from kb_pipeline.flow.layers.converted_markdown import load_converted
from kb_pipeline.flow.page_renderer import PageRenderer
from kb_pipeline.flow.workspace import open_workspace
from kb_pipeline.settings import Settings
from kb_pipeline_tests.building import build_here
from kb_pipeline_tests.conftest import Article

pytestmark = [pytest.mark.browser, pytest.mark.slow("starts a browser for each page")]


@pytest.fixture(scope="module")
def renderer() -> Iterator[PageRenderer]:
    made = PageRenderer(seconds=60, memory_mb=900)
    yield made
    made.close()


def browsers() -> set[psutil.Process]:
    return {process for process in psutil.Process().children(recursive=True) if "chrom" in process.name()}


def test_what_scripts_and_files_of_the_folder_write_is_there(renderer: PageRenderer) -> None:
    page = "<div id=app></div><script src=app.js></script>"
    script = b"fetch('parts/text.json').then(r => r.json()).then(t => { app.innerHTML = `<h1>${t.title}</h1>` })"
    drawn = renderer.render("an-article", page, {"app.js": script, "parts/text.json": b'{"title": "Drawn"}'})
    assert "<h1>Drawn</h1>" in drawn


def test_a_page_finds_nothing_that_another_one_kept(renderer: PageRenderer) -> None:
    keeping = """<p id=said></p><script>
      said.append(`found ${localStorage.length} and '${document.cookie}'`);
      localStorage.word = document.cookie = "secret"; window.name = "secret";
    </script>"""
    for article_id in ("one", "other"):
        assert "found 0 and ''" in renderer.render(article_id, keeping, {})


def test_one_browser_draws_page_after_page_and_ends_when_the_renderer_is_closed() -> None:
    of_others, renderer = browsers(), PageRenderer()
    renderer.render("one", "<p>Words", {})
    first = browsers() - of_others
    renderer.render("other", "<p>Words", {})
    assert [process for process in first if process.is_running()]
    renderer.close()
    assert psutil.wait_procs(browsers() - of_others, timeout=30)[1] == []


def test_a_browser_that_was_killed_is_replaced(renderer: PageRenderer) -> None:
    of_others = browsers()
    renderer.close()
    renderer.render("one", "<p>Words", {})
    for process in browsers() - of_others:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    assert "<p>Words" in renderer.render("other", "<p>Words", {})


def test_an_article_of_scripts_is_read_as_they_draw_it_if_the_settings_say_so(
    article: Article, settings: Settings
) -> None:
    article("scripted", "<div id=app></div><script>app.innerHTML = '<h1>Drawn</h1><p>By a script.</p>'</script>")
    article("plain", "<h1>Plain</h1><p>Words.</p><script>document.body.innerHTML = 'never run'</script>")
    layers = ("staged_article", "converted_markdown")
    failed = build_here(settings, layers=layers)["scripted"]
    assert "KB_RENDER=chromium" in (failed.error or "")
    drawing = settings.model_copy(update={"render": "chromium"})
    results = build_here(drawing, layers=layers)
    assert [result.error for result in results.values()] == [None, None]
    layout = open_workspace(drawing).layout
    assert load_converted(layout, "scripted").markdown == "# Drawn\n\nBy a script.\n"
    assert load_converted(layout, "plain").markdown == "# Plain\n\nWords.\n"


def test_nothing_else_is_reached(renderer: PageRenderer) -> None:
    asked: list[str] = []

    class Server(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"127.0.0.1:{server.server_port}"
    page = f"""<p id=said></p><script>
      const tries = ["http://{address}/a", "file:///etc/passwd", "../secret.txt", "http://169.254.169.254/"];
      const say = text => said.append(text);
      for (const url of tries) fetch(url).then(r => r.text()).then(t => say("READ " + t), () => say("no"));
      new WebSocket("ws://{address}/b"); navigator.sendBeacon("http://{address}/c", "x");
      document.write("<img src='http://{address}/d'><iframe src='file:///etc/passwd'></iframe>");
      setTimeout(() => location = "http://{address}/e", 200);
    </script>"""
    try:
        drawn = renderer.render("an-article", page, {})
    except ArticleError:
        drawn = ""
    server.shutdown()
    assert asked == []
    assert "READ" not in drawn.split("</script>")[-1]
    assert "root:" not in drawn


@pytest.mark.slow("waits for the limit of a page that never ends")
def test_a_page_that_never_ends_fails_within_its_time() -> None:
    renderer = PageRenderer(seconds=3)
    with pytest.raises(ArticleError, match="an-article: drawing the page with Chromium took longer than 3 s"):
        renderer.render("an-article", "<script>for (;;) {}</script>", {})


def test_a_page_that_fills_the_memory_fails() -> None:
    renderer = PageRenderer(seconds=60, memory_mb=500)
    page = "<script>const kept = []; for (;;) kept.push(new Uint8Array(1e7).fill(1))</script>"
    with pytest.raises(ArticleError, match=r"needed more than 500 MB|failed"):
        renderer.render("an-article", f"<body>{page}", {})
    renderer.close()
