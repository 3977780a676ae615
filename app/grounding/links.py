"""Where an answer may lead its reader: to addresses that the passages themselves name, and nowhere else.

A model can be talked into anything by what it reads; an address that no passage holds is not from the articles.
"""

import re
from collections.abc import Iterable, Iterator
from html import unescape

from app.schema import Citation

TRAILING = "?!.,:;*_~'\""
"""Punctuation that ends a sentence rather than an address, as in GitHub's extended autolinks."""

_ADDRESS = re.compile(r"(?:https?://|www\.)[^\s<>\"`|\\^{}\[\]]+", re.IGNORECASE)
_MAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_PARTS = re.compile(r"(https?)://([^/?#\\]+)([^#\\]*)(?:#.*)?", re.IGNORECASE | re.DOTALL)


class Links:
    """The addresses of some passages: in their text, and where they are from."""

    def __init__(self, citations: Iterable[Citation]) -> None:
        """Read the addresses of these passages."""
        self._allowed: set[str] = set()
        for citation in citations:
            plain = _ESCAPE.sub(r"\1", citation.passage)
            for text in {citation.passage, plain, unescape(plain), citation.source_url or ""}:
                self._allowed.update(_addresses(text))

    def allows(self, target: str) -> bool:
        """Whether a link may lead there. The fragment does not matter: it never leaves the reader's browser."""
        if target[:7].lower() == "mailto:":
            return target[7:].lower() in self._allowed
        if target[:4].lower() == "www.":
            return self.allows(f"https://{target}") or self.allows(f"http://{target}")
        return _key(target) in self._allowed


def trimmed(address: str) -> str:
    """A bare address without what only stands behind it: closing brackets that it did not open, punctuation."""
    depth = 0
    for at, char in enumerate(address):
        depth += (char == "(") - (char == ")")
        if depth < 0:
            return trimmed(address[:at])
    return address.rstrip(TRAILING)


def _addresses(text: str) -> Iterator[str]:
    for found in _ADDRESS.finditer(text):
        address = trimmed(found[0])
        yield _key(address if "://" in address[:8] else f"https://{address}") or ""
    yield from (found[0].lower() for found in _MAIL.finditer(text))


def _key(address: str) -> str | None:
    """What two spellings of one address have in common."""
    parts = _PARTS.fullmatch(address)
    return f"{parts[1].lower()}://{parts[2].lower()}{parts[3].rstrip('/')}" if parts else None
