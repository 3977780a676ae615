"""The addresses of a site: one spelling for each, and which of them belong to a source. Pure."""

import posixpath
import re
from functools import lru_cache
from urllib.parse import quote, unquote, urljoin, urlsplit, urlunsplit

_PORTS = {"http": 80, "https": 443}
_LONGEST = 2000
"""Characters: what browsers and servers handle for sure."""
_PATH, _QUERY = "/%:@!$&'()*+,;=~", "/?%:@!$&'()*+,;=~"
_ENCODED = re.compile(r"%([0-9a-fA-F]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


def whole(address: str, base: str = "") -> str | None:
    """The one spelling of an address of the web, seen from ``base`` and without its fragment; ``None`` if it is none.

    Those with a user name or password are none: nothing is ever signed in to.
    """
    try:
        joined = urljoin(base, address.strip()).partition("#")[0]
    except ValueError:
        return None
    return _spelling(joined) if len(joined) <= _LONGEST else None  # pictures inside of a page are long


@lru_cache(20_000)  # navigation leads to the same addresses from every page
def _spelling(address: str) -> str | None:
    try:
        parts = urlsplit(address)
        port, host = parts.port, (parts.hostname or "").rstrip(".")
        if parts.scheme not in _PORTS or not host or parts.username is not None or parts.password is not None:
            return None
        host = f"[{host}]" if ":" in host else host.encode("idna").decode()
    except (ValueError, UnicodeError):
        return None
    netloc = host if port in (None, _PORTS[parts.scheme]) else f"{host}:{port}"
    path = parts.path.replace("\\", "/") or "/"
    if not path.startswith("//"):
        path = urlsplit(urljoin("http://x/", path)).path if "/." in path else path
    spelled = urlunsplit((parts.scheme, netloc, _spelled(path, _PATH), _spelled(parts.query, _QUERY), ""))
    return spelled if len(spelled) <= _LONGEST else None


def _spelled(text: str, safe: str) -> str:
    return _ENCODED.sub(_one_spelling, quote(text, safe=safe))


def _one_spelling(match: re.Match[str]) -> str:
    character = chr(int(match[1], 16))
    return character if character in _UNRESERVED else match[0].upper()


def document_name(address: str) -> str:
    """The name of the file at an address."""
    return unquote(posixpath.basename(urlsplit(address).path)).replace("/", "-").replace("\0", "")


class SiteScope:
    """What belongs to a source: all below an address, up to its last slash."""

    def __init__(self, start: str) -> None:
        parts = urlsplit(start)
        self.start, self.origin = start, f"{parts.scheme}://{parts.netloc}"
        folder, _, last = parts.path.rpartition("/")
        # https://example.org/guide is the page of a folder, which a server may answer without the slash
        is_folder = bool(last) and "." not in last and not parts.query
        self.prefix = f"{self.origin}{parts.path if is_folder else folder}/"

    def has(self, address: str) -> bool:
        """Whether a page of this address belongs to the source."""
        return address.startswith(self.prefix) or address == self.prefix[:-1]

    def is_same_site(self, address: str) -> bool:
        """Whether it has the same scheme, host and port."""
        return address.startswith(f"{self.origin}/")

    def name(self, address: str) -> str:
        """The address seen from the source, as ids and patterns name it; each address has another one."""
        if address == self.prefix[:-1]:
            return ".."
        name = address.removeprefix(self.prefix) if self.has(address) else address.removeprefix(self.origin)
        if not name or name.endswith("/"):
            return f"{name}."
        path, mark, query = name.partition("?")
        readable = unquote(path)
        is_safe = quote(readable, safe=_PATH.replace("%", "")) == path and "#" not in readable
        return f"{readable}{mark}{query}" if is_safe else name
