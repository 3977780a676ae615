"""Addresses of services as people copy them into settings: checked before anything is sent there."""

import re
from urllib.parse import SplitResult, urlsplit

from kb_pipeline.errors import SettingsError
from kb_pipeline.steps.secrets import without_credentials

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_NO_PORT = re.compile(r"(?<=[^:/]):(?!//|\d{1,5}(?:/|$))[^/]*")
_OF_AN_API = re.compile(r"/(?:openai|contentunderstanding|providers/mistral|api/projects)(?:/.*)?$")
"""What the portal shows behind the address of a resource: the path of one of its APIs, or of a project."""


def web_url(setting: str, given: str) -> str:
    """The web address in a setting, without what may stand around it.

    Raises:
        SettingsError: it is no web address.
    """
    if _parts(given) is None:
        raise SettingsError(f"{setting} is {_shown(given)!r}; it must begin with https:// (or http://)")
    return given.strip().rstrip("/")


def azure_url(setting: str, given: str) -> str:
    """The address of a resource on Azure, also of one that was copied with the path of an API.

    Raises:
        SettingsError: it is none to which a key or a token may be sent.
    """
    parts = _parts(given)
    if parts is None or "@" in parts.netloc or (parts.scheme == "http" and parts.hostname not in _LOOPBACK):
        raise SettingsError(
            f"{setting} is {_shown(given)!r}; it must begin with https://, because credentials are sent "
            "to such an address only"
        )
    path = _OF_AN_API.sub("", parts.path.rstrip("/"))
    return parts._replace(path=path, query="", fragment="").geturl()


def _shown(given: str) -> str:
    """The address as a message may repeat it: what stands where a port belongs may be a password."""
    shown = without_credentials(given)
    return shown if "[" in shown else _NO_PORT.sub("", shown)  # colons between brackets are of the host


def _parts(given: str) -> SplitResult | None:
    """The parts of a web address; ``None`` if it is none."""
    try:
        parts = urlsplit(given.strip())
        _ = parts.port  # raises if it is none
    except ValueError:
        return None
    is_usable = parts.scheme in ("http", "https") and parts.hostname and not re.search(r"\s", parts.netloc)
    return parts if is_usable else None
