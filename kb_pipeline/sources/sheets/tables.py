"""Writes the rows of a sheet as HTML: what stands in one column is text, the rest are tables with one header each.

A sheet does not say where its tables begin. Here a table goes on until a blank row; below that it goes on if its rows
look like those before. Its header is the first row, if that has only texts, dates and years, else the letters of the
columns. The header is repeated on each page of the sheet, and by the chunker for each part that it cuts.
"""

import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import pairwise, takewhile

from kb_pipeline.sources.sheets.sheet import Row, Value, letters_of

_LONGEST_HEADER = 300
"""Characters of a header above a table: more of them than half a passage, for which the chunker would repeat none. The
rows of such tables are written as items instead, each value with the name of its column."""
_MOST_HEADER_ROWS = 3
"""Rows of a header: merged titles above the names of columns."""
_MOST_NOTES = 12
"""Rows at the top of a table, at most, above its header."""
_YEARS = range(1900, 2101)
"""Whole numbers that can name a column; any other number is a value."""

Header = Mapping[int, str]
"""The names of a table's columns."""


class SheetWriter:
    """Writes one sheet, page by page: a table may go on over pages."""

    def __init__(self) -> None:
        self._header: Header = {}
        self._last: Row | None = None
        """The last row of the table whose header that is."""

    def write(self, rows: Sequence[Row]) -> str:
        """Write the rows of one page."""
        return "".join(part for block in _blocks(rows) for part in self._block(block))

    def _block(self, rows: list[Row]) -> Iterator[str]:
        if self._last and not rows[0].after_blank:
            yield self._table(rows)  # it goes on from the page before
            return
        titles = _titles(rows)
        titles += _notes_above(rows[titles:])
        yield from map(_line, rows[:titles])
        rest = rows[titles:]
        if titles and not (rest and self._fits(rest) and not _is_header(rest[0], rest[1:])):
            self._last = None
        if not rest:
            return
        if self._last and self._fits(rest) and (_is_alike(rest[0], self._last) or not _is_header(rest[0], rest[1:])):
            yield self._table(rest)
            return
        if len(rest) == 1:
            self._last = None
            yield _line(rest[0])
            return
        count = _header_rows(rest)
        self._header = _joined(rest[:count]) if count else {each: letters_of(each) for each in _columns(rest)}
        yield self._table(rest[count:])

    def _fits(self, rows: Sequence[Row]) -> bool:
        return self._last is not None and set(_columns(rows)) <= self._header.keys()

    def _table(self, rows: Sequence[Row]) -> str:
        self._last = rows[-1]
        columns = sorted({*self._header, *_columns(rows)})
        names = {column: escape(self._header.get(column, "")) for column in columns}
        if sum(map(len, self._header.values())) > _LONGEST_HEADER:
            return f"<ul>{''.join(f'<li>{_record(row, names)}</li>' for row in rows)}</ul>"
        head = "".join(f"<th>{name}</th>" for name in names.values())
        body = "".join(f"<tr>{''.join(f'<td>{_cell(row, column)}</td>' for column in columns)}</tr>" for row in rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _blocks(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """The rows between blank ones."""
    block: list[Row] = []
    for row in rows:
        if block and row.after_blank:
            yield block
            block = []
        block.append(row)
    if block:
        yield block


def _columns(rows: Iterable[Row]) -> list[int]:
    return sorted({column for row in rows for column in row.cells})


def _header_rows(rows: Sequence[Row]) -> int:
    """How many rows are the header: more than one if merged cells group its columns."""
    if not _is_header(rows[0], rows[1:]):
        return 0
    count = 1
    while rows[count - 1].spans and count < min(_MOST_HEADER_ROWS, len(rows) - 1):
        count += 1
    return count


def _titles(rows: Sequence[Row]) -> int:
    """How many rows are titles: they have one cell, in the first column or over several."""
    first = min(_columns(rows))
    titles = takewhile(lambda row: len(row.cells) == 1 and (first in row.cells or row.spans), rows)
    return len(list(titles))


def _notes_above(rows: Sequence[Row]) -> int:
    """How many rows are notes above a table: they have fewer cells than its header, below which values begin."""
    most = 0
    for at, (row, below) in enumerate(pairwise(rows[:_MOST_NOTES])):
        if not all(isinstance(value, str) for value in row.values.values()):
            return 0
        has_values = any(not isinstance(value, str) for value in below.values.values())
        if has_values and len(row.cells) > most:
            while at and rows[at - 1].spans:  # which group the columns of the header
                at -= 1
            return at
        most = max(most, len(row.cells))
    return 0


def _is_header(row: Row, below: Sequence[Row]) -> bool:
    return all(_may_name_a_column(value, column, below) for column, value in row.values.items())


def _may_name_a_column(value: Value, column: int, below: Sequence[Row]) -> bool:
    """Whether a value can be the name of the column below it."""
    if isinstance(value, bool):
        return False
    if isinstance(value, int | float):
        return value in _YEARS and not any(each.values.get(column) in _YEARS for each in below)
    return isinstance(value, str) or not any(isinstance(each.values.get(column), datetime.date) for each in below)


def _is_alike(row: Row, other: Row) -> bool:
    """Whether the values of two rows are of the same types, as far as both have one."""
    both = row.values.keys() & other.values.keys()
    return bool(both) and all(type(row.values[each]) is type(other.values[each]) for each in both)


def _joined(rows: Sequence[Row]) -> Header:
    """The names of columns, below the names of the groups over them."""
    names: dict[int, list[str]] = {column: [] for column in _columns(rows)}
    for row in rows:
        for column, text in row.cells.items():
            for covered in range(column, column + row.spans.get(column, 1)):
                names.setdefault(covered, []).append(text)
    return {column: " ".join(dict.fromkeys(" ".join(parts).split("\n"))) for column, parts in names.items()}


def _cell(row: Row, column: int) -> str:
    html = escape(row.cells.get(column, "")).replace("\n", "<br>")
    link = row.links.get(column)
    return f'<a href="{escape(link)}">{html}</a>' if link and html else html


def _line(row: Row) -> str:
    return f"<p>{' – '.join(_cell(row, column) for column in sorted(row.cells))}</p>"


def _record(row: Row, names: Mapping[int, str]) -> str:
    return "; ".join(
        f"{names[column]}: {_cell(row, column)}" if names[column] else _cell(row, column)
        for column in sorted(row.cells)
    )
