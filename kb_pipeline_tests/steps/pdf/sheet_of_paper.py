"""Draws pages for tests: lines of words at their places, in fonts whose letters are about half as wide as high."""

from dataclasses import dataclass, field
from itertools import groupby

from kb_pipeline.steps.pdf.layout import layout_html
from kb_pipeline.steps.pdf.model import Box, Drawing, Page, PdfLink, PdfOutlineEntry, Style, Word
from kb_pipeline.steps.pdf.study import study

WIDTH, HEIGHT = 600.0, 800.0


@dataclass
class Paper:
    """A page that is written on from top to bottom; every method returns the page."""

    number: int = 1
    label: str = ""
    words: list[Word] = field(default_factory=list)
    links: list[PdfLink] = field(default_factory=list)
    drawings: list[Drawing] = field(default_factory=list)
    y: float = 100.0

    def line(self, text: str, x: float = 50, y: float | None = None, gap: float = 1.2, **style) -> "Paper":
        """Write a line below the last one, ``gap`` heights of the font lower, or at ``y``."""
        look = Style(**{"font": "Text", "size": 10.0, **style})
        self.y = y if y is not None else self.y + gap * look.size
        for word in text.split(" "):
            if word:
                self.put(word, x, self.y, look)
            x += width_of(word + " ", look)
        return self

    def put(self, text: str, x: float, y: float, style: Style, glued: bool = False) -> "Paper":
        right = x + width_of(text, style)
        box = Box(x, y - 0.75 * style.size, right, y + 0.25 * style.size)
        self.words.append(Word(text, box, y, style, glued))
        return self

    def lines(self, *texts: str, x: float = 50, **style) -> "Paper":
        """Write a paragraph: its first line stands lower than the others."""
        for number, text in enumerate(texts):
            self.line(text, x, gap=1.2 if number else 2.0, **style)
        return self

    def code(self, *texts: str, x: float = 70) -> "Paper":
        for number, text in enumerate(texts):
            self.line(text, x, gap=1.2 if number else 2.0, font="Mono", fixed_pitch=True)
        return self

    def rule(self, left: float, right: float, y: float) -> "Paper":
        self.drawings.append(Drawing(Box(left, y, right, y + 0.5)))
        return self

    def upright(self, x: float, top: float, bottom: float) -> "Paper":
        self.drawings.append(Drawing(Box(x, top, x + 0.5, bottom)))
        return self

    def page(self) -> Page:
        lines = groupby(self.words, lambda word: word.baseline)
        text = "\r\n".join(" ".join(word.text for word in line) for _, line in lines)
        drawn = tuple(self.drawings)
        return Page(self.number, WIDTH, HEIGHT, tuple(self.words), tuple(self.links), drawn, (), self.label, text)


def width_of(text: str, style: Style) -> float:
    """The width of letters: narrow and wide ones differ unless the font is of fixed pitch."""
    if style.fixed_pitch:
        return len(text) * style.size / 2
    return sum(0.3 if letter in "iljft.,' " else 0.8 if letter in "mwMW" else 0.5 for letter in text) * style.size


WIDE = "These words of a line fill the whole width of the page, as far as its margin goes right"
"""A line that leaves no room for another word."""


def html_of(*papers: Paper, outline: tuple[PdfOutlineEntry, ...] = (), marks: bool = False) -> str:
    """The HTML of a document of these pages, with ``|n|`` where a page begins if ``marks``."""
    pages = [paper.page() for paper in papers]
    known = study(pages, outline)
    html = layout_html(known, [page.number for page in pages], lambda number, label: f"|{number}|" if marks else "")
    return html.replace("\n", "") if "<pre>" not in html else html
