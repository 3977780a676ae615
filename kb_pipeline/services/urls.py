"""Checks the addresses of services in settings, before anything is sent there."""

import re
from urllib.parse import SplitResult, urlsplit

from kb_pipeline.errors import SettingsError
from kb_pipeline.secrets import without_sign_in

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
"""Host names of this machine, as addresses have them without brackets."""
_NO_PORT = re.compile(r"(?<=[^:/]):(?!//|\d{1,5}(?:/|$))[^/]*")
_OF_AN_API = re.compile(r"/(?:openai|contentunderstanding|providers/mistral|api/projects)(?:/.*)?$")
"""Paths that the portal shows after the address of a resource: of one of its APIs, or of a project."""


def web_url(setting: str, value: str) -> str:
    """The web address in a setting, without surrounding spaces and the slash at its end.

    Raises:
        SettingsError: it is not a web address.
    """
    if _parts(value) is None:
        raise SettingsError(f"{setting} is {_shown(value)!r}; it must begin with https:// (or http://)")
    return value.strip().rstrip("/")


def base_url(setting: str, value: str) -> str:
    """The web address in a setting to which paths are added.

    Raises:
        SettingsError: it is not a web address, or something comes after its path, such as a signature.
    """
    parts = _parts(value)
    if parts is None or "@" in parts.netloc or parts.query or parts.fragment:
        raise SettingsError(
            f"{setting} is {_shown(value)!r}; it must begin with https:// (or http://) and end with a path, because "
            "paths are added to it and everybody who reads the index can read it"
        )
    return value.strip().rstrip("/")


def azure_url(setting: str, value: str) -> str:
    """The address of a resource on Azure, without the path of an API that may have been copied with it.

    Raises:
        SettingsError: it is not an address to which a key or a token may be sent.
    """
    parts = _parts(value)
    if parts is None or "@" in parts.netloc or (parts.scheme == "http" and parts.hostname not in LOOPBACK):
        raise SettingsError(
            f"{setting} is {_shown(value)!r}; it must begin with https://, because credentials are sent "
            "to such an address only"
        )
    path = _OF_AN_API.sub("", parts.path.rstrip("/"))
    return parts._replace(path=path, query="", fragment="").geturl()


def is_private(url: str) -> bool:
    """Whether nobody can listen to what is sent there: it goes by TLS, or stays on this machine."""
    parts = urlsplit(url)
    return parts.scheme == "https" or parts.hostname in LOOPBACK


def _shown(value: str) -> str:
    """The address for a message, without anything in the place of a port that is not one: it may be a password."""
    shown = without_sign_in(value)
    return shown if "[" in shown else _NO_PORT.sub("", shown)  # the colons in brackets belong to an IPv6 address


def _parts(value: str) -> SplitResult | None:
    """The parts of a web address; ``None`` if it is not one."""
    try:
        parts = urlsplit(value.strip())
        _ = parts.port  # raises ValueError if it is invalid
    except ValueError:
        return None
    is_usable = parts.scheme in ("http", "https") and parts.hostname and not re.search(r"\s", parts.netloc)
    return parts if is_usable else None
