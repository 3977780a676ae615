"""Reduce tables to what markdown supports: a header row, and rows with the same number of one-line cells.

Also here: replacing tables that are only used for layout by their content.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from lxml import etree

from kb_pipeline.errors import UnreadableArticleError
from kb_pipeline.steps.html.dom import (
    BLOCKS,
    HEADINGS,
    Element,
    classes,
    dissolve,
    first_line,
    has_text,
    is_inside,
    replace_with_text,
    text_of,
)
from kb_pipeline.steps.html.list_numbers import numbers_of
from kb_pipeline.steps.html.placeholders import PLACEHOLDER

_BULLET = "• "
_COLUMN = " – "


def flatten_tables(main: Element) -> int:
    """Rebuild every data table for markdown, in place, and return their number."""
    count = 0
    for table in reversed(list(main.iter("table"))):
        if not is_inside(table, "table"):
            _flatten(table)
            count += 1
    return count


def unwrap_layout_tables(main: Element) -> None:
    """Replace every layout table by the blocks in its cells, in reading order, in place."""
    for table in list(main.iter("table")):
        if table.tag == "table" and is_layout(table):
            _unwrap(table)


def name_columns(main: Element) -> None:
    """Make bold text of headings that are the names of columns, in place: they head no text of the article.

    One heading alone names the table, and the section that it begins.
    """
    for table in main.iter("table"):
        headings = list(table.iterdescendants(*HEADINGS))
        if len(headings) > 1 and _name_columns(table, headings):
            for heading in headings:
                heading.tag = "strong"


def _name_columns(table: Element, headings: list[Element]) -> bool:
    first, *others = own_rows(table) or [table]
    names = [each.getparent() for each in headings]
    fill = all(
        cell is not None and cell.getparent() is first and text_of(cell) == text_of(heading)
        for cell, heading in zip(names, headings, strict=True)
    )
    values = [cell for row in others for cell in cells_of(row)]
    return fill and min(size(table)) > 1 and all(len(text_of(cell, _LONGEST_VALUE)) < _LONGEST_VALUE for cell in values)


def flatten_cell(cell: Element) -> None:
    """Make all content of a cell inline, in place; each row of a nested table becomes a line."""
    markers = {
        item: f"{number}. "
        for numbered in cell.iterdescendants("ol")
        for item, number in zip(numbered.findall("li"), numbers_of(numbered), strict=True)
    }
    for item in list(cell.iterdescendants("li")):
        line = first_line(item)
        line.text = markers.get(item, _BULLET) + (line.text or "").lstrip()
    for inner in cell.iterdescendants("td", "th"):
        if inner.getprevious() is not None:
            inner.text = _COLUMN + (inner.text or "").lstrip()
    for block in list(cell.iterdescendants()):
        if block.tag in ("td", "th"):
            block.tag = "span"
        elif block.tag in BLOCKS:
            block.addprevious(block.makeelement("br"))
            block.addnext(block.makeelement("br"))
            block.tag = "span"
    etree.strip_tags(cell, "span")
    _trim_breaks(cell)


def _trim_breaks(cell: Element) -> None:
    """Keep only single line breaks between content."""
    pending: list[Element] = []
    has_content = bool((cell.text or "").strip())
    for child in list(cell):
        if child.tag == "br":
            child.tail = (child.tail or "").lstrip()
            pending.append(child)
            if not has_content or len(pending) > 1:
                pending.pop().tag = "span"
        elif has_text(child):
            has_content, pending = True, []
        if (child.tail or "").strip():
            has_content, pending = True, []
    for line_break in pending:
        line_break.tag = "span"
    etree.strip_tags(cell, "span")


_LARGEST_SPAN = 60
"""Larger spans are mistakes and would produce a huge grid."""
_MOST_SPANNED = 50_000
"""Slots that spans may add to a grid; further spans are ignored."""
_MOST_COLUMNS = 1_000
"""html-to-markdown writes no wider table."""
_MOST_SLOTS = 1_000_000
"""Places of a grid, which a single wide row among thousands of narrow ones multiplies: 30 s of work."""
_MOST_REPEATED = 400
"""Characters that repeating a cell may add to a row; what is longer is prose, which nobody looks up by its column."""
_LONGEST_LABEL = 80
"""Characters of a cell that is repeated in however many rows below it; longer ones are, as long as they add little."""


_LONGEST_VALUE = 200
"""Characters of cells below the names of columns; longer ones are texts, which have headings."""


class Slot(NamedTuple):
    """A place in the grid; ``first`` is set for the top left slot of a cell, ``same_column`` for its first column."""

    cell: Element
    first: bool
    same_column: bool


def own_rows(table: Element) -> list[Element]:
    """Return the rows of the table itself, without those of nested tables."""
    parts = [part for part in table if part.tag in ("thead", "tbody", "tfoot", "tr")]
    return [row for part in parts for row in ([part] if part.tag == "tr" else part.iterchildren("tr"))]


def cells_of(row: Element) -> Iterator[Element]:
    """Return the cells of a row."""
    return row.iterchildren("td", "th")


def lay_out(table: Element) -> list[list[Slot | None]]:
    """Return the grid of the table: rows of equal length, None where there is no cell.

    Raises:
        UnreadableArticleError: the grid is too large.
    """
    rows = own_rows(table)
    slots: dict[tuple[int, int], Slot] = {}
    spanned = 0
    for y, row in enumerate(rows):
        x = 0
        for cell in cells_of(row):
            while (y, x) in slots:
                x += 1
            columns, height = _span(cell, "colspan"), min(_span(cell, "rowspan"), len(rows) - y)
            spanned += columns * height - 1
            if spanned > _MOST_SPANNED:
                columns = height = 1
            for below in range(height):
                for right in range(columns):
                    slots.setdefault((y + below, x + right), Slot(cell, below == right == 0, right == 0))
            x += columns
    width = max((x + 1 for _, x in slots), default=0)
    if len(rows) * width > _MOST_SLOTS:
        raise UnreadableArticleError(
            f"a table has {len(rows):,} rows and {width:,} columns, at most {_MOST_SLOTS:,} cells are read; split it"
        )
    return [[slots.get((y, x)) for x in range(width)] for y in range(len(rows))]


def size(table: Element) -> tuple[int, int]:
    """Return the numbers of rows and columns of the table's grid."""
    grid = lay_out(table)
    return len(grid), len(grid[0]) if grid else 0


def _span(cell: Element, name: str) -> int:
    digits = (cell.get(name) or "").strip()
    # int() rejects thousands of digits; the first few decide
    return max(1, min(_LARGEST_SPAN, int(digits.lstrip("0")[:9] or 0))) if digits.isascii() and digits.isdigit() else 1


def _flatten(table: Element) -> None:
    for row in own_rows(table):
        for cell in cells_of(row):
            flatten_cell(cell)
    grid = list(_filled_rows(lay_out(table)))
    if len(grid[0]) > _MOST_COLUMNS:
        raise UnreadableArticleError(
            f"a table has {len(grid[0]):,} columns, at most {_MOST_COLUMNS:,} can be written; split it"
        )
    has_header = _has_header(table)
    header: list[Slot | None] = grid[0] if has_header else [None] * len(grid[0])
    is_column = [any(slot is not None and slot.first for slot in column) for column in zip(*grid, strict=True)]
    words: dict[Element, Words] = {}
    tail = table.tail
    caption = next(table.iterchildren("caption"), None)
    rebuilt = etree.Element("table")
    _add_row(etree.SubElement(rebuilt, "thead"), "th", header, is_column, words)
    body = etree.SubElement(rebuilt, "tbody")
    for slots in grid[1:] if has_header else grid:
        _add_row(body, "td", slots, is_column, words)
    for row in own_rows(table):
        # Detach rows one by one: releasing a large detached tree takes lxml quadratic time.
        parent = row.getparent()
        if parent is not None:
            parent.remove(row)
    table.clear()
    table.tail = tail
    table.extend(list(rebuilt))
    if caption is not None and has_text(caption):
        caption.tag, caption.tail = "p", None
        table.addprevious(caption)


def _filled_rows(grid: list[list[Slot | None]]) -> Iterator[list[Slot | None]]:
    """Yield the rows that have cells; what only begins the cells of the row below, or goes on in it, is part of it."""
    for row, below in zip(grid, [*grid[1:], []], strict=True):
        if below and all(
            slot is None or (other and other.cell is slot.cell) for slot, other in zip(row, below, strict=True)
        ):
            below[:] = [slot or other for slot, other in zip(row, below, strict=True)]
        elif any(row):
            yield row


def _has_header(table: Element) -> bool:
    first_row = own_rows(table)[0]
    parent = first_row.getparent()
    if parent is not None and parent.tag == "thead":
        return True
    cells = [cell for cell in cells_of(first_row) if has_text(cell)]
    return bool(cells) and all(cell.tag == "th" or _is_bold(cell) for cell in cells)


def _is_bold(cell: Element) -> bool:
    bold = next(cell.iterdescendants("strong", "b"), None)
    return bold is not None and text_of(bold) == text_of(cell)


class Words(NamedTuple):
    """What a cell with spans repeats as plain text: in the rows below it, and in the other columns of a row."""

    below: str
    beside: str


def _add_row(
    part: Element, tag: str, slots: list[Slot | None], is_column: list[bool], words: dict[Element, Words]
) -> None:
    """Move the cells of one row; repeat a cell with spans, so that each row and each column makes sense alone.

    ``is_column`` tells for each place of the row whether a cell of the table begins there; the others are made by spans
    only, and stay empty.
    """
    row = etree.SubElement(part, "tr")
    for slot, is_in_column in zip(slots, is_column, strict=True):
        cell = etree.SubElement(row, tag)
        if slot is None:
            continue
        if slot.first:
            words[slot.cell] = _words_of(slot.cell, slots, is_column)
            cell.text = slot.cell.text
            cell.extend(list(slot.cell))
        elif slot.same_column:
            cell.text = words[slot.cell].below
        elif is_in_column:
            cell.text = words[slot.cell].beside


def _text_of_lines(cell: Element) -> str:
    """Return the cell's text with a space between its lines."""
    for line_break in cell.iter("br"):
        line_break.text = " "
    text = text_of(cell)
    for line_break in cell.iter("br"):
        line_break.text = None
    return text


def _words_of(cell: Element, slots: list[Slot | None], is_column: list[bool]) -> Words:
    """Return what the cell repeats; ``slots`` is its first row.

    A cell over all columns is a heading of the rows below it or a note, and stands once. Placeholders of images and
    code are not repeated.
    """
    if _span(cell, "rowspan") == 1 == _span(cell, "colspan"):
        return Words("", "")  # nothing repeats it
    text = _text_of_lines(cell)
    if PLACEHOLDER.search(text):
        return Words("", "")
    is_covered = [
        slot is not None and slot.cell is cell for slot, is_one in zip(slots, is_column, strict=True) if is_one
    ]
    is_too_long = len(text) * (sum(is_covered) - 1) > _MOST_REPEATED
    is_prose = len(text) > _LONGEST_LABEL and len(text) * (_span(cell, "rowspan") - 1) > _MOST_REPEATED
    return Words("" if is_prose else text, "" if all(is_covered) or is_too_long else text)


# Summaries that the DocBook stylesheets give to the layout tables they generate.
_GENERATED = re.compile(r"manufactured viewport|block quote|navigation|^(?:note|tip|warning|caution|important)$", re.I)
_LAYOUT_ROLES = frozenset({"presentation", "none"})


def is_layout(table: Element) -> bool:
    """Return whether the table holds no data: it says so, contains headings, or has a single row or column."""
    if table.get("role") in _LAYOUT_ROLES or _GENERATED.search(table.get("summary") or ""):
        return True
    if next(table.iterdescendants(*HEADINGS), None) is not None:
        return True
    rows, columns = size(table)
    return rows < 2 or columns < 2


def _unwrap(table: Element) -> None:
    for row in own_rows(table):
        for cell in list(row):
            if not {"linenos", "gutter", "lineno"}.isdisjoint(classes(cell)):
                replace_with_text(cell, "")
            cell.tag = "div"
        row.tag = "div"
    for part in table.iterchildren():
        dissolve(part)
    dissolve(table)
