"""Words become HTML inside of a block: spaces, hyphens at the ends of lines, emphasis, code, links, raised numbers."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from html import escape
from itertools import groupby

from kb_pipeline.steps.pdf.dictionary import Dictionary
from kb_pipeline.steps.pdf.lines import Line
from kb_pipeline.steps.pdf.model import PdfLink, Style, Word

LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st", "\xad": None})
_LAST_LETTERS = re.compile(r"[^\W\d_]+$")
_FIRST_LETTERS = re.compile(r"[^\W\d_]+")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_BROKEN_WORD = re.compile(r"[^\W\d_]+(?:[-\u2010]\s*\n|[\x02\ufffe]\s*)[^\W\d_]+")
_TAIL = re.compile(r"[.,;:!?)\]”’»\"']+$")
_NOT_IN_HTML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff]")
_PAGE = frozenset({"page"})
_TAGS = {"b": "strong", "i": "em", "code": "code", "sup": "sup", "sub": "sub"}
_SCRIPTS = frozenset(("sup", "sub"))
_BEHIND_LINK = 0.12
"""How far a word reaches beyond its link, in sizes of its font, from which its last signs stand behind the link."""
_RAISED_SIZE, _RAISED_BY = 0.85, 0.15
"""A raised word is smaller than this share of its line's size, and stands so much of that size above its ground."""

Piece = tuple[str, frozenset[str], str]
"""Text, its marks (b, i, code, sup, sub) and the address it leads to."""


def clean(text: str) -> str:
    """Ligatures as letters, without soft hyphens and control characters."""
    if text.isascii() and text.isprintable():
        return text
    return _NOT_IN_HTML.sub("", text.translate(LIGATURES))


def words_of(text: str) -> set[str]:
    """The words of the text of a page in lower case, with their hyphens, without the halves of broken ones."""
    whole = _BROKEN_WORD.sub(" ", text).replace("\u2010", "-")
    return set(map(str.lower, _WORD.findall(whole)))


def joins(before: str, after: str, words: Collection[str], dictionary: Dictionary) -> bool:
    """Whether the hyphen between two lines goes: the joined word is known, or its parts are none of their own.

    ``words`` are those of the document, which tell it best.
    """
    head, tail = _LAST_LETTERS.search(before[:-1]), _FIRST_LETTERS.match(after)
    if not head or not tail or not tail[0][0].islower():
        return False
    left, right = head[0].lower(), tail[0].lower()
    if left + right in words:
        return True
    if f"{left}-{right}" in words:
        return False
    if left in words and right in words and len(left) > 2 and len(right) > 2:
        return False
    return not dictionary.has_parts_only(left, right)


class PageMarks:
    """The elements that mark the pages, each given out once: where the first words of a page are written."""

    def __init__(self, pages: Sequence[tuple[int, str]], element: Callable[[int, str], str]) -> None:
        self._pages = pages
        self._element = element
        self._next = 0

    def up_to(self, page: int) -> str:
        """The marks of all pages up to this one that have none yet."""
        marks = ""
        while self._next < len(self._pages) and self._pages[self._next][0] <= page:
            marks += self._element(*self._pages[self._next])
            self._next += 1
        return marks

    def rest(self) -> str:
        """The marks of the pages that nothing was written of."""
        return self.up_to(self._pages[-1][0]) if self._pages else ""


class Inline:
    """Writes the words of lines; ``words`` are those of the document, in lower case."""

    def __init__(self, words: Collection[str], fixed_fonts: Collection[str], marks: PageMarks) -> None:
        self._words = words
        self._dictionary = Dictionary(words)
        self._fixed_fonts = fixed_fonts
        self._marks_of_pages = marks
        self._by_style: dict[int, frozenset[str]] = {}
        self._styles: list[Style] = []  # kept, so that their identities are

    def html(self, lines: Sequence[Line], links: Sequence[PdfLink], skip: int = 0, plain: bool = False) -> str:
        """The lines as one text, without their first ``skip`` words; ``plain`` leaves out emphasis over all of it."""
        everywhere: frozenset[str] = frozenset()
        if plain:
            every = [marks for line in lines for word in line.words if "code" not in (marks := self._marks(word))]
            everywhere = frozenset.intersection(*every) if every else everywhere
        links = [link for link in links if link.uri]
        pieces: list[Piece] = []
        for number, line in enumerate(lines):
            for index, word in enumerate(line.words[skip if number == 0 else 0 :]):
                page = self._marks_of_pages.up_to(line.page) if index == 0 else ""
                self._add(pieces, word, line, links, everywhere, page, at_start=index == 0 and number > 0)
        return "".join(_written(pieces))

    def _add(
        self,
        pieces: list[Piece],
        word: Word,
        line: Line,
        links: Sequence[PdfLink],
        everywhere: frozenset[str],
        page: str,
        at_start: bool,
    ) -> None:
        marks = self._marks(word)
        if everywhere:
            marks -= everywhere
        if word.script and not at_start:
            marks |= {word.script}
        link = next((link for link in links if link.box.holds(*word.box.middle)), None) if links else None
        uri = link.target if link else ""
        text = clean(word.text)
        if link and word.box.right > link.box.right + _BEHIND_LINK * word.style.size and (tail := _TAIL.search(text)):
            # the sign behind a linked word is no part of the link
            rest = word._replace(text=tail[0], glued=True, box=word.box._replace(left=link.box.right + 1))
            word, text = word._replace(text=text[: tail.start()], box=link.box), text[: tail.start()]
            if text:
                self._add(pieces, word, line, links, everywhere, page, at_start)
                self._add(pieces, rest, line, links, everywhere, "", at_start=False)
                return
            word, text, uri = rest._replace(glued=word.glued), tail[0], ""
        page_piece = [(page, _PAGE, uri)] if page else []
        if not pieces:
            pieces.extend([*page_piece, (text, marks, uri)])
            return
        before, before_marks, before_uri = pieces[-1]
        if at_start and before.endswith(("-", "\u2010")) and len(before) > 1 and "code" not in marks:
            if joins(before, text, self._words, self._dictionary):
                pieces[-1] = (before[:-1], before_marks, before_uri)
            pieces.extend([*page_piece, (text, marks, uri)])
            return
        space = "" if (word.glued and not at_start) or (at_start and _without_spaces(before, text)) else " "
        if space:
            if marks == before_marks and uri == before_uri and before_marks is not _PAGE and not page:
                pieces[-1] = (f"{before} {text}", marks, uri)
                return
            pieces.append((space, (marks & before_marks) - _SCRIPTS, uri if uri == before_uri else ""))
        pieces.extend([*page_piece, (text, marks, uri)])

    def _marks(self, word: Word) -> frozenset[str]:
        style = word.style
        marks = self._by_style.get(id(style))
        if marks is None:
            if style.fixed_pitch or style.font in self._fixed_fonts:
                marks = frozenset({"code"})
            else:
                marks = frozenset("b" * style.bold + "i" * style.italic)
            self._by_style[id(style)] = marks
            self._styles.append(style)
        return marks


def is_raised(word: Word, line: Line) -> bool:
    """Whether a word is smaller than its line and stands above its ground."""
    return word.style.size < _RAISED_SIZE * line.size and word.baseline < line.baseline - _RAISED_BY * line.size


def _without_spaces(before: str, after: str) -> bool:
    """Whether a script without spaces goes on over the end of a line."""
    return bool(before and after) and _is_ideograph(before[-1]) and _is_ideograph(after[0])


def _is_ideograph(letter: str) -> bool:
    return "\u2e80" <= letter <= "\u9fff" or "\uf900" <= letter <= "\ufaff" or "\uff00" <= letter <= "\uffef"


def _written(pieces: Sequence[Piece]) -> Iterator[str]:
    for uri, linked in groupby(pieces, key=lambda piece: piece[2]):
        inner = []
        for marks, run in groupby(linked, key=lambda piece: piece[1]):
            text = "".join(piece[0] for piece in run)
            if marks is _PAGE:
                inner.append(text)
                continue
            text = escape(text, quote=False)
            if not text.strip():
                inner.append(text)
                continue
            for mark in sorted(marks, reverse=True):
                text = f"<{_TAGS[mark]}>{text}</{_TAGS[mark]}>"
            inner.append(text)
        content = "".join(inner)
        yield f'<a href="{escape(uri)}">{content}</a>' if uri and content.strip() else content
