"""Where pages begin: the element of a source, the mark in converted markdown, the comment in ``article.md``.

The mark ``[[PAGE:12|iv]]`` is the sister of ``[[IMG:<file>]]``: number and, percent-encoded, what is printed there.
In ``article.md`` it is the comment ``<!-- page 12: iv -->``, which no reader sees. A page that begins inside of a code
block is marked before the block, with the number of its first line there: ``[[PAGE:12|iv|7]]`` and ``<!-- page 12 from
line 7: iv -->``. Marks in code, and escaped ones, are an author's words.
"""

import re
from collections.abc import Iterator, Sequence
from html import escape
from itertools import zip_longest
from typing import NamedTuple
from urllib.parse import quote, unquote

from kb_pipeline.records import Manifest, PageBreak
from kb_pipeline.steps.markers import NOT_MARKERS

PAGE_TAG = "kb-page"
"""The element that marks the beginning of a page."""
_LONGEST_LABEL = 40
"""Characters of a printed page number; the file chooses it."""

_FLAGS = re.VERBOSE | re.MULTILINE | re.ASCII
# In the cell of a table, the signs between the parts are escaped.
_MARK = r"\[\[PAGE: (?P<page>\d{1,7}) (?: \\?\| (?P<label>[\w.~/%-]*) (?: \\?\| (?P<line>\d{1,7}) )? )? \]\]"
_MARK_SCANNER = re.compile(rf"{NOT_MARKERS} | {_MARK}", _FLAGS)
_COMMENT = (
    r"<!--[ ]page[ ](?P<page>\d{1,7}) (?:[ ]from[ ]line[ ](?P<line>\d{1,7}))? (?::[ ](?P<label>[^\n<>]+?))? [ ]-->"
)
_COMMENT_SCANNER = re.compile(rf"{NOT_MARKERS} | {_COMMENT}", _FLAGS)
_CODE = re.compile(NOT_MARKERS, _FLAGS)
_NOT_IN_COMMENTS = re.compile(r"[%<>|\\`\[\]\x00-\x1f\x7f]|^-|-$|(?<=-)-")

_WORD = re.compile(r"\S")
_LINE_START = re.compile(r"[ \t>]*\Z")
_LINE_REST = re.compile(r"[ \t]*(?:\n(?:[ \t>]*(?:\n|\Z))?|\Z)")


def page_element(number: int, label: str = "") -> str:
    """Return the HTML that marks the beginning of a page.

    It is empty and stands between blocks, or inside of what goes on over the page: a paragraph, a list item, the first
    cell of a table's row, the lines of ``pre``.
    """
    return f'<{PAGE_TAG} data-number="{number}" data-label="{escape(label)}"></{PAGE_TAG}>'


class PageMark(NamedTuple):
    """A page that begins in a text: its number and label, and the position of the mark.

    ``line`` is the line of the next code block at which it begins, counted from 1; 0 if it begins at the mark.
    """

    page: int
    label: str
    line: int
    start: int
    end: int


class PagedText(NamedTuple):
    """A text without marks, and the pages that begin in it, in order."""

    text: str
    breaks: tuple[PageBreak, ...]

    def of_page(self, number: int) -> str:
        """Return the text from where a page begins to where the next one does; empty if there is no such page."""
        for one, following in zip_longest(self.breaks, self.breaks[1:]):
            if one.page == number:
                return self.text[one.offset : following.offset if following else None]
        return ""


def page_mark(number: int, label: str = "", line: int = 0) -> str:
    """Return the mark of a page; what is printed on it is shortened, and left out if it is the number."""
    shown = _shown(number, label)
    parts = [str(number), *([quote(shown)] if shown or line else []), *([str(line)] if line else [])]
    return f"[[PAGE:{'|'.join(parts)}]]"


def find_marks(markdown: str) -> list[PageMark]:
    """Return all marks of converted markdown in order, except those in code and escaped ones."""
    return list(_found(_MARK_SCANNER, "[[PAGE:", markdown))


def without_marks(markdown: str) -> str:
    """Return converted markdown as it would be if the document had no pages."""
    return split_marks(markdown).text


def split_marks(markdown: str) -> PagedText:
    """Return converted markdown without marks, and the pages that begin in it."""
    return _without(markdown, find_marks(markdown))


def marks_to_comments(markdown: str) -> str:
    """Replace the marks by comments, which never change how the rest of the markdown is read."""
    parts, start = [], 0
    for marks in _groups(markdown, find_marks(markdown)):
        begin, end = marks[0].start, marks[-1].end
        parts += [markdown[start:begin], " ".join(map(_comment, marks))]
        start = end
        before = markdown[markdown.rfind("\n", 0, begin) + 1 : begin]
        if _LINE_START.match(before) and not _LINE_REST.match(markdown, end):
            # a comment at the start of a line would make HTML of the whole line
            parts.append(f"\n{before.rstrip()}\n{before}")
            start = _after_spaces(markdown, end)
    return "".join([*parts, markdown[start:]])


def comments_to_marks(article: str) -> str:
    """Replace the comments of ``article.md`` by marks: the reverse of :func:`marks_to_comments`."""
    parts, start = [], 0
    for mark in _found(_COMMENT_SCANNER, "<!-- page ", article):
        parts += [article[start : mark.start], page_mark(mark.page, mark.label, mark.line)]
        start = mark.end
    return "".join([*parts, article[start:]])


def split_pages(article: str) -> PagedText:
    """Return the text of ``article.md`` without the comments that say where pages begin, and the pages."""
    return _without(article, list(_found(_COMMENT_SCANNER, "<!-- page ", article)))


def article_pages(article: str, manifest: Manifest) -> PagedText:
    """Return the same of the article that the manifest belongs to; without pages, it is the text as it is."""
    return split_pages(article) if manifest.pages else PagedText(article, ())


def _shown(number: int, label: str) -> str:
    shown = " ".join(label.split())[:_LONGEST_LABEL].strip()
    return "" if shown == str(number) else shown


def _comment(mark: PageMark) -> str:
    line = f" from line {mark.line}" if mark.line else ""
    label = _NOT_IN_COMMENTS.sub(lambda sign: f"%{ord(sign[0]):02X}", _shown(mark.page, mark.label))
    return f"<!-- page {mark.page}{line}{f': {label}' if label else ''} -->"


def _found(scanner: re.Pattern[str], hint: str, text: str) -> Iterator[PageMark]:
    if hint not in text:
        return
    for match in scanner.finditer(text):
        if match["page"]:
            label = unquote(match["label"] or "")
            yield PageMark(int(match["page"]), label, int(match["line"] or 0), match.start(), match.end())


def _groups(text: str, marks: Sequence[PageMark]) -> list[list[PageMark]]:
    """Return the marks, those together that have only spaces between them."""
    groups: list[list[PageMark]] = []
    for mark in marks:
        if groups and _after_spaces(text, groups[-1][-1].end) == mark.start:
            groups[-1].append(mark)
        else:
            groups.append([mark])
    return groups


def _without(text: str, marks: Sequence[PageMark]) -> PagedText:
    """Remove the marks with the lines or spaces that only they need."""
    parts: list[str] = []
    offsets: list[int] = []
    start = length = 0
    for group in _groups(text, marks):
        begin, end = _extent(text, group[0].start, group[-1].end)
        if begin > start:
            parts.append(text[start:begin])
            length += begin - start
        offsets += [length] * len(group)
        start = max(start, end)
    parts.append(text[start:])
    left = "".join(parts)
    if marks:
        left = left.rstrip("\n") + "\n" * left.endswith("\n")
    breaks = (
        PageBreak(offset=_beginning(left, offset, mark.line), page=mark.page, label=mark.label)
        for offset, mark in zip(offsets, marks, strict=True)
    )
    return PagedText(left, tuple(breaks))


def _extent(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the piece of the text that marks take: their line and the blank one after it, or they and a space."""
    line_start = text.rfind("\n", 0, start) + 1
    if _LINE_START.match(text, line_start, start):
        rest = _LINE_REST.match(text, end)
        return (line_start, rest.end()) if rest else (start, _after_spaces(text, end))
    is_spaced = text[start - 1] == " " and text[end : end + 1] in (" ", "\n", "")
    return start - is_spaced, end


def _after_spaces(text: str, position: int) -> int:
    while text[position : position + 1] == " ":
        position += 1
    return position


def _beginning(text: str, start: int, line: int) -> int:
    """Return where a page begins: at the next word, or at that ``line`` of the next code block."""
    blocks = _CODE.finditer(text, start) if line else ()
    if block := next((match for match in blocks if match["fence"]), None):
        lines = list(re.finditer("\n", block[0]))
        if line < len(lines):
            return block.start() + lines[line - 1].end()
    word = _WORD.search(text, start)
    return word.start() if word else len(text)
