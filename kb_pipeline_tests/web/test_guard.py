"""Which requests reach a server: by the name they call it, and by the page that they come from."""

from collections.abc import Callable, Iterable

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect

from kb_pipeline.web.guard import RequestGuard, check_host, check_origin

METHODS = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"]

Serve = Callable[..., TestClient]


@pytest.fixture
def serve() -> Serve:
    """A server behind the guard, and a client that calls it ``127.0.0.1:3000``."""

    def answer(_: Request) -> PlainTextResponse:
        return PlainTextResponse("answered")

    async def talk(socket: WebSocket) -> None:
        await socket.accept()
        await socket.close()

    paths = ("/", "/health")
    routes = [*(Route(path, answer, methods=METHODS) for path in paths), WebSocketRoute("/", talk)]

    def start(bound_to: str = "127.0.0.1", allowed_hosts: Iterable[str] = (), *, json_only: bool = False) -> TestClient:
        guard = RequestGuard(
            Starlette(routes=routes),
            bound_to=bound_to,
            allowed_hosts=allowed_hosts,
            health_paths={"/health"},
            json_only=json_only,
        )
        return TestClient(guard, base_url="http://127.0.0.1:3000")

    return start


def code_of(client: TestClient, method: str = "GET", path: str = "/", **headers: str) -> str:
    """``answered``, or the code of the refusal."""
    reply = client.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    if reply.text == "answered":
        return "answered"
    return str(reply.json()["error"]["code"])


def opens(client: TestClient, **headers: str) -> bool:
    try:
        with client.websocket_connect("/", headers={"host": "127.0.0.1:3000", **headers}):
            return True
    except WebSocketDisconnect:
        return False


@pytest.mark.parametrize("host", ["127.0.0.1:3000", "127.0.0.1", "localhost:8501", "LOCALHOST.", "[::1]:3000", "[::1]"])
@pytest.mark.parametrize("bound_to", ["127.0.0.1", "::1", "0.0.0.0", "::", "10.0.0.1"])
def test_it_is_always_called_by_the_names_of_loopback(serve: Serve, bound_to: str, host: str) -> None:
    assert code_of(serve(bound_to), host=host) == "answered"


@pytest.mark.parametrize(
    "host",
    [
        *(
            "evil.example",
            "evil.example:3000",
            "127.0.0.1.evil.example",
            "localhost.evil.example",
            "evil.example#localhost",
        ),
        *(
            "localhost@evil.example",
            "evil.example:localhost",
            "10.0.0.1:3000",
            "0.0.0.0:3000",
            "[::]:3000",
            "[fe80::1]",
        ),
        *("", ".", "localhost:", "localhost:x", "localhost:999999", "local host", "2130706433", "127.1"),
    ],
)
@pytest.mark.parametrize("bound_to", ["127.0.0.1", "0.0.0.0", "::"])
def test_any_other_name_is_refused_also_where_it_listens_on_every_address(
    serve: Serve, bound_to: str, host: str
) -> None:
    client = serve(bound_to, ["kb.example.com"])
    assert code_of(client, host=host) == "unknown_host"
    assert code_of(client, "POST", host=host) == "unknown_host"
    assert not opens(client, host=host)


def test_two_names_in_one_request_are_none(serve: Serve) -> None:
    reply = serve().get("/", headers=[("host", "127.0.0.1"), ("host", "evil.example")])
    assert reply.status_code == 400


def test_the_address_that_it_listens_on_is_its_name(serve: Serve) -> None:
    assert code_of(serve("10.0.0.1"), host="10.0.0.1:3000") == "answered"
    assert code_of(serve("fd00::1"), host="[fd00::1]:3000") == "answered"


@pytest.mark.parametrize("host", ["kb.example.com", "KB.Example.com:443", "kb.example.com.", "agent:8088"])
def test_further_names_come_from_the_setting(serve: Serve, host: str) -> None:
    client = serve("0.0.0.0", ["kb.example.com", "agent"])
    assert code_of(client, host=host) == "answered"
    assert code_of(client, host=f"not-{host}") == "unknown_host"


def test_a_probe_may_read_the_health_by_address_and_nothing_else(serve: Serve) -> None:
    client = serve("0.0.0.0")
    for host in ("10.1.2.3:3000", "[fd00::1]:3000", "10.1.2.3"):
        assert code_of(client, path="/health", host=host) == "answered"
        assert client.head("/health", headers={"host": host}).status_code == 200
        assert code_of(client, path="/", host=host) == "unknown_host"
        assert code_of(client, "POST", path="/health", host=host) == "unknown_host"
    assert code_of(client, path="/health", host="evil.example") == "unknown_host"


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "PROPFIND"])
@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "http://evil.example:3000"},
        {"origin": "http://127.0.0.1"},
        {"origin": "http://127.0.0.1:8501"},
        {"origin": "http://localhost:3000"},
        {"origin": "https://127.0.0.1:443"},
        {"origin": "null"},
        {"origin": ""},
        {"origin": "http://127.0.0.1:3000@evil.example"},
        {"origin": "http://evil.example/http://127.0.0.1:3000"},
        {"origin": "chrome-extension://127.0.0.1:3000"},
        {"origin": "http://["},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
        {"sec_fetch_site": "cross-site", "origin": "http://127.0.0.1:3000"},
    ],
    ids=str,
)
def test_what_may_change_something_is_refused_from_other_pages(
    serve: Serve, method: str, headers: dict[str, str]
) -> None:
    assert code_of(serve(), method, **headers) == "cross_site"


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "http://127.0.0.1:3000"},
        {"origin": "http://127.0.0.1:3000", "sec_fetch_site": "same-origin"},
        {"sec_fetch_site": "none"},
    ],
    ids=str,
)
def test_its_own_page_and_programs_may_change_something(serve: Serve, headers: dict[str, str]) -> None:
    assert code_of(serve(), "POST", **headers) == "answered"


def test_links_from_other_sites_are_followed(serve: Serve) -> None:
    assert code_of(serve(), sec_fetch_site="cross-site") == "answered"


@pytest.mark.parametrize(
    ("allowed", "origin"),
    [
        ("kb.example.com", "https://kb.example.com"),
        ("kb.example.com", "https://kb.example.com:443"),
        ("kb.example.com:8443", "https://kb.example.com:8443"),
    ],
)
def test_a_proxy_may_rename_the_host_of_an_allowed_page(serve: Serve, allowed: str, origin: str) -> None:
    client = serve("0.0.0.0", [allowed])
    assert code_of(client, "POST", origin=origin) == "answered"
    assert opens(client, origin=origin)
    assert code_of(client, "POST", origin=f"{origin}1") == "cross_site"


def test_behind_tls_the_public_name_is_the_host(serve: Serve) -> None:
    client = serve("0.0.0.0", ["kb.example.com"])
    assert code_of(client, "POST", host="kb.example.com", origin="https://kb.example.com") == "answered"
    assert code_of(client, "POST", host="kb.example.com", origin="https://other.example.com") == "cross_site"


def test_a_websocket_of_another_page_is_not_opened(serve: Serve) -> None:
    assert opens(serve())
    assert opens(serve(), origin="http://127.0.0.1:3000")
    for origin in ("http://evil.example", "http://127.0.0.1:8501", "null"):
        assert not opens(serve(), origin=origin)


@pytest.mark.parametrize(
    "content_type",
    ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "text/plain;application/json"],
)
def test_a_server_that_takes_json_takes_nothing_else(serve: Serve, content_type: str) -> None:
    client = serve(json_only=True)
    assert code_of(client, "POST", content_type=content_type) == "not_json"
    assert code_of(client, "POST", content_type="application/json; charset=utf-8") == "answered"
    assert code_of(serve(), "POST", content_type=content_type) == "answered"


@pytest.mark.parametrize("host", ["https://kb.example.com", "kb.example.com/", "*", "*.example.com", "a b", "x:", "."])
def test_what_is_no_host_name_is_no_setting(host: str) -> None:
    with pytest.raises(ValueError, match="is not a host name; write"):
        check_host(host)


@pytest.mark.parametrize(
    ("origin", "sent"),
    [
        ("https://Portal.example.com/", "https://portal.example.com"),
        ("https://portal.example.com:443", "https://portal.example.com"),
        ("http://localhost:5173", "http://localhost:5173"),
    ],
)
def test_an_origin_is_written_as_browsers_send_it(origin: str, sent: str) -> None:
    assert check_origin(origin) == sent


@pytest.mark.parametrize(
    "origin", ["*", "null", "portal.example.com", "ftp://portal.example.com", "https://a/b", "https://"]
)
def test_what_is_no_origin_is_no_setting(origin: str) -> None:
    with pytest.raises(ValueError, match="write https://"):
        check_origin(origin)
