"""Find the staged images of an article by the addresses that its page uses."""

import posixpath
import re
import unicodedata
from collections.abc import Mapping
from urllib.parse import unquote

from kb_pipeline.records import ImageInfo, ImageProblem

_SCHEME = re.compile(r"(?:[a-z][a-z0-9+.-]+:|//)", re.I)
_SHOWN = 120
"""Characters of an address in a message; images inside of a page have megabytes."""


class ImageFiles:
    """Finds the staged images of one article by the addresses used on its page."""

    def __init__(self, images: Mapping[str, ImageInfo]) -> None:
        self._images = images
        # by the name without its case and Unicode form
        self._loose = {_fold(name): name for name in sorted(images, reverse=True)}

    def find(self, source: str) -> ImageInfo | ImageProblem:
        """Return the image, or why it cannot be shown; ``file`` is "" if it does not belong in the folder."""
        address = source.strip()
        shown = address if len(address) <= _SHOWN else address[:_SHOWN] + "..."
        if not address:
            return ImageProblem(file="", problem="image without an address")
        if address.lower().startswith("data:"):
            return ImageProblem(file="", problem=f"image inside the page, not in a file: {address[:30]}...")
        if _SCHEME.match(address):
            return ImageProblem(file="", problem=f"image not in the article's folder: {shown}")
        # As written, and without query, fragment and percent escapes (in UTF-8 or Latin-1).
        path = re.split(r"[?#]", address, maxsplit=1)[0]
        spellings = dict.fromkeys([address, unquote(address), path, unquote(path), unquote(path, "latin-1")])
        names = [posixpath.normpath(spelling.replace("\\", "/")) for spelling in spellings if spelling]
        if all(name.startswith(("../", "/")) or name == ".." for name in names):
            return ImageProblem(file="", problem=f"image outside the article's folder: {shown}")
        name = self._name(names)
        if name is None:
            return ImageProblem(file=shown, problem=f"image file missing: {shown}")
        info = self._images[name]
        if info.problem:
            return ImageProblem(file=name, problem=f"image file unreadable: {name}: {info.problem}")
        return info

    def size_of(self, name: str) -> tuple[int, int]:
        """Return width and height in pixels as the file's header says, (0, 0) if it does not."""
        info = self._images.get(name)
        return (info.width, info.height) if info else (0, 0)

    def _name(self, names: list[str]) -> str | None:
        exact = next((name for name in names if name in self._images), None)
        return exact or next((self._loose[_fold(name)] for name in names if _fold(name) in self._loose), None)


def _fold(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
