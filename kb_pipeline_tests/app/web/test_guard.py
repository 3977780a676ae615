"""Which pages are fetched: only those of the public web, whatever names, notations and redirects are used."""

import asyncio
import gzip
from collections.abc import Callable, Mapping, Sequence

import httpx
import pytest

from app.web.guard import PageFetcher
from kb_pipeline.errors import WebError
from kb_pipeline.services.web.addresses import resolve as real_resolve
from kb_pipeline.services.web.guard import PublicTransport

PUBLIC = "93.184.215.14"
PAGE = httpx.Response(200, headers={"content-type": "text/html"}, content=b"<p>Hello</p>")
NAMES: Mapping[str, Sequence[str]] = {
    "public.example": [PUBLIC],
    "public.example.": [PUBLIC],
    "other.example": ["93.184.215.15"],
    "inside.example": ["10.0.0.7"],
    "half.example": [PUBLIC, "192.168.1.1"],
    "mapped.example": ["::ffff:127.0.0.1"],
    "nowhere.example": [],
}
Respond = Callable[[httpx.Request], httpx.Response]


class Fetching:
    """A fetcher whose connections end here; ``connected`` are the addresses that were connected to."""

    def __init__(self, respond: Respond = lambda _: PAGE, hosts: Sequence[str] = ("*",), **limits: float) -> None:
        self.connected: list[str] = []
        self.requests: list[httpx.Request] = []
        self.resolved: list[str] = []

        def record(request: httpx.Request) -> httpx.Response:
            self.connected.append(request.url.host)
            self.requests.append(request)
            return respond(request)

        async def resolve(host: str, port: int) -> Sequence[str]:
            self.resolved.append(host)
            return NAMES[host] if host in NAMES else await real_resolve(host, port)

        given = {"seconds": 5, "most_bytes": 10_000, **limits}
        transport = PublicTransport(httpx.MockTransport(record), resolve)
        self.fetcher = PageFetcher(
            hosts, seconds=given["seconds"], most_bytes=int(given["most_bytes"]), transport=transport
        )

    def fetch(self, url: str) -> tuple[str, bytes]:
        address, received = asyncio.run(self.fetcher.fetch(url))
        return address, received.body


REFUSED = [
    "http://127.0.0.1/",
    "http://localhost/",
    "http://127.1/",
    "http://2130706433/",  # 127.0.0.1 as one number
    "http://0x7f000001/",
    "http://0177.0.0.1/",
    "http://0.0.0.0/",
    "http://[::1]/",
    "http://[::]/",
    "http://169.254.169.254/latest/meta-data/",
    "http://[fe80::1]/",
    "http://10.1.2.3/",
    "http://172.16.0.1/",
    "http://192.168.0.1/",
    "http://[fd00::1]/",
    "http://100.64.0.1/",  # carrier-grade NAT
    "http://100.100.100.200/",  # metadata of another cloud
    "http://168.63.129.16/metadata",  # Azure's host
    "http://2822734096/",
    "http://0250.077.0201.020/",
    "http://0xA83F8110/",
    "http://168.63.129.16./",
    "http://[64:ff9b::a83f:8110]/",
    "http://[2002:a83f:8110::1]/",
    "http://xn--168/",
    "http://192.0.0.192/",  # Oracle's metadata
    "http://224.0.0.1/",
    "http://[ff02::1]/",
    "http://255.255.255.255/",
    "http://[::ffff:10.0.0.1]/",
    "http://[::ffff:93.184.215.14]/",
    "http://[64:ff9b::a00:1]/",  # NAT64
    "http://[2002:7f00:1::]/",  # 6to4
    "http://[2001:0:4136:e378::1]/",  # Teredo
    "http://inside.example/",
    "http://half.example/",
    "http://mapped.example/",
    "http://nowhere.example/",
    "file:///etc/passwd",
    "ftp://public.example/",
    "gopher://public.example/",
    "javascript:alert(1)",
    "//public.example/",
    "http://user:secret@public.example/",
    "http://user@public.example/",
    "http://public.example:22/",
    "http:///nothing",
    "http://[::1",
    "",
]


@pytest.mark.parametrize("url", REFUSED)
def test_an_address_that_is_not_of_the_public_web_is_refused_before_anything_is_sent(url: str) -> None:
    fetching = Fetching()
    with pytest.raises(WebError):
        fetching.fetch(url)
    assert fetching.connected == []


@pytest.mark.parametrize("url", [url for url in REFUSED if url])
def test_a_redirect_does_not_lead_there_either(url: str) -> None:
    def respond(request: httpx.Request) -> httpx.Response:
        return httpx.Response(302, headers={"location": url}) if request.url.path == "/from" else PAGE

    fetching = Fetching(respond)
    if url == "//public.example/":  # as a redirect this is an address like others
        assert fetching.fetch("https://public.example/from")[1] == b"<p>Hello</p>"
        return
    with pytest.raises(WebError):
        fetching.fetch("https://public.example/from")
    assert fetching.connected == [PUBLIC]


def test_a_name_is_resolved_once_and_that_address_connected_to_under_the_name() -> None:
    fetching = Fetching()
    fetching.fetch("https://public.example/page?q=1#part")
    (request,) = fetching.requests
    assert fetching.resolved == ["public.example"]
    assert (request.url.scheme, request.url.host, request.url.raw_path) == ("https", PUBLIC, b"/page?q=1")
    assert request.headers["host"] == "public.example"
    assert request.extensions["sni_hostname"] == "public.example"


def test_a_name_that_leads_elsewhere_the_next_time_is_never_asked_twice() -> None:
    answers = iter([[PUBLIC], ["127.0.0.1"]])
    connected: list[str] = []

    async def rebinding(_: str, __: int) -> Sequence[str]:
        return next(answers)

    def respond(request: httpx.Request) -> httpx.Response:
        connected.append(request.url.host)
        return PAGE

    fetcher = PageFetcher(
        ["*"], seconds=5, most_bytes=1000, transport=PublicTransport(httpx.MockTransport(respond), rebinding)
    )
    asyncio.run(fetcher.fetch("http://rebinding.example/"))
    assert connected == [PUBLIC]


def test_the_next_address_is_tried_where_the_first_cannot_be_reached() -> None:
    tried: list[str] = []

    async def two(_: str, __: int) -> Sequence[str]:
        return ["2606:4700::1111", PUBLIC]

    def respond(request: httpx.Request) -> httpx.Response:
        tried.append(request.url.host)
        if ":" in request.url.host:
            raise httpx.ConnectError("no route")
        return PAGE

    fetcher = PageFetcher(
        ["*"], seconds=5, most_bytes=1000, transport=PublicTransport(httpx.MockTransport(respond), two)
    )
    asyncio.run(fetcher.fetch("http://both.example/"))
    assert tried == ["2606:4700::1111", PUBLIC]


def test_five_redirects_are_followed_and_six_are_not() -> None:
    def respond(request: httpx.Request) -> httpx.Response:
        left = int(request.url.path.strip("/"))
        return httpx.Response(301, headers={"location": f"/{left - 1}"}) if left else PAGE

    assert Fetching(respond).fetch("https://public.example/5") == ("https://public.example/0", b"<p>Hello</p>")
    with pytest.raises(WebError, match="more than 5 times"):
        Fetching(respond).fetch("https://public.example/6")


def test_neither_cookies_nor_credentials_are_sent_and_the_user_agent_is_ours() -> None:
    def respond(request: httpx.Request) -> httpx.Response:
        leads = {"location": "/again", "set-cookie": "id=1"}
        return PAGE if request.url.path == "/again" else httpx.Response(302, headers=leads)

    fetching = Fetching(respond)
    fetching.fetch("https://public.example/")
    assert [set(request.headers) for request in fetching.requests] == [
        {"host", "user-agent", "accept", "accept-encoding"}
    ] * 2
    assert fetching.requests[0].headers["user-agent"].startswith("kb-pipeline ")


@pytest.mark.parametrize(
    ("hosts", "url", "allowed"),
    [
        (["public.example"], "https://public.example/", True),
        (["public.example"], "https://PUBLIC.example./", True),
        (["public.example"], "https://other.example/", False),
        (["*.example"], "https://public.example/", True),
        (["*.public.example"], "https://public.example/", False),
        (["public.example"], "https://public.example.evil.example/", False),
    ],
)
def test_only_allowed_hosts_are_fetched(hosts: list[str], url: str, allowed: bool) -> None:
    fetching = Fetching(hosts=hosts)
    if allowed:
        assert fetching.fetch(url)[1]
        return
    with pytest.raises(WebError, match="KB_WEB_HOSTS"):
        fetching.fetch(url)


def test_a_page_larger_than_the_limit_is_not_read_to_its_end() -> None:
    with pytest.raises(WebError, match="more than 10,000 bytes"):
        Fetching(lambda _: httpx.Response(200, content=b"x" * 10_001)).fetch("https://public.example/")


def test_a_page_that_unpacks_to_more_than_the_limit_is_not_unpacked() -> None:
    packed = gzip.compress(b"\0" * 100_000_000)

    def respond(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"content-encoding": "gzip"}, stream=httpx.ByteStream(packed))

    with pytest.raises(WebError, match="more than 10,000 bytes"):
        Fetching(respond).fetch("https://public.example/")


def test_a_packed_page_is_unpacked() -> None:
    def respond(_: httpx.Request) -> httpx.Response:
        packed = gzip.compress(b"<p>Hi</p>")
        return httpx.Response(200, headers={"content-encoding": "gzip"}, stream=httpx.ByteStream(packed))

    assert Fetching(respond).fetch("https://public.example/")[1] == b"<p>Hi</p>"


def test_a_part_of_a_packed_page_is_none() -> None:
    packed = gzip.compress(b"<p>Hi</p>" * 100)[:-12]

    def respond(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"content-encoding": "gzip"}, stream=httpx.ByteStream(packed))

    with pytest.raises(WebError, match="only a part"):
        Fetching(respond).fetch("https://public.example/")


@pytest.mark.parametrize("encoding", ["br", "gzip, gzip", "zstd"])
def test_a_page_packed_in_a_way_that_was_not_asked_for_is_refused(encoding: str) -> None:
    def respond(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"content-encoding": encoding}, stream=httpx.ByteStream(b"x"))

    with pytest.raises(WebError):
        Fetching(respond).fetch("https://public.example/")


@pytest.mark.parametrize("status", [204, 301, 304, 401, 404, 500])
def test_only_a_page_that_is_there_is_read(status: int) -> None:
    with pytest.raises(WebError, match=f"status {status}"):
        Fetching(lambda _: httpx.Response(status)).fetch("https://public.example/")


def test_redirects_and_pages_share_one_time_limit() -> None:
    async def slow(request: httpx.Request) -> httpx.Response:
        await asyncio.sleep(30)
        return PAGE

    async def resolve(_: str, __: int) -> Sequence[str]:
        return [PUBLIC]

    transport = PublicTransport(httpx.MockTransport(slow), resolve)
    fetcher = PageFetcher(["*"], seconds=0.05, most_bytes=1000, transport=transport)
    with pytest.raises(WebError, match="KB_WEB_SECONDS") as failed:
        asyncio.run(fetcher.fetch("https://public.example/"))
    assert failed.value.reason == "timeout"
