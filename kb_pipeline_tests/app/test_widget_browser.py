"""The widget on a real page of another site, which forbids nearly everything, over articles that want to break out."""

import shutil
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from app.api.server import create_app
from app.settings import AppSettings
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.publishing import Author
from kb_pipeline_tests.app.serving import serving_app
from kb_pipeline_tests.app.test_accessibility_browser import violations
from kb_pipeline_tests.dagster_ui import chromium, picture, visiting

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300), pytest.mark.slow("starts what it looks at, and a browser")]

EVIL = "<img src=x onerror=window.hacked=1>"
CROP = "How do I crop a layer?"


class HelpSite:
    """A help site, whose pages may only do what the documentation says that the widget needs."""

    def __init__(self) -> None:
        self.service = ""
        self.attributes = ""
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                page = site.page().encode()
                self.send_response(200)
                self.send_header("content-type", "text/html; charset=utf-8")
                self.send_header("content-security-policy", site.policy())
                self.send_header("content-length", str(len(page)))
                self.end_headers()
                self.wfile.write(page)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def page(self) -> str:
        return (
            '<!doctype html><html lang="en"><head><title>Help</title><link rel="icon" href="data:,"></head><body>'
            f'<main><h1>Help of another site</h1><p>Welcome.</p></main><script src="{self.service}/widget.js" '
            f"{self.attributes}></script></body></html>"
        )

    def policy(self) -> str:
        return (
            f"default-src 'none'; script-src {self.service}; connect-src {self.service}; img-src data: blob:; "
            "require-trusted-types-for 'script'; trusted-types 'none'"
        )


@pytest.fixture(scope="module")
def site(knowledge_base: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HelpSite]:
    folder = tmp_path_factory.mktemp("widget")
    shutil.copytree(knowledge_base.home, folder / "home")
    author = Author(knowledge_base.model_copy(update={"home": str(folder / "home")}), folder / "staging")
    harmless = EVIL.replace("<", "&lt;")
    author.replaces("layers", "<h1>Layers</h1>", f"<h1>Layers {harmless}</h1>")
    author.replaces("layers", "<h2>Crop a layer</h2>", f"<h2>Crop a layer {harmless}</h2><p>{harmless}</p>")
    site = HelpSite()
    with ExitStack() as stack:
        settings = AppSettings(widget_origins=(site.url,))
        site.service = stack.enter_context(serving_app(create_app(settings, author.settings)))
        stack.callback(site.server.server_close)
        stack.callback(site.server.shutdown)
        threading.Thread(target=site.server.serve_forever, daemon=True).start()
        yield site


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def page(browser: Browser, site: HelpSite) -> Iterator[Page]:
    site.attributes = ""
    with visiting(browser, site.url) as page:
        page.goto("/")
        yield page


def ask(page: Page, question: str = CROP) -> Locator:
    """Ask with the keyboard alone; the answer."""
    page.get_by_role("button", name="Ask").press("Enter")
    page.keyboard.type(question)
    page.keyboard.press("Enter")
    expect(page.get_by_text("Here is the answer.")).to_be_visible()
    return page.get_by_role("region", name="Answer")


def test_a_visitor_reads_an_answer_with_its_picture_and_its_sources(page: Page) -> None:
    answer = ask(page)
    expect(answer).to_contain_text("Crop to Content")
    expect(answer.locator("img").first).to_have_js_property("naturalWidth", 640)
    source = answer.locator("details").filter(has=page.locator("summary", has_text="1  Layers"))
    expect(source.locator("blockquote").first).to_be_hidden()
    answer.get_by_role("button", name="Source 1:").first.click()
    expect(source.locator("blockquote").first).to_be_visible()
    assert violations(page) == []
    picture(page, "widget-answer")


@pytest.mark.rare("a further way through the page in a browser")
def test_without_an_answer_none_is_announced(page: Page) -> None:
    page.get_by_role("button", name="Ask").press("Enter")
    page.keyboard.type("Who won the world cup of 1954?")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_have_text("Nothing in the knowledge base answers this.")
    expect(page.get_by_role("status")).to_have_css("width", "1px")  # it stands above already
    expect(page.get_by_text("Here is the answer.")).to_have_count(0)


def test_what_articles_write_stays_text(page: Page) -> None:
    answer = ask(page)
    expect(answer.locator("summary", has_text=EVIL).first).to_be_visible()
    assert answer.locator("img[onerror], script").count() == 0
    assert page.evaluate("window.hacked") is None


@pytest.mark.rare("a further way through the page in a browser")
def test_the_keyboard_opens_and_closes_it_and_comes_back(page: Page) -> None:
    opener, box = page.get_by_role("button", name="Ask"), page.get_by_role("textbox", name="Your question")
    assert violations(page) == []
    opener.press("Enter")
    expect(box).to_be_focused()
    assert violations(page) == []
    page.keyboard.press("Escape")
    expect(opener).to_be_focused()
    expect(page.get_by_role("dialog")).to_be_hidden()


@pytest.mark.rare("a further way through the page in a browser")
@pytest.mark.parametrize("attributes", ['data-theme="dark"', 'data-lang="de" data-theme="auto"'])
def test_it_is_dark_and_speaks_as_its_site_wants(site: HelpSite, page: Page, attributes: str) -> None:
    site.attributes = attributes
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/")
    german = "de" in attributes.partition(" ")[0]
    page.get_by_role("button", name="Fragen" if german else "Ask").click()
    page.keyboard.type(CROP)
    page.keyboard.press("Enter")
    expect(page.get_by_text("Hier ist die Antwort." if german else "Here is the answer.")).to_be_visible()
    expect(page.get_by_role("heading", name="Quellen" if german else "Sources")).to_be_attached()
    expect(page.locator("img").first).to_have_js_property("naturalWidth", 640)
    assert violations(page) == []
    picture(page, f"widget-phone-{'de' if german else 'en'}")


def test_on_a_site_that_is_not_named_it_says_that_it_did_not_work(site: HelpSite, page: Page) -> None:
    page.goto(site.url.replace("127.0.0.1", "localhost"))
    page.get_by_role("button", name="Ask").click()
    page.keyboard.type(CROP)
    page.keyboard.press("Enter")
    expect(page.get_by_text("This did not work. Please try again.")).to_be_visible()
