"""Names for images that survive being printed and read again, and how such names are read when damaged.

A percent-encoded path can be long, break over lines and hide in ``%E3%83``; two files may differ by what a reader
confuses (``step-1``, ``step-l``). A name in a printed marker is the file's own where that is safe, else made so.
"""

import posixpath
import re
import unicodedata
from collections.abc import Iterable

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_OTHER = re.compile(r"[^A-Za-z0-9.]+")
_LONGEST = 40
LOOK_ALIKES = str.maketrans("oil|!sbzgq", "0111158299")
"""Letters that recognition takes for digits, after case folding."""


def aliases_of(files: Iterable[str]) -> dict[str, str]:
    """The name of each file in printed markers: short, ASCII, and no two alike even to a poor reader."""
    aliases: dict[str, str] = {}
    taken: set[str] = set()
    for number, file in enumerate(dict.fromkeys(files), start=1):
        name = posixpath.basename(file)
        alias = name if len(name) <= _LONGEST and _PLAIN.fullmatch(name) else f"{number}-{_slug(name)}"
        while looks(alias) in taken:
            alias = f"{number}-{_slug(alias)}"
        taken.add(looks(alias))
        aliases[file] = alias
    return aliases


def looks(name: str) -> str:
    """What is left of a name when all that recognition confuses or drops is made equal."""
    folded = unicodedata.normalize("NFKC", name).casefold().translate(LOOK_ALIKES)
    return "".join(filter(str.isalnum, folded))


def _slug(name: str) -> str:
    ascii_name = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    stem, ending = posixpath.splitext(_OTHER.sub("-", ascii_name))
    return f"{stem[: _LONGEST // 2].strip('-.')}{ending[:8]}".strip("-.") or "image"
