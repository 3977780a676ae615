"""An ASGI middleware that checks the host name of a request, and whether it comes from a page of this server.

A browser lets the pages of any site send requests to servers on this machine and in its network, and a site can make
its own name resolve to their address (DNS rebinding). Programs send neither ``Origin`` nor ``Sec-Fetch-Site``, and are
let through. Authentication is not checked here.
"""

import json
import re
from collections.abc import Collection, Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

_LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})
_EVERY_ADDRESS = frozenset({"0.0.0.0", "::"})  # noqa: S104  (compared, not bound)
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_READING = frozenset({"GET", "HEAD"})
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::(\d{1,5}))?", re.ASCII)
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}


class RequestGuard:
    """Refuses requests for a foreign host name, and requests from foreign pages that may change something.

    Args:
        app: the application to protect.
        bound_to: the address that the server listens on, which is accepted as its name, like the names of loopback.
        allowed_hosts: its other names (``KB_ALLOWED_HOSTS``), with a port unless it is the default one. ``["*"]``
            accepts any name, for a platform that calls the server by names of its own.
        health_paths: paths that may also be read under any IP address, for the probes of platforms. A site cannot
            abuse this, because it cannot have an IP address as its name.
        foreign_origins: origins of other sites whose pages may send what changes something too.
        json_only: whether requests that may change something must be ``application/json``, which a form cannot send.
    """

    def __init__(
        self,
        app: "ASGIApp",
        *,
        bound_to: str,
        allowed_hosts: Iterable[str] = (),
        health_paths: Collection[str] = (),
        foreign_origins: Collection[str] = (),
        json_only: bool = False,
    ) -> None:
        self._app = app
        self._allowed = frozenset(host.lower() for host in allowed_hosts)
        own = set() if bound_to in _EVERY_ADDRESS else {f"[{bound_to}]" if ":" in bound_to else bound_to.lower()}
        self._names = _LOOPBACK | own | {_name(host) for host in self._allowed}
        self._health_paths = health_paths
        self._foreign_origins = frozenset(foreign_origins)
        self._json_only = json_only

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Pass the request on, or answer 400 (unknown name), 403 (foreign page) or 415 (not JSON)."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})  # before accepting: the handshake fails with 403
        else:
            await send_problem(send, *refusal)

    def _refusal(self, scope: "Scope") -> tuple[int, str, str] | None:
        """The status, code and message of a refusal; ``None`` if the request is accepted."""
        hosts = _header(scope, b"host")
        if not self._is_ours(hosts) and not self._is_probe(scope, hosts):
            advice = f"{_shown(hosts)} is not a host name of this server; to allow it, add it to KB_ALLOWED_HOSTS"
            return 400, "unknown_host", advice
        if scope["type"] == "http" and scope["method"] in _SAFE:
            return None
        if not self._is_from_our_page(scope, hosts):
            return 403, "cross_site", "a page of another site cannot ask for this"
        if scope["type"] == "http" and self._json_only and not _is_json(_header(scope, b"content-type")):
            return 415, "not_json", "send it as JSON, with the header Content-Type: application/json"
        return None

    def _is_ours(self, hosts: list[str]) -> bool:
        if len(hosts) != 1 or not _HOST.fullmatch(hosts[0]):
            return False
        return "*" in self._names or _name(hosts[0]) in self._names

    def _is_probe(self, scope: "Scope", hosts: list[str]) -> bool:
        if scope["type"] != "http" or scope["method"] not in _READING or scope["path"] not in self._health_paths:
            return False
        return not hosts or (len(hosts) == 1 and _address(_name(hosts[0])) is not None)

    def _is_from_our_page(self, scope: "Scope", hosts: list[str]) -> bool:
        """Whether no foreign page sent it. Behind a proxy that changes the host, the public name must be allowed."""
        origins = _header(scope, b"origin")
        if len(origins) == 1 and origins[0] in self._foreign_origins:
            return True
        if not set(_header(scope, b"sec-fetch-site")) <= {"same-origin", "none"}:
            return False
        return all(_is_origin_of(self._allowed.union(hosts), origin) for origin in origins)


async def send_problem(send: "Send", status: int, code: str, message: str) -> None:
    """Answer with an error, in the format of all our servers."""
    body = json.dumps({"error": {"code": code, "message": message, "type": code}}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def check_host(host: str) -> str:
    """Check a host name with or without a port, and return it in lower case.

    Raises:
        ValueError: it is not a host name.
    """
    match = _HOST.fullmatch(host.lower())
    if not match or match[1].strip(".") == "":
        raise ValueError("it contains something that is not a host name; write kb.example.com, or kb.example.com:8443")
    return host.lower()


def check_origin(origin: str) -> str:
    """Check the origin of a site, and return it as browsers send it: in lower case, without the default port.

    Raises:
        ValueError: it is not an origin.
    """
    scheme, _, host = origin.lower().rstrip("/").partition("://")
    if scheme not in _DEFAULT_PORTS or not _HOST.fullmatch(host):
        raise ValueError("it is not the origin of a site; write https://portal.example.com")
    return f"{scheme}://{host.removesuffix(_DEFAULT_PORTS[scheme])}"


def _header(scope: "Scope", name: bytes) -> list[str]:
    return [value.decode("latin-1").strip().lower() for header, value in scope["headers"] if header.lower() == name]


def _name(host: str) -> str:
    """A host without its port, and without the dot at the end of a fully qualified name."""
    match = _HOST.fullmatch(host)
    return match[1].rstrip(".") if match else host


def _address(name: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(name.strip("[]"))
    except ValueError:
        return None


def _is_origin_of(hosts: Collection[str], origin: str) -> bool:
    """Whether this is the origin of a page of one of the hosts."""
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    port = _DEFAULT_PORTS.get(parts.scheme)  # None for the origin "null" and for schemes other than http and https
    return port is not None and parts.netloc.removesuffix(port) in {host.removesuffix(port) for host in hosts}


def _is_json(content_types: list[str]) -> bool:
    return [content_type.partition(";")[0].strip() for content_type in content_types] == ["application/json"]


def _shown(hosts: list[str]) -> str:
    return repr(hosts[0]) if len(hosts) == 1 and _HOST.fullmatch(hosts[0]) else "that"
