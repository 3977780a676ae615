"""HTTP requests with limits of time and size, without cookies, credentials, proxies or redirects."""

import json
import ssl
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import httpx

from kb_pipeline.errors import WebError

USER_AGENT = "kb-pipeline (knowledge base; looks pages up when a reader asks)"

_GZIP = 16 + zlib.MAX_WBITS  # zlib's sign for a header of gzip


REDIRECTS = frozenset({301, 302, 303, 307, 308})
Reads = Callable[[int, Mapping[str, str]], bool]
"""Says by the status and the headers of a response whether its body is wanted."""


@dataclass(frozen=True, slots=True)
class Received:
    """A whole response."""

    status: int
    headers: httpx.Headers
    body: bytes


@cache
def certificates() -> ssl.SSLContext:
    """The certificates that this machine trusts; loading them takes 50 ms."""
    return httpx.create_ssl_context()


def direct_transport(keep_alive: int = 0) -> httpx.AsyncHTTPTransport:
    """A transport that uses each connection once, so that none is shared by two host names.

    A transport for one host name may ``keep_alive`` some.
    """
    limits = httpx.Limits(max_connections=20, max_keepalive_connections=keep_alive)
    return httpx.AsyncHTTPTransport(verify=certificates(), trust_env=False, limits=limits)


async def get(
    transport: httpx.AsyncBaseTransport,
    url: httpx.URL,
    *,
    accept: str,
    seconds: float,
    most_bytes: int,
    headers: Mapping[str, str] | None = None,
    reads: Reads = lambda status, _: status not in REDIRECTS,
) -> Received:
    """Request an address once; each part of the exchange may take ``seconds``. Redirects are not followed.

    ``headers`` are sent besides our own, or instead of them.

    Raises:
        WebError: it cannot be reached, is silent for too long, or sends more than ``most_bytes``.
    """
    own = {"user-agent": USER_AGENT, "accept": accept, "accept-encoding": "gzip, identity"}
    timeout = httpx.Timeout(seconds).as_dict()
    request = httpx.Request("GET", url, headers={**own, **(headers or {})}, extensions={"timeout": timeout})
    host = url.host
    try:
        response = await transport.handle_async_request(request)
        try:
            body = await _read(response, most_bytes, host) if reads(response.status_code, response.headers) else b""
        finally:
            await response.aclose()
    except httpx.TimeoutException as exc:
        raise WebError(f"{host} was silent for {seconds:g} s (KB_WEB_SECONDS)", "timeout") from exc
    except httpx.HTTPError as exc:
        raise WebError(f"{host} cannot be reached: {type(exc).__name__}", "unreachable") from exc
    return Received(response.status_code, response.headers, body)


async def _read(response: httpx.Response, most: int, host: str) -> bytes:
    """Read a body. What it unpacks to counts, too, and is not unpacked beyond the limit."""
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("gzip", "identity", ""):
        raise WebError(f"{host} sent a page packed as {encoding[:20]!r}, which nobody asked for", "not a page")
    unpack = zlib.decompressobj(_GZIP) if encoding == "gzip" else None
    body = bytearray()
    stream = response.stream
    assert isinstance(stream, httpx.AsyncByteStream)
    async for piece in stream:
        try:
            body += unpack.decompress(piece, most + 1 - len(body)) if unpack else piece
        except zlib.error as exc:
            raise WebError(f"{host} sent what is not gzip", "not a page") from exc
        if len(body) > most:
            raise WebError(f"{host} sent more than {most:,} bytes", "too large")
    if unpack and body and not unpack.eof:
        raise WebError(f"{host} sent only a part of a packed page", "unreachable")
    return bytes(body)


async def get_json(
    transport: httpx.AsyncBaseTransport, url: str, parameters: Mapping[str, str], *, seconds: float, most_bytes: int
) -> dict[str, Any]:
    """Ask a service for a JSON object.

    Raises:
        WebError: it failed, redirects, or sent something else.
    """
    host = urlsplit(url).hostname or url
    address = httpx.URL(url, params=parameters)
    received = await get(transport, address, accept="application/json", seconds=seconds, most_bytes=most_bytes)
    if received.status != 200:
        raise WebError(f"{host} answered a search with status {received.status}", "status")
    try:
        value = json.loads(received.body)
    except (ValueError, RecursionError) as exc:
        raise WebError(f"{host} answered a search with what is no JSON", "malformed") from exc
    if not isinstance(value, dict):
        raise WebError(f"{host} answered a search with what is no JSON object", "malformed")
    return value
