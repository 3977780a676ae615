"""Files that browsers keep: small, under names that change with what is in them, and never the wrong one."""

import gzip
from pathlib import Path

import brotli
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from app.page import frame
from app.page.kept import FOREVER, KeptFiles, address
from app.page.topology import ENGINE_FILE

SCRIPT = frame.linked()[0]
ICONS = next(iter(frame.INSTEAD))


async def other(_: Request) -> PlainTextResponse:
    return PlainTextResponse("something else")


@pytest.fixture(scope="module")
def page() -> TestClient:
    kept = Middleware(KeptFiles, ours=(ENGINE_FILE, *frame.FILES), instead=frame.INSTEAD)
    return TestClient(Starlette(routes=[Route("/{path:path}", other)], middleware=[Middleware(GZipMiddleware), kept]))


def get(page: TestClient, path: str, accepted: str, **headers: str) -> tuple[str | None, bytes]:
    """The coding of a file, and its bytes as they come over the line."""
    with page.stream("GET", path, headers={"accept-encoding": accepted, **headers}) as reply:
        return reply.headers.get("content-encoding"), b"".join(reply.iter_raw())


def test_a_script_of_streamlit_comes_small_and_is_kept(page: TestClient) -> None:
    coding, sent = get(page, SCRIPT, "gzip, deflate, br")
    _, whole = get(page, SCRIPT, "identity")
    assert coding == "br"
    assert brotli.decompress(sent) == whole
    assert len(sent) < len(gzip.compress(whole, 6))
    reply = page.get(SCRIPT)
    assert reply.headers["cache-control"] == FOREVER
    assert reply.headers["vary"] == "Accept-Encoding"
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert "content-security-policy" not in reply.headers  # 66 times it would take a second over a slow line


@pytest.mark.parametrize("accepted", ["gzip", "gzip, br;q=0", "br;q=0.0, gzip"])
def test_who_does_not_take_brotli_gets_gzip(page: TestClient, accepted: str) -> None:
    coding, sent = get(page, SCRIPT, accepted)
    assert coding == "gzip"
    assert gzip.decompress(sent) == get(page, SCRIPT, "identity")[1]


def test_what_a_browser_has_is_not_sent_again(page: TestClient) -> None:
    small = page.get(SCRIPT, headers={"accept-encoding": "br"}).headers["etag"]
    large = page.get(SCRIPT, headers={"accept-encoding": "identity"}).headers["etag"]
    assert small != large
    assert page.get(SCRIPT, headers={"accept-encoding": "br", "if-none-match": small}).status_code == 304
    assert page.get(SCRIPT, headers={"accept-encoding": "br", "if-none-match": large}).status_code == 200


def test_a_file_of_ours_has_a_name_that_changes_with_what_is_in_it(page: TestClient, tmp_path: Path) -> None:
    first, second = tmp_path / "a" / "x.js", tmp_path / "b" / "x.js"
    for file in (first, second):
        file.parent.mkdir()
        file.write_text(str(file.parent.name))
    assert address(first) != address(second)
    reply = page.get(address(ENGINE_FILE))
    assert (reply.status_code, reply.content) == (200, ENGINE_FILE.read_bytes())
    assert reply.headers["content-type"].startswith("text/javascript")
    assert reply.headers["cache-control"] == FOREVER
    assert page.get(address(frame.SANS)).headers["content-type"] == "font/woff2"


def test_what_stands_in_for_a_file_of_streamlit_is_asked_for_again(page: TestClient) -> None:
    reply = page.get(ICONS)
    assert reply.content == frame.ICONS.read_bytes()
    assert reply.headers["cache-control"] == "no-cache"
    assert page.get(ICONS, headers={"if-none-match": reply.headers["etag"]}).status_code == 304


def test_only_the_head_is_sent_to_who_asks_for_it(page: TestClient) -> None:
    reply = page.head(SCRIPT, headers={"accept-encoding": "br"})
    assert (reply.status_code, reply.content) == (200, b"")
    assert int(reply.headers["content-length"]) > 100


@pytest.mark.parametrize(
    "path", ["/", "/static/js/none.js", "/static/../../secrets.py", "/static/%2e%2e/index.html", "/vendor/policy.py"]
)
def test_all_else_is_left_to_others(page: TestClient, path: str) -> None:
    assert page.get(path).text == "something else"
    assert page.post(SCRIPT).status_code == 405
