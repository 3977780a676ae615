"""What a PDF manual says by itself: its words, its rows, the headings that its outline names, and how they are set.

All of it is read by PDFium's text alone, in the same way for every reader that is measured.

Not words of a manual: page numbers, running heads (a line at an edge that comes back on another page, or that is an
entry of the outline on another page, but for one number at its end or beginning), and contents (three lines of a page
or more that have leaders, or that end with a number and are else a line of the manual). A row is a line that begins
with a bullet or a number, or that has two wide gaps: what stands between gaps is a cell of it. An entry of the outline
counts if its words stand on its page.
"""

import ctypes
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import unescape
from itertools import pairwise
from pathlib import Path
from unicodedata import normalize

from markdown_it import MarkdownIt
from markdown_it.token import Token
from pypdfium2 import PdfDocument, PdfTextPage, raw

from benchmarks.converters.manuals import without_number

Style = tuple[str, int]
"""Name of the font, and height of a line in points."""
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
"""A word; of Chinese, Japanese and Korean a sign, because their lines end within words."""
_LEADERS = re.compile(r"(?:\.\s*){4,}")
_HYPHEN = re.compile("[\x02\ufffe](?:\r\n)?|\u00ad")
_ITEM = re.compile(r"^(?:[•◦▪■●○‣∙–—*-]|\(?(?:\d{1,3}|[a-z])[.)])\s+(?=\S)")
_NUMBER_AT_AN_END = re.compile(
    r"^(?:\d+|[ivxlc]+)\b\s*|\s*\b(?:(?:\d+ *(?:[^\W\d]{1,3}|/) *)?\d+|[ivxlc]+)$", re.IGNORECASE
)
_LISTED = re.compile(r"[\s.]*(?:\d+|[ivxlc]+)$")
_WITHIN_A_WORD = re.compile(r"(?<=[^\W_])[-\u2010\u2011]\s*(?=[^\W_])")
_MARKUP = re.compile(
    r"<!--.*?-->|</?(?:su[bp]|br|img|[abiu]|em|strong|mark|div|span|table|thead|tbody|tr|t[dh]|p|details|summary)\b[^>]*>",
    re.DOTALL,
)
_NO_SPACE = re.compile(r"</?(?:su[bp]|[abiu]|em|strong|mark|span)\b")
_MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])
_EDGE_LINES = 2
_CONTENTS = 3
_GAP = 1.5
"""A gap between cells, in heights of a line."""


@dataclass(frozen=True)
class Line:
    """A line of a page: its text, and its cells if it is a row."""

    text: str
    cells: tuple[str, ...] = ()


@dataclass(frozen=True)
class Entry:
    """An entry of the outline: the number of its page, from 1."""

    title: str
    page: int


@dataclass(frozen=True)
class Manual:
    """A manual as PDFium tells it."""

    pages: tuple[tuple[Line, ...], ...]
    letters: tuple[str, ...]
    styles: tuple[tuple[Style, ...], ...]
    entries: tuple[Entry, ...]

    @cached_property
    def text_style(self) -> Style:
        """How most letters are set."""
        return Counter(style for page in self.styles for style in page).most_common(1)[0][0]

    @cached_property
    def standing(self) -> tuple[Entry, ...]:
        """The entries whose words stand on their pages."""
        return tuple(
            entry
            for entry in self.entries
            if (key := letters_of(without_number(entry.title))) and key in self.letters[entry.page - 1]
        )

    @cached_property
    def own_lines(self) -> tuple[tuple[Line, ...], ...]:
        """The lines of each page but for running heads, numbers of pages, and pages of contents."""
        edges = Counter(
            key for lines in self.pages for key in {_running_key(line.text) for line in _edges(lines)} if key
        )
        own: list[tuple[Line, ...]] = []
        said = {letters_of(without_number(line.text)) for lines in self.pages for line in lines}
        for number, lines in enumerate(self.pages, start=1):
            elsewhere = {letters_of(without_number(entry.title)) for entry in self.entries if entry.page != number}
            listed = {id(line) for line in lines if _is_listed(line.text, said)}
            running = {
                id(line)
                for line in _edges(lines)
                if not (key := _running_key(line.text))
                or edges[key] > 1
                or (key != line.text.strip().casefold() and letters_of(without_number(key)) in elsewhere)
            }
            gone = running | listed if len(listed) >= _CONTENTS else running
            own.append(tuple(line for line in lines if id(line) not in gone))
        return tuple(own)

    @cached_property
    def words(self) -> Counter[str]:
        """How often each word stands there."""
        return Counter(word for lines in self.own_lines for word in words_of("\n".join(line.text for line in lines)))

    @cached_property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """The cells of all rows, as letters."""
        return tuple(line.cells for lines in self.own_lines for line in lines if line.cells)

    def is_set_as_text(self, title: str) -> bool:
        """Whether these words stand nowhere but in the letters of the running text."""
        key = letters_of(title)
        starts = (
            (page, found.start())
            for page, letters in enumerate(self.letters)
            for found in re.finditer(re.escape(key), letters)
        )
        return all(self.styles[page][start] == self.text_style for page, start in starts)


@dataclass(frozen=True)
class Kept:
    """What a reader kept of a manual: words, rows and entries found of how many, and headings that are none."""

    words: tuple[int, int]
    rows: tuple[int, int]
    headings: tuple[int, int]
    false_headings: int

    @property
    def headings_f1(self) -> float:
        """F1 of the headings: false is one that no entry names and that is set as the text is."""
        found, wanted = self.headings
        return 2 * found / (found + self.false_headings + wanted)


def read_manual(file: Path) -> Manual:
    """Read what a file says by itself."""
    pages, letters, styles = [], [], []
    with PdfDocument(file) as document:
        for page in document:
            text = page.get_textpage()
            pages.append(tuple(_lines(text)))
            of_page = list(_styled_letters(text))
            letters.append("".join(letter for letter, _ in of_page))
            styles.append(tuple(style for _, style in of_page))
        entries = tuple(_entries(document))
    return Manual(tuple(pages), tuple(letters), tuple(styles), entries)


def kept_of(manual: Manual, markdown: str) -> Kept:
    """Compare what a reader wrote with the manual."""
    tokens = _MARKDOWN.parse(markdown)
    plain = "\n".join(map(_text_of, tokens))
    letters = letters_of(plain)
    words = manual.words & Counter(words_of(plain))
    rows = sum(all(cell in letters for cell in cells) for cells in manual.rows)
    headings = [_text_of(tokens[place + 1]) for place, token in enumerate(tokens) if token.type == "heading_open"]
    wanted = Counter(letters_of(without_number(entry.title)) for entry in manual.standing)
    known = {letters_of(without_number(entry.title)) for entry in manual.entries}
    keys = Counter(letters_of(without_number(heading)) for heading in headings)
    others = [heading for heading in headings if letters_of(without_number(heading)) not in known]
    false = sum(manual.is_set_as_text(heading) for heading in others if letters_of(heading))
    return Kept(
        (words.total(), manual.words.total()),
        (rows, len(manual.rows)),
        ((wanted & keys).total(), wanted.total()),
        false,
    )


def words_of(text: str) -> list[str]:
    """The words of a text, in small letters; a hyphen divides none, because it may be that of a line's end."""
    return _WORD.findall(_WITHIN_A_WORD.sub("", normalize("NFKC", text).casefold()))


def letters_of(text: str) -> str:
    """The letters and digits of a text, in small letters."""
    return "".join(sign for sign in normalize("NFKC", text).casefold() if sign.isalnum())


def _text_of(token: Token) -> str:
    """What a reader sees of a block."""
    if token.type in {"fence", "code_block"}:
        return token.content
    if token.type == "list_item_open":
        return token.info
    if token.type == "html_block":
        return unescape(_MARKUP.sub(_space, token.content))
    parts = []
    for part in token.children or ():
        if part.type == "html_inline":
            parts.append(_MARKUP.sub(_space, part.content))
        elif part.type in {"softbreak", "hardbreak"}:
            parts.append("\n")
        else:
            parts.append(part.content)
    return "".join(parts)


def _space(markup: re.Match[str]) -> str:
    return "" if _NO_SPACE.match(markup[0]) else " "


def _is_listed(line: str, said: Collection[str]) -> bool:
    """Whether it is a line of contents."""
    return bool(_LEADERS.search(line)) or (
        (found := _LISTED.search(line)) is not None and letters_of(without_number(line[: found.start()])) in said
    )


def _edges(lines: Sequence[Line]) -> Sequence[Line]:
    return lines if len(lines) <= 2 * _EDGE_LINES else (*lines[:_EDGE_LINES], *lines[-_EDGE_LINES:])


def _running_key(line: str) -> str:
    return _NUMBER_AT_AN_END.sub("", line.strip().casefold(), count=1).strip(" |-–—·.")


def _lines(text: PdfTextPage) -> Iterator[Line]:
    """The lines of a page, with the cells of rows."""
    signs = text.get_text_range()
    if len(signs) != text.count_chars():  # a sign of two code units: places cannot be told
        yield from (Line(_HYPHEN.sub("", line)) for line in signs.splitlines() if line.strip())
        return
    start = 0
    for line in signs.splitlines(keepends=True):
        shown = _HYPHEN.sub("", line)
        if shown.strip():
            cells = _cells(text, line, start)
            item = _ITEM.match(shown)
            if len(cells) < 3:
                cells = [shown[item.end() :]] if item else []
            yield Line(shown.strip(), tuple(key for cell in cells if len(key := letters_of(cell)) > 1))
        start += len(line)


def _cells(text: PdfTextPage, line: str, start: int) -> list[str]:
    boxes = [(place, text.get_charbox(start + place)) for place, sign in enumerate(line) if not sign.isspace()]
    height = max((box[3] - box[1] for _, box in boxes), default=0)
    gaps = [0, *(second for (_, left), (second, right) in pairwise(boxes) if right[0] - left[2] > _GAP * height)]
    return [_HYPHEN.sub("", line[begin:end]) for begin, end in pairwise([*gaps, len(line)])]


def _styled_letters(text: PdfTextPage) -> Iterator[tuple[str, Style]]:
    box, flags = raw.FS_RECTF(), ctypes.c_int()
    name = ctypes.create_string_buffer(128)
    for place in range(text.count_chars()):
        sign = letters_of(chr(raw.FPDFText_GetUnicode(text, place)))
        if sign:
            raw.FPDFText_GetLooseCharBox(text, place, box)
            raw.FPDFText_GetFontInfo(text, place, name, len(name), flags)
            style = (name.value.decode("latin-1"), round(box.top - box.bottom))
            yield from ((letter, style) for letter in sign)


def _entries(document: PdfDocument) -> Iterable[Entry]:
    for bookmark in document.get_toc():
        target = bookmark.get_dest()
        index = target.get_index() if target else None
        if index is not None and index < len(document) and (title := bookmark.get_title().strip()):
            yield Entry(title, index + 1)
