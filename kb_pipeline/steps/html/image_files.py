"""Which staged file an image's address means; whatever the spelling, never a guess."""

import posixpath
import re
import unicodedata
from collections.abc import Mapping
from urllib.parse import unquote

from kb_pipeline.records import ImageInfo

_SCHEME = re.compile(r"(?:[a-z][a-z0-9+.-]+:|//)", re.I)
_SHOWN = 120


class ImageFiles:
    """The staged images of one article, found by the addresses its page uses."""

    def __init__(self, images: Mapping[str, ImageInfo]) -> None:
        """Index the names as they are, and by what is left when case and Unicode form are ignored."""
        self._images = images
        self._loose = {_fold(name): name for name in sorted(images, reverse=True)}

    def find(self, source: str) -> ImageInfo | str:
        """Return the image, or why it cannot be shown, in words for the article's warnings."""
        address = source.strip()
        shown = address if len(address) <= _SHOWN else address[:_SHOWN] + "..."
        if not address:
            return "image without an address"
        if address.lower().startswith("data:"):
            return f"image inside the page, not in a file: {address[:30]}..."
        if _SCHEME.match(address):
            return f"image not in the article's folder: {shown}"
        names = [posixpath.normpath(name.replace("\\", "/")) for name in _spellings(address)]
        if all(name.startswith(("../", "/")) or name == ".." for name in names):
            return f"image outside the article's folder: {shown}"
        name = self._name(names)
        if name is None:
            return f"image file missing: {shown}"
        info = self._images[name]
        return f"image file unreadable: {name}: {info.problem}" if info.problem else info

    def _name(self, names: list[str]) -> str | None:
        exact = next((name for name in names if name in self._images), None)
        return exact or next((self._loose[_fold(name)] for name in names if _fold(name) in self._loose), None)


def _spellings(address: str) -> list[str]:
    """As written, and without query, fragment and percent escapes (in UTF-8 or Latin-1)."""
    path = re.split(r"[?#]", address, maxsplit=1)[0]
    spellings = [address, unquote(address), path, unquote(path), unquote(path, "latin-1")]
    return list(dict.fromkeys(spelling for spelling in spellings if spelling))


def _fold(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
