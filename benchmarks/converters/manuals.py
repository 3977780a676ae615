"""How much of a long PDF a reader keeps: by PDFium's text of its pages, and by the outline that the PDF carries.

Running heads, page numbers and pages of contents are no words of a manual, whether a reader keeps them or not: lines at
the top or the bottom that come back on three pages (numbers aside), and pages of which half the lines have leaders.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from unicodedata import normalize

from markdown_it import MarkdownIt
from pypdfium2 import PdfDocument

_WORD = re.compile(r"[^\W_]+")
_NUMBERED = re.compile(
    r"^(?:(?:chapter|appendix|part)\s+)?(?:[\dIVX]{1,4}|[A-Z](?=[.\d]))(?:\.[\dA-Z]+)*[.:]?\s+(?=\S)", re.IGNORECASE
)
_NUMBER = re.compile(r"\d+|\b[ivxlc]+\b")
_LEADERS = re.compile(r"(?:\.\s*){4,}")
_HYPHEN = re.compile("[\x02\ufffe](?:\r\n)?")
_EDGE_LINES = 2
_RUNNING = 3
"""On so many pages a line at the edge is a running head."""


@dataclass(frozen=True)
class Manual:
    """What a reader ought to find. ``titles`` are those of the outline."""

    pages: int
    words: Counter[str]
    titles: tuple[str, ...]


@dataclass(frozen=True)
class Kept:
    """Counts: words and titles kept, of how many, and headings that are no entry of the outline."""

    words: tuple[int, int]
    titles: tuple[int, int]
    other_headings: int


def read_manual(file: Path) -> Manual:
    """Read what counts of a PDF file."""
    with PdfDocument(file) as document:
        texts = [_HYPHEN.sub("", page.get_textpage().get_text_bounded()) for page in document]
        titles = tuple(title for entry in document.get_toc() if (title := entry.get_title().strip()))
    return Manual(len(texts), words_of(texts), titles)


def words_of(texts: Sequence[str]) -> Counter[str]:
    """Count the words of pages, without those that are no words of the manual."""
    pages = [[line for line in text.splitlines() if line.strip()] for text in texts]
    seen = Counter(key for lines in pages for key in {_key(line) for line in _edges(lines)})
    words = Counter[str]()
    for lines in pages:
        if 2 * sum(bool(_LEADERS.search(line)) for line in lines) >= len(lines):
            continue
        running = Counter(line for line in _edges(lines) if seen[_key(line)] >= _RUNNING)
        words += _words("\n".join(lines)) - _words("\n".join(running.elements()))
    return words


def kept_of(manual: Manual, markdown: str) -> Kept:
    """Compare a reader's output with the manual."""
    kept = manual.words & _words(markdown)
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown)
    headings = [
        "".join(part.content for part in tokens[place + 1].children or () if part.type in ("text", "code_inline"))
        for place, token in enumerate(tokens)
        if token.type == "heading_open"
    ]
    found = max(_in_both(headings, manual.titles, numbered) for numbered in (True, False))
    return Kept((kept.total(), manual.words.total()), (found, len(manual.titles)), len(headings) - found)


def without_number(title: str) -> str:
    """Return a title without the number of its chapter or section."""
    return _NUMBERED.sub("", title)


def _edges(lines: list[str]) -> list[str]:
    return lines if len(lines) <= 2 * _EDGE_LINES else lines[:_EDGE_LINES] + lines[-_EDGE_LINES:]


def _key(line: str) -> str:
    return _NUMBER.sub("#", line.strip().lower())


def _words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(normalize("NFKC", text).replace("\u00ad", "").lower()))


def _in_both(headings: list[str], titles: tuple[str, ...], numbered: bool) -> int:
    """How many are in both, by their letters and digits; not ``numbered``: without the numbers before them."""

    def key(title: str) -> str:
        bare = title if numbered else without_number(title.strip())
        return "".join(sign for sign in normalize("NFKC", bare).casefold() if sign.isalnum())

    return (Counter(map(key, headings)) & Counter(map(key, titles))).total()
