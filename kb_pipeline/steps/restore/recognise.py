"""Recognise image markers in a service's markdown, even with lost brackets, misread letters and broken lines.

A marker counts as read only if its name is unambiguous; otherwise its place decides (``markers``). Not here: where
markers belong.
"""

import posixpath
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote, unquote

from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from kb_pipeline.steps.html.placeholders import Placeholders
from kb_pipeline.steps.markers import image_marker

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_OTHER = re.compile(r"[^A-Za-z0-9.]+")
_LONGEST = 40
"""Characters of a name in a marker: on one printed line, so that OCR reads it whole."""
LOOK_ALIKES = str.maketrans("oil|!sbzgq", "0111158299")
"""Letters that OCR confuses with digits, after case folding."""


def aliases_of(files: Iterable[str]) -> dict[str, str]:
    """Return the name of each file in printed markers: short, ASCII, and distinct even after OCR errors."""
    aliases: dict[str, str] = {}
    looks_taken: set[str] = set()
    for number, file in enumerate(dict.fromkeys(files), start=1):
        name = posixpath.basename(file)
        alias = name if len(name) <= _LONGEST and _PLAIN.fullmatch(name) else f"{number}-{_slug(name)}"
        while looks(alias) in looks_taken:
            alias = f"{number}-{_slug(alias)}"
        looks_taken.add(looks(alias))
        aliases[file] = alias
    return aliases


def looks(name: str) -> str:
    """Return the name with everything that OCR confuses or drops made equal."""
    folded = unicodedata.normalize("NFKC", name).casefold().translate(LOOK_ALIKES)
    return "".join(filter(str.isalnum, folded))


def _slug(name: str) -> str:
    ascii_name = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    stem, ending = posixpath.splitext(_OTHER.sub("-", ascii_name))
    return f"{stem[: _LONGEST // 2].strip('-.')}{ending[:8]}".strip("-.") or "image"


_OPEN, _CLOSE = "[({<【［⟦", "])}>】］⟧"
_PART = rf"[^{re.escape(_OPEN + _CLOSE)}|\s]{{1,120}}+"
_START = re.compile(
    rf"(?:[{re.escape(_OPEN)}\\][ \t]?){{0,8}}(?<![^\W_])[Il1|!iÍí] ?[MmNn] ?[Gg6Cc9] ?\\?[:;.：]\s{{0,3}}"
)
_NAME = re.compile(rf"{_PART}(?:(?:[ \t]{{1,3}}\n?|\n)[ \t]{{0,3}}{_PART}){{0,6}}?(?=[ \t]?\\?[{re.escape(_CLOSE)}])")
_WORD = re.compile(_PART)
_END = re.compile(rf"(?:[ \t]?\\?[{re.escape(_CLOSE)}]){{0,4}}")
_BRACKET = re.compile(rf"\\?[{re.escape(_OPEN)}]")
_FIGURE = re.compile(r"<figure>\s*([^<>\n]{1,120}?)\s*</figure>", re.I)
_REFERENCE = re.compile(r"(?<!\\)!\[[^\]\n]{0,200}\]\(<?([^()<>\s]{1,200})>?\)")
_SIMILAR = 0.75
"""Likeness of a misread name: one letter of four may be another."""
_MARGIN = 0.1
"""How much more similar the best name must be than the next one."""


@dataclass(slots=True)
class Marks:
    """The markers of one article: their placeholders, and the files they stand for.

    ``files`` maps a placeholder to its file, ``unsure`` to the files it may stand for, ``written`` to the service's
    text. ``altered`` counts markers that were not written exactly; ``literal`` is set if the article itself writes
    about markers.
    """

    placeholders: Placeholders
    files: dict[str, str] = field(default_factory=dict)
    unsure: dict[str, tuple[str, ...]] = field(default_factory=dict)
    written: dict[str, str] = field(default_factory=dict)
    altered: int = 0
    literal: bool = False

    @property
    def keys(self) -> dict[str, str]:
        """Return what identifies each marker, by placeholder: its file if known, else the placeholder itself."""
        return {**{place: place for place in self.unsure}, **self.files}

    def names_of(self, place: str) -> tuple[str, ...]:
        """Return the files that the marker with this placeholder may stand for."""
        return self.unsure.get(place) or (self.files[place],)

    def add(self, file: str, written: str = "") -> str:
        """Return a new placeholder for a marker of this file."""
        place = self.placeholders.add(image_marker(file))
        self.files[place] = file
        self.written[place] = written
        return place

    def add_read(self, files: Sequence[str], written: str) -> str:
        """Return a new placeholder for a marker written by the service that may stand for any of these files."""
        if len(files) == 1:
            return self.add(files[0], written)
        place = self.placeholders.add("")
        self.unsure[place] = tuple(files)
        self.written[place] = written
        return place


class Names:
    """The names by which markers may refer to an article's images."""

    def __init__(self, files: Iterable[str]) -> None:
        self._exact: dict[str, str] = {}
        files_by_look: dict[str, set[str]] = {}
        for file, alias in aliases_of(files).items():
            for name in (file, quote(file, errors="surrogatepass"), alias):
                self._exact[name] = file
                files_by_look.setdefault(looks(name), set()).add(file)
        self.files = tuple(dict.fromkeys(self._exact.values()))
        self._looks = {name: min(files) for name, files in files_by_look.items() if len(files) == 1 and name}

    def read(self, name: str) -> tuple[tuple[str, ...], bool]:
        """Return the files that a name may stand for, and whether it is written exactly."""
        if name in self._exact:
            return (self._exact[name],), True
        look = looks(unquote(name, errors="replace"))
        if look in self._looks:
            return (self._looks[look],), False
        similar = process.extract(
            look, list(self._looks), scorer=Levenshtein.normalized_similarity, score_cutoff=_SIMILAR, limit=4
        )
        scores: dict[str, float] = {}
        for other, score, _ in similar:
            scores.setdefault(self._looks[other], score)
        best = max(scores.values(), default=0.0)
        return tuple(file for file, score in scores.items() if score > best - _MARGIN), False


def figures_as_markers(markdown: str, names: Names) -> str:
    """Replace every figure that holds nothing but the name of one of the article's images by its marker."""

    def marker(figure: re.Match[str]) -> str:
        files, is_exact = names.read(_plain(figure[1]))
        return f"\n\n[[IMG:{_plain(figure[1])}]]\n\n" if files and is_exact else figure[0]

    return _FIGURE.sub(marker, markdown)


def mark_images(markdown: str, names: Names, marks: Marks) -> str:
    """Replace every marker of one of the article's images, and every image of the service, by a placeholder."""
    parts: list[str] = []
    done = 0
    for start, end, place in _recognised(markdown, names, marks):
        parts += [_mark_references(markdown[done:start], names, marks), place]
        done = end
    return "".join([*parts, _mark_references(markdown[done:], names, marks)])


def _mark_references(markdown: str, names: Names, marks: Marks) -> str:
    """Replace images in markdown: one with a name of the service's own may be any image of the article."""

    def place(image: re.Match[str]) -> str:
        files, _ = names.read(posixpath.basename(_plain(image[1])))
        candidates = files or names.files
        marks.altered += bool(candidates)
        return marks.add_read(candidates, image[0]) if candidates else image[0]

    return _REFERENCE.sub(place, markdown)


def _recognised(markdown: str, names: Names, marks: Marks) -> Iterator[tuple[int, int, str]]:
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
