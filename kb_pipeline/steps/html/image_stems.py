"""The names images are served under: ``images/<stem>.png``."""

import posixpath
import re
import unicodedata

# What no file system or markdown link takes: https://learn.microsoft.com/windows/win32/fileio/naming-a-file
_UNSAFE = re.compile(r"[\x00-\x1f\x7f<>:\"/\\|?*\[\]`\ud800-\udfff]+")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.I)
_LONGEST = 100


class Stems:
    """Gives every image file of an article a stem of its own, whatever the case of the file system."""

    def __init__(self) -> None:
        """Start without any."""
        self._taken: set[str] = set()

    def take(self, file: str) -> str:
        """A safe stem close to the file's name; ``-2``, ``-3`` ... where it is taken."""
        wanted = safe_stem(file)
        stem, number = wanted, 1
        while stem.casefold() in self._taken:
            number += 1
            stem = f"{wanted}-{number}"
        self._taken.add(stem.casefold())
        return stem


def safe_stem(file: str) -> str:
    """The file's name without folder and ending, in characters every file system takes."""
    name = posixpath.splitext(posixpath.basename(unicodedata.normalize("NFC", file)))[0]
    name = " ".join(_UNSAFE.sub("-", name).split())[:_LONGEST].strip(" .")
    return f"{name}-image" if _RESERVED.fullmatch(name) else name or "image"
