"""What browsers get first: words of ours, in the reader's language, and every address leads to the page."""

import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from app.language.messages import Messages, languages
from app.page.frame import ON_EACH_PAGE, SANS, SERIF, WHERE_ONE_ASKS, Frame, _html, frame, linked
from app.page.kept import address
from app.page.policy import policy
from app.page.topology import ENGINE_FILE
from kb_pipeline_tests.page_fonts import STREAMLIT

_SCRIPT = re.compile(r"\./static/(?:js|css)/[^\"]+")
WAITS = '<main id="kb-waiting"'


async def like_streamlit(request: Request) -> Any:
    """Its HTML for any address but those of its files."""
    path = request.url.path
    if path == "/favicon.png":
        return PlainTextResponse("a picture", media_type="image/png")
    if path == "/_stcore/download":
        return HTMLResponse("<p>a file of a reader")
    return FileResponse(STREAMLIT / "static/index.html")


@pytest.fixture(scope="module")
def page() -> TestClient:
    routes = [Route("/{path:path}", like_streamlit)]
    return TestClient(Starlette(routes=routes, middleware=[Middleware(Frame)]), follow_redirects=False)


@pytest.mark.parametrize("path", ["/", "/knowledge-base", "/quality", "/network", "/shared"])
def test_a_page_begins_with_our_words(page: TestClient, path: str) -> None:
    reply = page.get(path)
    assert reply.status_code == 200
    assert "The page is being loaded" in reply.text
    assert "<title>Knowledge base</title>" in reply.text
    assert reply.headers["cache-control"] == "no-cache"
    assert ("<textarea" in reply.text) is (path == "/")  # where questions are asked


@pytest.mark.parametrize("language", languages())
def test_they_are_in_the_language_of_the_browser(page: TestClient, language: str) -> None:
    accepted = f"{language}-XX,{language};q=0.9,it;q=0.8"
    reply = page.get("/", headers={"accept-language": accepted})
    assert Messages.of(language)("page_loads") in reply.text
    assert reply.headers["content-language"] == language
    assert "Accept-Language" in reply.headers["vary"]


@pytest.mark.parametrize("accepted", ["", "it", "*", ";;,", "x" * 500, "de_DE;q=none"])
def test_who_names_no_language_of_ours_reads_english(page: TestClient, accepted: str) -> None:
    assert page.get("/", headers={"accept-language": accepted}).status_code == 200


@pytest.mark.parametrize(
    ("path", "leads_to"),
    [
        ("/ask", "./"),
        ("/ask?conversation=conv_1", "./?conversation=conv_1"),
        ("/chat", "./"),
        ("/Knowledge-Base", "./knowledge-base"),
        ("/QUALITY?run=1", "./quality?run=1"),
        ("/index.html", "./"),
        ("/failures", "./?nowhere=failures"),
        ("/failures?page=2", "./?page=2&nowhere=failures"),
        ("/%26x=%0d%0a", "./?nowhere=%26x%3D%0D%0A"),
    ],
)
def test_an_address_of_no_page_leads_to_the_one_that_it_means_or_to_the_first_which_says_so(
    page: TestClient, path: str, leads_to: str
) -> None:
    reply = page.get(path)
    assert (reply.status_code, reply.headers["location"]) == (307, leads_to)


def test_files_and_other_requests_are_left_alone(page: TestClient) -> None:
    assert page.get("/favicon.png").text == "a picture"
    assert page.get("/_stcore/download").text == "<p>a file of a reader"
    assert page.post("/").status_code == 405


def test_a_browser_that_kept_streamlits_html_gets_ours(page: TestClient) -> None:
    kept = TestClient(Starlette(routes=[Route("/", like_streamlit)])).get("/").headers["etag"]
    assert WAITS in page.get("/", headers={"if-none-match": kept}).text


def test_nothing_that_paints_waits_for_streamlits_style_sheet() -> None:
    html = frame("en", can_ask=True)
    assert html.index(WAITS) < html.index('rel="stylesheet"')
    assert html.index("<script>", html.index(WAITS)) < html.index('rel="stylesheet"')
    assert html.index('rel="stylesheet"') < html.index("@font-face")  # the last one of a name counts
    assert "SourceSansVF" not in html


def test_all_of_streamlits_scripts_are_still_there_and_each_is_asked_for_once() -> None:
    asked_for = _SCRIPT.findall(frame("en", can_ask=True))
    assert set(asked_for) >= set(_SCRIPT.findall(_html()))
    assert len(asked_for) == len(set(asked_for))


@pytest.mark.parametrize(
    ("can_ask", "elements"), [(False, ON_EACH_PAGE), (True, (*ON_EACH_PAGE, *WHERE_ONE_ASKS))], ids=["a place", "ask"]
)
def test_the_code_of_what_a_page_begins_with_is_asked_for_early(can_ask: bool, elements: tuple[str, ...]) -> None:
    early = set(_SCRIPT.findall(frame("en", can_ask=can_ask))) - set(_SCRIPT.findall(_html()))
    names = {file.rpartition("/")[2].partition(".")[0] for file in early}
    assert names >= set(elements)
    assert "Slider" not in names
    assert all((STREAMLIT / "static" / file).is_file() for file in early)
    assert {file.removeprefix(".") for file in early} <= set(linked())  # compressed before somebody asks


def test_a_streamlit_without_a_list_of_its_scripts_asks_for_them_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.page.frame._LIST", Path("nowhere.json"))
    frame.cache_clear()
    assert sorted(_SCRIPT.findall(frame("en", can_ask=True))) == sorted(_SCRIPT.findall(_html()))
    frame.cache_clear()


def test_fonts_of_ours_are_asked_for_early() -> None:
    html = frame("en", can_ask=True)
    for font in (SANS, SERIF):
        assert html.index(f'as="font" type="font/woff2" crossorigin href="{address(font)}"') < html.index("@font-face")


@pytest.mark.parametrize("language", languages())
def test_its_scripts_are_allowed_by_the_policy(language: str) -> None:
    for can_ask in (True, False):
        for script in re.findall(r"<script>(.*?)</script>", frame(language, can_ask=can_ask), re.DOTALL):
            assert f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" in policy("")


def test_a_network_is_drawn_by_a_script_that_browsers_keep() -> None:
    assert re.fullmatch(r"/vendor/force-graph\.min\.[0-9a-f]{12}\.js", address(ENGINE_FILE))
