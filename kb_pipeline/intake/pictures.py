"""The pictures of one page, copied beside it: shared ones, those inside of the page, and those of a web archive."""

import base64
import binascii
import posixpath
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote, unquote_to_bytes

from kb_pipeline.intake.trees import Tree
from kb_pipeline.intake.web_archive import WebArchive
from kb_pipeline.steps.html.images import Stems

_INSIDE = re.compile(r"data:image/([a-z0-9.+-]{1,20})((?:;[^,;]*)*),", re.IGNORECASE)
_OF_PICTURES = frozenset(".png .jpg .jpeg .gif .webp .svg .bmp .tif .tiff .ico .avif".split())
"""Endings that are kept; any other becomes ``.image``, which the conversion reads by its content."""
_ENDINGS = {"jpeg": ".jpg", "svg+xml": ".svg", "x-icon": ".ico", "vnd.microsoft.icon": ".ico"}


class Pictures:
    """Gives each picture that is shown a file of its own name, and tells the page its new address."""

    def __init__(
        self,
        tree: Tree,
        find: Callable[[str], str | None],
        archive: WebArchive | None = None,
    ) -> None:
        self.files: dict[str, bytes | Path] = {}
        self.parts: dict[str, str] = {}
        self._tree, self._find, self._archive = tree, find, archive
        self._placed: dict[str, str] = {}
        self._stems = Stems()

    def place(self, address: str) -> str | None:
        """The new address of a picture; ``None`` if it is not here."""
        if inside := _INSIDE.match(address):
            ending = _ENDINGS.get(inside[1].lower(), f".{inside[1].lower()}")
            return self._place(address, f"picture{ending}", lambda: _inside(address, inside))
        if self._archive and (data := self._archive.picture(address)) is not None:
            return self._place(address, posixpath.basename(address.partition("?")[0]), lambda: data)
        name = self._find(address)
        version = self._tree.version(name) if name else None
        if name is None or version is None:
            return None
        self.parts[name] = version
        return self._place(name, name, lambda: self._tree.content(name))

    def _place(self, key: str, name: str, content: Callable[[], bytes | Path]) -> str | None:
        if key not in self._placed:
            ending = posixpath.splitext(name)[1]
            # so none has the name of the page or of its metadata
            file = self._stems.take(name) + (ending if ending.lower() in _OF_PICTURES else ".image")
            self.files[file] = content()
            self._placed[key] = file
        return quote(self._placed[key])


def _inside(address: str, head: re.Match[str]) -> bytes:
    data = unquote_to_bytes(address[head.end() :])
    if "base64" not in head[2].lower():
        return data
    try:
        return base64.b64decode(data)
    except binascii.Error:
        return b""
