"""Blocks become HTML: lists by where their lines begin, tables, code with its indentation, notes behind their text."""

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from kb_pipeline.steps.pdf.blocks import Block, Cell, Kind
from kb_pipeline.steps.pdf.inline import Inline, PageMarks, clean, is_raised
from kb_pipeline.steps.pdf.lines import Line
from kb_pipeline.steps.pdf.model import PdfLink
from kb_pipeline.steps.pdf.paragraphs import BULLETS, WRAPPED

_NEAR = 4.0
"""Points: rounding, and signs that hang out of the line."""


_LONGEST_NUMBER = 6
"""Digits of the number of an item."""


@dataclass(slots=True)
class _List:
    """A list that is open: ``left`` is where its marks or terms begin, ``text_left`` where its text does."""

    tag: str
    left: float
    text_left: float
    marker: str = ""
    inner: str = ""
    """The element that is open inside the list: li, dd, or none."""


class Writer:
    """Writes the blocks of pages that follow each other."""

    def __init__(self, inline: Inline, marks: PageMarks, links: Mapping[int, Sequence[PdfLink]]) -> None:
        self._inline = inline
        self._marks = marks
        self._links = links
        self._out: list[str] = []
        self._lists: list[_List] = []
        self._more_terms = False

    def html(self, blocks: Sequence[Block]) -> str:
        waiting = [block for block in blocks if block.kind is Kind.NOTE]
        for number, block in enumerate(blocks):
            after = blocks[number + 1] if number + 1 < len(blocks) else None
            self._more_terms = after is not None and after.kind is Kind.TERM and abs(after.left - block.left) <= _NEAR
            if block.kind is Kind.NOTE:
                # what calls for the note was not found before it
                if any(block is note for note in waiting):
                    waiting = [note for note in waiting if note is not block]
                    self._note(block)
                continue
            self._block(block)
            for note in self._called(block, waiting):
                waiting = [other for other in waiting if other is not note]
                self._note(note)
        self._close_all()
        self._out.append(self._marks.rest())
        return "".join(self._out)

    def _block(self, block: Block) -> None:
        match block.kind:
            case Kind.HEADING:
                self._close_all()
                self._before(block)
                level = min(block.level, 6)
                self._out.append(f"<h{level}>{self._text(block.lines, plain=True)}</h{level}>\n")
            case Kind.ITEM:
                self._item(block)
            case Kind.TERM:
                self._term(block)
            case Kind.CODE:
                self._fit(block.left)
                self._before(block)
                self._out.append(f"<pre><code>{self._code(block.lines)}</code></pre>\n")
            case Kind.TABLE:
                self._fit(block.left)
                self._before(block)
                self._out.append(self._table(block))
            case Kind.FIGURE:
                self._figure(block)
            case _:
                self._fit(block.left)
                self._before(block)
                self._out.append(f"<p>{self._text(block.lines)}</p>\n")

    def _before(self, block: Block) -> None:
        self._out.append(self._marks.up_to(block.page))

    def _text(self, lines: Sequence[Line], skip: int = 0, plain: bool = False) -> str:
        links = [link for page in {line.page for line in lines} for link in self._links.get(page, ())]
        return self._inline.html(lines, links, skip, plain)

    # Lists

    def _fit(self, left: float) -> None:
        """Close the lists whose text begins right of this."""
        while self._lists and left < self._lists[-1].text_left - _NEAR:
            self._close()

    def _item(self, block: Block) -> None:
        tag = "ol" if block.ordered else "ul"
        while self._lists and block.left < self._lists[-1].left - _NEAR:
            self._close()
        same = self._lists and abs(self._lists[-1].left - block.left) <= _NEAR
        if same and self._lists[-1].tag != tag:
            self._close()
            same = False
        if self._lists and not same and block.left < self._lists[-1].text_left - _NEAR:
            # right of the marks but left of the text: a longer mark of the same list, as 10. below 9.
            if self._lists[-1].tag == tag and abs(self._lists[-1].text_left - block.text_left) <= _NEAR:
                same = True
            else:
                self._close()
        if same:
            number, before = _number(block.marker), _number(self._lists[-1].marker)
            is_next = number is None or before is None or number == before + 1
            self._out.append("</li>\n<li>" if is_next else f'</li>\n<li value="{number}">')
            self._lists[-1].text_left, self._lists[-1].marker = block.text_left, block.marker
        else:
            number = _number(block.marker)
            start = f' start="{number}"' if number not in (None, 1) else ""
            self._out.append(f"<{tag}{start}>\n<li>")
            self._lists.append(_List(tag, block.left, block.text_left, block.marker, "li"))
        self._before(block)
        is_text = not block.ordered and block.marker[-1:] in (".", ")")  # it may be an initial
        skip = 1 if len(block.lines[0].words) > 1 and not is_text else 0
        if not skip and block.lines[0].text in BULLETS:
            return
        self._out.append(f"<p>{self._text(block.lines, skip)}</p>\n")

    def _term(self, block: Block) -> None:
        while self._lists and block.left < self._lists[-1].left - _NEAR:
            self._close()
        top = self._lists[-1] if self._lists else None
        if top is not None and top.tag == "dl" and abs(top.left - block.left) <= _NEAR:
            self._out.append("</dd>\n" if top.inner == "dd" else "")
            top.inner = ""
        else:
            self._fit(block.left)
            self._out.append("<dl>\n")
            self._lists.append(_List("dl", block.left, block.left + 2 * _NEAR))
        for number, line in enumerate(block.lines):
            mark = self._marks.up_to(block.page) if number == 0 else ""
            self._out.append(f"<dt>{mark}{self._text([line])}</dt>\n")
        self._lists[-1].text_left = block.left + 2 * _NEAR
        self._lists[-1].inner = "" if self._more_terms else "dd"
        self._out.append("" if self._more_terms else "<dd>")

    def _close(self) -> None:
        top = self._lists.pop()
        self._out.append(f"</{top.inner}>\n" if top.inner else "")
        self._out.append(f"</{top.tag}>\n")

    def _close_all(self) -> None:
        while self._lists:
            self._close()

    # Others

    def _code(self, lines: Sequence[Line]) -> str:
        """The lines of code with their indentation, blank lines and wide gaps, in letters of the font's width."""
        pitch = min(line.pitch for line in lines)
        lefts = _lefts(lines, pitch)
        least = _usual_distance(lines)
        parts: list[str] = []
        before: Line | None = None
        for line in lines:
            text = ""
            if before is not None and WRAPPED.match(line.text):
                parts[-1] = re.sub("␣$", " ", parts[-1])
                parts.append(escape(clean(WRAPPED.sub("", line.text)), quote=False))
                before = line
                continue
            if before is not None:
                blank = 0
                if before.page == line.page and least:
                    blank = max(0, min(2, round((line.baseline - before.baseline) / least) - 1))
                same_row = before.page == line.page and abs(line.baseline - before.baseline) < 1
                parts.append("" if same_row else "\n" * (1 + blank))
            mark = self._marks.up_to(line.page) if before is not None and before.page != line.page else ""
            for word in line.words:
                column = round((word.box.left - lefts.get(line.page, line.left)) / pitch)
                if not word.glued:
                    text += " " * max(column - len(text), 1 if text else 0)
                text += clean(word.text)
            parts.append(mark + escape(text, quote=False))
            before = line
        return "".join(parts)

    def _table(self, block: Block) -> str:
        out = ["<table>\n"]
        if block.caption:
            out.append(f"<caption>{self._text(block.caption, plain=True)}</caption>\n")
        for number, row in enumerate(block.table):
            tag = "th" if number < block.header_rows else "td"
            out.append("<tr>")
            for cell in row:
                spans = f' colspan="{cell.columns}"' * (cell.columns > 1) + f' rowspan="{cell.rows}"' * (cell.rows > 1)
                out.append(f"<{tag}{spans}>{self._cell(cell, plain=tag == 'th')}</{tag}>")
            out.append("</tr>\n")
        out.append("</table>\n")
        return "".join(out)

    def _cell(self, cell: Cell, plain: bool) -> str:
        return self._text(cell.lines, plain=plain) if cell.lines else ""

    def _figure(self, block: Block) -> None:
        figure = block.figure
        if figure is None:
            return
        self._fit(block.left)
        self._before(block)
        alt = " ".join(line.text for line in block.caption) or figure.alt
        image = f'<img src="{escape(figure.source)}" alt="{escape(clean(alt))}">'
        caption = f"<figcaption>{self._text(block.caption)}</figcaption>" if block.caption else ""
        self._out.append(f"<figure>{image}{caption}</figure>\n")

    def _note(self, block: Block) -> None:
        self._out.append(f"<p>{self._text(block.lines)}</p>\n")

    def _called(self, block: Block, waiting: Sequence[Block]) -> list[Block]:
        """The notes on the pages of this block whose mark stands raised in it."""
        marks = {
            (line.page, word.text.strip("()[]")) for line in block.lines for word in line.words if is_raised(word, line)
        }
        return [note for note in waiting if note.marker and (note.page, note.marker) in marks]


def _number(marker: str) -> int | None:
    digits = marker.strip("().")
    return int(digits) if digits.isdecimal() and len(digits) <= _LONGEST_NUMBER else None


def _lefts(lines: Sequence[Line], pitch: float) -> dict[int, float]:
    """Where code begins on each of its pages: as on its first page, if its letters stand in the same columns there."""
    own = [line for line in lines if not WRAPPED.match(line.text)] or lines
    lefts: dict[int, float] = {}
    begin = min(line.left for line in own if line.page == own[0].page)
    for line in own:
        lefts[line.page] = min(line.left, lefts.get(line.page, line.left))
    for page, left in lefts.items():
        columns = (left - begin) / pitch
        if 0 <= columns < 40 and abs(columns - round(columns)) < 0.1:
            lefts[page] = begin
    return lefts


def _usual_distance(lines: Sequence[Line]) -> float:
    distances = [
        after.baseline - before.baseline
        for before, after in itertools.pairwise(lines)
        if before.page == after.page and after.baseline - before.baseline > 1
    ]
    return min(distances, default=0.0)
