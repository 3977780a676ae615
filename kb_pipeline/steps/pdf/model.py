"""What a page of a PDF shows, as the steps of this package read it.

Everything is in points as a reader sees the page: x from its left, y from its top, after the page's own rotation.
Boxes and words are tuples, as there are a thousand of them on a page.
"""

from dataclasses import dataclass, field
from typing import NamedTuple


class Box(NamedTuple):
    """A rectangle on a page."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def height(self) -> float:
        return self.bottom - self.top

    @property
    def middle(self) -> tuple[float, float]:
        return (self.left + self.right) / 2, (self.top + self.bottom) / 2

    def holds(self, x: float, y: float, margin: float = 0) -> bool:
        return self.left - margin <= x <= self.right + margin and self.top - margin <= y <= self.bottom + margin

    def union(self, other: "Box") -> "Box":
        return Box(
            min(self.left, other.left),
            min(self.top, other.top),
            max(self.right, other.right),
            max(self.bottom, other.bottom),
        )


ARTIFACT = -2


@dataclass(frozen=True, slots=True)
class Style:
    """How words look, and where they belong: one for each text object of the page.

    ``size`` is the height of the font as it is shown. ``rotation`` is clockwise, in degrees. ``hidden`` text is seen by
    no reader: not painted (as that which a scanner lays under its picture), covered, in the colour of its ground; it is
    ``blank`` where the page shows nothing else. ``mcid`` is the id of marked content that tags refer to, -1 without
    one, and ``ARTIFACT`` if the file says that it is no content.
    """

    font: str = ""
    size: float = 10.0
    bold: bool = False
    italic: bool = False
    fixed_pitch: bool = False
    hidden: bool = False
    rotation: int = 0
    mcid: int = -1
    blank: bool = False


class Word(NamedTuple):
    """Letters without a space among them, in one style; what follows in another style without a space is ``glued``.

    The box spans the font's height, not that of the letters. ``soft_hyphen`` says that the hyphen at the end is there
    only because the line ends. ``script`` is ``sup`` or ``sub`` of a small one that stands higher or lower.
    """

    text: str
    box: Box
    baseline: float
    style: Style
    glued: bool = False
    soft_hyphen: bool = False
    script: str = ""


@dataclass(frozen=True, slots=True)
class PdfLink:
    """A place on a page that leads to an address, or to a page (counted from 1) of the same document."""

    box: Box
    uri: str = ""
    page: int = 0

    @property
    def target(self) -> str:
        """The address for readers: of a file on the author's machine its name, which may be that of another article.

        A page that is called ``index`` keeps the name of its folder, too, as that tells which one it is.
        """
        if self.uri[:5].lower() != "file:":
            return self.uri
        path, mark, place = self.uri[5:].partition("#")
        *_, folder, name = "", *path.replace("\\", "/").split("/")
        if name.startswith("index.") and folder:
            name = f"{folder}/{name}"
        return f"{name}{mark}{place}" if name else ""


@dataclass(frozen=True, slots=True)
class Drawing:
    """A line or a shape: a line has a box without much height or width, a grid one drawing for each of its lines."""

    box: Box
    filled: bool = False
    curved: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    """One page. ``words`` are in the order of PDFium's text, and ``text`` is that text, without what lies outside of
    the page.

    ``number`` counts from 1; ``label`` is what the document calls the page, "" where it does not.
    """

    number: int
    width: float
    height: float
    words: tuple[Word, ...] = ()
    links: tuple[PdfLink, ...] = ()
    drawings: tuple[Drawing, ...] = ()
    images: tuple[Box, ...] = ()
    label: str = ""
    text: str = field(default="", repr=False)
    notes: tuple[tuple[Word, ...], ...] = ()
    """Texts in boxes of their own beside others."""
    dropped_drawings: int = 0
    """How many drawings were not read because there are too many: the page shows a map, a plot or a picture."""


@dataclass(frozen=True, slots=True)
class PdfOutlineEntry:
    """One entry of the outline: ``level`` from 1, ``page`` from 1, ``top`` where the entry leads to on its page."""

    title: str
    level: int
    page: int
    top: float | None = None
