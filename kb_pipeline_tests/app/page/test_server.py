"""The page's own web server: the service's images below its address, and headers that keep pages safe."""

import re
from collections.abc import Iterator

import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.testclient import TestClient
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from app.page import session
from app.page.policy import PageHeaders, policy
from app.page.server import file_routes
from app.settings import AppSettings
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.model_servers import OwnModel
from kb_pipeline_tests.app.page.serving import Place

IMAGE = "/api/images/layers%20%26%20masks/images/crop.png"
ANNA = {"X-MS-CLIENT-PRINCIPAL-ID": "anna"}


def serve(_: object, request: Request) -> Response:
    """A service with one image, for Anna and for who has nobody's headers."""
    if request.headers.get("x-ms-client-principal-id") not in (None, "anna"):
        return JSONResponse({"error": {"code": "not_found", "message": "no such image"}}, 404)
    if request.scope["raw_path"] != IMAGE.encode():
        return JSONResponse({"not": "an image"})
    headers = {"etag": '"1"', "cache-control": "private, max-age=60", "x-internal": "1"}
    return Response(b"\x89PNG", 304 if "if-none-match" in request.headers else 200, headers, "image/png")


@pytest.fixture
def page() -> Iterator[TestClient]:
    with OwnModel(serve) as service:
        yield TestClient(Starlette(routes=file_routes(service.url), middleware=[Middleware(PageHeaders)]))


@pytest.fixture
def easy_auth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "page_settings", lambda: AppSettings(easy_auth=True))


def test_an_image_comes_as_the_service_has_it(page: TestClient) -> None:
    reply = page.get(IMAGE)
    assert (reply.status_code, reply.content, reply.headers["content-type"]) == (200, b"\x89PNG", "image/png")
    assert reply.headers["cache-control"] == "private, max-age=60"
    assert "x-internal" not in reply.headers


def test_an_image_that_the_browser_has_is_not_sent_again(page: TestClient) -> None:
    assert page.get(IMAGE, headers={"if-none-match": '"1"'}).status_code == 304


def test_what_is_no_image_is_not_found(page: TestClient) -> None:
    assert page.get("/api/images/other/images/x.png").status_code == 404
    assert page.get("/api/images/%2e%2e/conversations").status_code == 404


@pytest.mark.usefixtures("easy_auth")
def test_the_service_is_told_who_asks(page: TestClient) -> None:
    assert page.get(IMAGE, headers=ANNA).status_code == 200
    assert page.get(IMAGE, headers={"X-MS-CLIENT-PRINCIPAL-ID": "ben"}).status_code == 404


def test_without_easy_auth_nobody_is_believed(page: TestClient) -> None:
    assert page.get(IMAGE, headers={"X-MS-CLIENT-PRINCIPAL-ID": "ben"}).status_code == 200


def test_a_service_that_is_down_is_a_bad_gateway() -> None:
    reply = TestClient(Starlette(routes=file_routes("http://127.0.0.1:9"))).get(IMAGE)
    assert (reply.status_code, reply.json()["error"]["code"]) == (502, "service_down")


def test_nothing_of_another_site_is_loaded_or_frames_the_page(page: TestClient) -> None:
    said = page.get(IMAGE).headers["content-security-policy"]
    assert "img-src 'self' data: blob:" in said
    assert "frame-ancestors 'self'" in said
    assert page.get(IMAGE).headers["referrer-policy"] == "no-referrer"


def directives(host: str) -> dict[str, str]:
    return dict(each.strip().split(" ", 1) for each in policy(host).split(";"))


@pytest.mark.parametrize(
    ("host", "sockets"),
    [
        ("127.0.0.1:8501", " ws://127.0.0.1:8501 wss://127.0.0.1:8501"),
        ("kb.example.com", " ws://kb.example.com wss://kb.example.com"),
        ("[::1]:8501", ""),  # a policy has no words for it
        ("evil.example; script-src *", ""),
        ("a b", ""),
        ("", ""),
    ],
)
def test_a_page_connects_to_its_own_host_only(host: str, sockets: str) -> None:
    assert directives(host)["connect-src"] == f"'self'{sockets}"


def test_a_page_runs_streamlits_scripts_only() -> None:
    said = directives("127.0.0.1:8501")["script-src"]
    assert re.fullmatch(r"'self' blob:( 'sha256-[A-Za-z0-9+/]{43}=')+", said)
    assert directives("x")["default-src"] == "'self'"


# --- documents -----------------------------------------------------------------------------------

MANUAL = "/api/documents/press%20manual/press%20manual.pdf"
PICTURE = "/api/documents/press%20manual/pages/2.png?width=400&quote=0123&quote=4567"


def serve_documents(_: object, request: Request) -> Response:
    """A service with one document for Anna, which sends a piece of it, and the picture of a page."""
    if request.headers.get("x-ms-client-principal-id") not in (None, "anna"):
        return JSONResponse({"error": {"code": "not_found", "message": "no such document"}}, 404)
    query = f"?{request.url.query}" if request.url.query else ""
    if request.scope["raw_path"].decode() + query == PICTURE:
        return Response(b"\x89PNG", headers={"kb-marked": "1/2", "x-internal": "1"}, media_type="image/png")
    headers = {"content-security-policy": "default-src 'none'", "content-disposition": "inline", "x-internal": "1"}
    if request.headers.get("range") == "bytes=1-2" and request.headers.get("if-range") == '"1"':
        return Response(b"PD", 206, headers | {"content-range": "bytes 1-2/8"}, "application/pdf")
    status = 304 if request.headers.get("if-none-match") == '"1"' else 200
    return Response(b"" if status == 304 else b"%PDF-1.7", status, headers, "application/pdf")


@pytest.fixture
def documents() -> Iterator[TestClient]:
    with OwnModel(serve_documents) as service:
        yield TestClient(Starlette(routes=file_routes(service.url)))


def test_a_document_comes_as_the_service_has_it_with_what_protects_its_reader(documents: TestClient) -> None:
    reply = documents.get(MANUAL)
    assert (reply.status_code, reply.content, reply.headers["content-type"]) == (200, b"%PDF-1.7", "application/pdf")
    assert reply.headers["content-disposition"] == "inline"
    assert reply.headers["content-security-policy"] == "default-src 'none'"
    assert "x-internal" not in reply.headers


def test_a_piece_of_a_document_is_sent_if_a_browser_asks_for_it(documents: TestClient) -> None:
    reply = documents.get(MANUAL, headers={"range": "bytes=1-2", "if-range": '"1"'})
    assert (reply.status_code, reply.content, reply.headers["content-range"]) == (206, b"PD", "bytes 1-2/8")


def test_a_document_that_the_browser_has_is_not_sent_again(documents: TestClient) -> None:
    assert documents.get(MANUAL, headers={"if-none-match": '"1"'}).status_code == 304


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_the_picture_of_a_page_is_asked_for_with_all_sentences_to_mark(documents: TestClient, method: str) -> None:
    reply = documents.request(method, PICTURE)
    assert (reply.status_code, reply.headers["content-type"], reply.headers["kb-marked"]) == (200, "image/png", "1/2")


@pytest.mark.usefixtures("easy_auth")
def test_the_service_is_told_who_asks_for_a_document(documents: TestClient) -> None:
    assert documents.get(MANUAL, headers=ANNA).status_code == 200
    assert documents.get(MANUAL, headers={"X-MS-CLIENT-PRINCIPAL-ID": "ben"}).status_code == 404


def test_nothing_but_documents_is_reached_by_their_address(documents: TestClient) -> None:
    assert documents.get("/api/documents/%2e%2e/conversations").status_code == 404


def test_without_a_service_there_are_no_documents() -> None:
    reply = TestClient(Starlette(routes=file_routes("http://127.0.0.1:9"))).get(MANUAL)
    assert (reply.status_code, reply.json()["error"]["code"]) == (502, "service_down")


# --- the whole server ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def page_url(knowledge_base: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The real page, as a proxy of another name would reach it."""
    with Place(knowledge_base, tmp_path_factory.mktemp("place"), KB_ALLOWED_HOSTS="kb.example.com").page() as url:
        yield url


def knock(url: str, origin: str | None) -> int:
    """Open the page's WebSocket from a page of that origin; the status of the handshake."""
    try:
        with connect(f"{url.replace('http', 'ws', 1)}/_stcore/stream", origin=origin) as socket:  # type: ignore[arg-type]
            return socket.response.status_code if socket.response else 0
    except InvalidStatus as refused:
        return refused.response.status_code


@pytest.mark.slow("starts the server of the page")
def test_scripts_are_compressed_for_browsers_that_accept_it(page_url: str) -> None:
    start = httpx.get(page_url).text
    (script,) = re.findall(r'src="\./(static/js/index\.[^"]+\.js)"', start)[:1]
    plain = httpx.get(f"{page_url}/{script}", headers={"accept-encoding": "identity"})
    compressed = httpx.get(f"{page_url}/{script}", headers={"accept-encoding": "gzip"})
    assert "content-encoding" not in plain.headers
    assert compressed.headers["content-encoding"] == "gzip"
    assert "accept-encoding" in compressed.headers["vary"].lower()
    assert compressed.content == plain.content
    assert compressed.num_bytes_downloaded < 0.5 * plain.num_bytes_downloaded


@pytest.mark.parametrize("origin", ["http://evil.example", "http://127.0.0.1:9", "http://localhost:9", "null"])
def test_a_page_of_another_site_cannot_be_a_visitor(page_url: str, origin: str) -> None:
    assert knock(page_url, origin) == 403
    assert knock(page_url, page_url) == 101
    assert httpx.post(f"{page_url}/_stcore/health", headers={"origin": origin}).status_code == 403


def test_a_proxy_that_renames_the_host_may_bring_visitors_of_its_public_name(page_url: str) -> None:
    assert knock(page_url, "https://kb.example.com") == 101


def test_the_page_is_called_by_its_names_only(page_url: str) -> None:
    def status(path: str, host: str) -> int:
        return httpx.get(page_url + path, headers={"host": host}).status_code

    assert (status("/", "kb.example.com"), status("/", "evil.example"), status("/", "10.1.2.3:8501")) == (200, 400, 400)
    assert status("/_stcore/health", "10.1.2.3:8501") == 200  # how platforms probe


def test_the_picture_of_a_question_comes_for_whoever_the_service_gives_it(easy_auth: None) -> None:
    def sent(_: object, request: Request) -> Response:
        if request.headers.get("x-ms-client-principal-id") != "anna":
            return JSONResponse({"error": {"code": "unknown_conversation", "message": "no picture"}}, 404)
        is_picture = request.url.path == "/api/responses/resp_1/picture"
        kept = {"cache-control": "private, no-cache"}
        return Response(b"\x89PNG", headers=kept, media_type="image/png" if is_picture else "text/html")

    with OwnModel(sent) as service:
        page = TestClient(Starlette(routes=file_routes(service.url)))
        reply = page.get("/api/responses/resp_1/picture", headers=ANNA)
        assert (reply.content, reply.headers["content-type"]) == (b"\x89PNG", "image/png")
        assert "no-cache" in reply.headers["cache-control"]
        assert page.get("/api/responses/resp_2/picture", headers=ANNA).status_code == 404
        assert page.get("/api/responses/resp_1/picture").status_code == 404
