"""Image markers in a service's markdown, whatever became of them: brackets lost, letters mistaken, lines broken.

A marker counts as read only if its name can be no other's; what may be several is left for its place to decide
(``markers``). Not here: where markers belong.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote, unquote

from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from kb_pipeline.steps.html.placeholders import Placeholders
from kb_pipeline.steps.markers import image_marker
from kb_pipeline.steps.restore.aliases import aliases_of, looks

_OPEN, _CLOSE = "[({<【［⟦", "])}>】］⟧"
_PART = rf"[^{re.escape(_OPEN + _CLOSE)}|\s]{{1,120}}+"
_START = re.compile(
    rf"(?:[{re.escape(_OPEN)}\\][ \t]?){{0,8}}(?<![^\W_])[Il1|!iÍí] ?[MmNn] ?[Gg6Cc9] ?\\?[:;.：]\s{{0,3}}"
)
_NAME = re.compile(rf"{_PART}(?:(?:[ \t]{{1,3}}\n?|\n)[ \t]{{0,3}}{_PART}){{0,6}}?(?=[ \t]?\\?[{re.escape(_CLOSE)}])")
_WORD = re.compile(_PART)
_END = re.compile(rf"(?:[ \t]?\\?[{re.escape(_CLOSE)}]){{0,4}}")
_BRACKET = re.compile(rf"\\?[{re.escape(_OPEN)}]")
_SIMILAR = 0.75
_MARGIN = 0.1
"""How much more similar a name must be than the next one."""


@dataclass(slots=True)
class Marks:
    """The markers of one article: their placeholders, and which file each stands for.

    ``files`` maps a placeholder to the one file it means, ``unsure`` to those it may mean, ``written`` to what the
    service wrote. ``altered`` counts those not written as they should be; ``literal`` is true where the article itself
    writes about such markers.
    """

    placeholders: Placeholders
    files: dict[str, str] = field(default_factory=dict)
    unsure: dict[str, tuple[str, ...]] = field(default_factory=dict)
    written: dict[str, str] = field(default_factory=dict)
    altered: int = 0
    literal: bool = False

    @property
    def keys(self) -> dict[str, str]:
        """What tells the markers apart, by placeholder: their file, where that is known."""
        return {**{place: place for place in self.unsure}, **self.files}

    def names_of(self, place: str) -> tuple[str, ...]:
        """The files that the marker at a placeholder may mean."""
        return self.unsure.get(place) or (self.files[place],)

    def add(self, file: str, written: str = "") -> str:
        """A placeholder for a marker of this file."""
        place = self.placeholders.add(image_marker(file))
        self.files[place] = file
        self.written[place] = written
        return place

    def add_read(self, files: Sequence[str], written: str) -> str:
        """A placeholder for a marker that the service wrote, and that may mean any of these files."""
        if len(files) == 1:
            return self.add(files[0], written)
        place = self.placeholders.add("")
        self.unsure[place] = tuple(files)
        self.written[place] = written
        return place


class Names:
    """The names an article's images may be called by in markers."""

    def __init__(self, files: Iterable[str]) -> None:
        """Know each file by its alias, its own name and its percent-encoded one."""
        self._exact: dict[str, str] = {}
        known: dict[str, set[str]] = {}
        for file, alias in aliases_of(files).items():
            for name in (file, quote(file, errors="surrogatepass"), alias):
                self._exact[name] = file
                known.setdefault(looks(name), set()).add(file)
        self._looks = {name: min(files) for name, files in known.items() if len(files) == 1 and name}

    def read(self, name: str) -> tuple[tuple[str, ...], bool]:
        """The files that a name may mean, and whether it is written exactly as it should be."""
        if name in self._exact:
            return (self._exact[name],), True
        look = looks(unquote(name, errors="replace"))
        if look in self._looks:
            return (self._looks[look],), False
        found = process.extract(
            look, list(self._looks), scorer=Levenshtein.normalized_similarity, score_cutoff=_SIMILAR, limit=4
        )
        scores: dict[str, float] = {}
        for other, score, _ in found:
            scores.setdefault(self._looks[other], score)
        best = max(scores.values(), default=0.0)
        return tuple(file for file, score in scores.items() if score > best - _MARGIN), False


def mark_images(markdown: str, names: Names, marks: Marks) -> str:
    """Put a placeholder where the text shows a marker of one of the article's images."""
    parts: list[str] = []
    done = 0
    for start, end, place in _found(markdown, names, marks):
        parts += [markdown[done:start], place]
        done = end
    return "".join([*parts, markdown[done:]])


def _found(markdown: str, names: Names, marks: Marks) -> Iterator[tuple[int, int, str]]:
    done = 0
    for start in _START.finditer(markdown):
        if start.start() < done:
            continue
        for pattern in (_NAME, _WORD):
            name = pattern.match(markdown, start.end())
            end = _END.match(markdown, name.end()) if name else None
            if not name or not end or not (_BRACKET.match(start[0]) or end[0]):
                continue
            plain = _plain(name[0])
            files, exact = names.read(plain)
            if files:
                done = end.end()
                written = markdown[start.start() : done]
                marks.altered += not (exact and written == f"[[IMG:{plain}]]")
                yield start.start(), done, marks.add_read(files, written)
                break


def _plain(name: str) -> str:
    return "".join(name.replace("\\", "").split())
