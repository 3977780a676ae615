"""The grid of an HTML table: which cell lies where once its spans are laid out.

Source: https://html.spec.whatwg.org/multipage/tables.html#forming-a-table
"""

from collections.abc import Iterator
from typing import NamedTuple

from kb_pipeline.steps.html.dom import Element

_LARGEST_SPAN = 60
"""A wider span is a mistake; it would make a grid out of nothing."""
_MOST_SPANNED = 50_000
"""More places than this, filled by spans alone, are not laid out."""


class Slot(NamedTuple):
    """One place of the grid. ``first`` is the place where the cell itself stands."""

    cell: Element
    first: bool
    same_column: bool


def own_rows(table: Element) -> list[Element]:
    """The rows of the table itself, not those of tables in its cells."""
    parts = [part for part in table if part.tag in ("thead", "tbody", "tfoot", "tr")]
    return [row for part in parts for row in ([part] if part.tag == "tr" else part.iterchildren("tr"))]


def cells_of(row: Element) -> Iterator[Element]:
    """The row's cells."""
    return row.iterchildren("td", "th")


def lay_out(table: Element) -> list[list[Slot | None]]:
    """The table's rows, all of the same length; None where no cell reaches."""
    rows = own_rows(table)
    taken: dict[tuple[int, int], Slot] = {}
    spanned = 0
    for y, row in enumerate(rows):
        x = 0
        for cell in cells_of(row):
            while (y, x) in taken:
                x += 1
            columns, height = _span(cell, "colspan"), min(_span(cell, "rowspan"), len(rows) - y)
            spanned += columns * height - 1
            if spanned > _MOST_SPANNED:
                columns = height = 1
            for below in range(height):
                for right in range(columns):
                    taken.setdefault((y + below, x + right), Slot(cell, below == right == 0, right == 0))
            x += columns
    width = max((x + 1 for _, x in taken), default=0)
    return [[taken.get((y, x)) for x in range(width)] for y in range(len(rows))]


def size(table: Element) -> tuple[int, int]:
    """Rows and columns of the table's grid."""
    grid = lay_out(table)
    return len(grid), len(grid[0]) if grid else 0


def _span(cell: Element, name: str) -> int:
    digits = (cell.get(name) or "").strip()
    # int() refuses thousands of digits; the first few decide
    return max(1, min(_LARGEST_SPAN, int(digits.lstrip("0")[:9] or 0))) if digits.isascii() and digits.isdigit() else 1
