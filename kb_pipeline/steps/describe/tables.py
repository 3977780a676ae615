"""Find tables on a screen by their headings and the columns below, so that contents are not taken for an interface."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from kb_pipeline.steps.describe.layout import Row, rows_of, side_bars
from kb_pipeline.steps.describe.lines import OcrLine
from kb_pipeline.steps.describe.values import MENU_TITLES, is_data

_MIN_COLUMNS = 3
_MIN_ROWS = 2
_IN_COLUMNS = 0.5
"""Minimum numbers of columns and rows, and share of the texts below the headings that stand in their columns."""

_NO_HEADING = re.compile(r":$|</|[{};=]")
_MAX_WORDS = 3
_LABELS = 0.2
"""Maximum words of a heading, and share of labels ("Name:") below, above which it is a form."""

_ALIGNED = 0.8
_FIRST_GAP = 4.0
_PITCH = 1.5
_SECOND_LINE = 1.6
_FIRST_ROWS = 3
"""In line heights: tolerance of a column's edge, and maximum distance of the first rows from each other, and of the
second line of a cell. Later rows are at most ``_PITCH`` times as far from each other as the first ones."""


class ScreenTable(NamedTuple):
    """The headings of a table's columns, and all texts below them."""

    headings: Row
    body: tuple[OcrLine, ...]


def tables_of(items: Sequence[OcrLine]) -> list[ScreenTable]:
    """Return the tables of at least three columns and two rows, from top to bottom."""
    _, page = side_bars(items)
    found = [table for row in rows_of(page) for run in _runs(row) if (table := _table(run, page))]
    tables: list[ScreenTable] = []
    taken: set[OcrLine] = set()
    # A row of tabs above a table has some texts below it too; the headings have the most.
    for table in sorted(found, key=lambda table: -len(table.headings)):
        if taken.isdisjoint((*table.headings, *table.body)):
            tables.append(table)
            taken.update(table.headings, table.body)
    return sorted(tables, key=lambda table: table.headings[0].top)


def _runs(row: Sequence[OcrLine]) -> list[Row]:
    """Return the parts of a row that may be headings: at least three names beside each other."""
    runs: list[list[OcrLine]] = [[]]
    for item in row:
        is_heading = len(item.text.split()) <= _MAX_WORDS and not is_data(item.text)
        if not is_heading or _NO_HEADING.search(item.text) or item.text in MENU_TITLES:
            runs.append([])
        else:
            runs[-1].append(item)
    return [
        tuple(run)
        for run in runs
        if len(run) >= _MIN_COLUMNS and 2 * sum(item.text[0].islower() for item in run) < len(run)
    ]


def _table(headings: Row, items: Sequence[OcrLine]) -> ScreenTable | None:
    """Return the headings with the texts below as far as they stand in their columns, if this is a table."""
    height = max(item.height for item in headings)
    left, right = headings[0].left - 2 * height, headings[-1].right + 4 * height
    start = max(item.bottom for item in headings)
    below = [item for item in items if item.middle > start and left <= item.left <= right]
    rows = _consecutive(rows_of(below), headings, headings[0].top, _FIRST_GAP * height)
    edges = [_columns(rows, headings, edge) for edge in (0.0, 0.5, 1.0)]
    # The texts of a column share one edge: left, centre or right.
    columns = [max((aligned[number] for aligned in edges), key=len) for number in range(len(headings))]
    filled = [column for column in columns if len(column) >= _MIN_ROWS]
    body = tuple(item for row in rows for item in row)
    in_columns = {item for column in filled for item in column}
    is_form = sum(item.text.endswith(":") for item in body) > _LABELS * len(body)
    is_table = len(filled) >= _MIN_COLUMNS and len(in_columns) >= _IN_COLUMNS * len(body) and not is_form
    return ScreenTable(headings, body) if is_table else None


def _consecutive(rows: Sequence[Row], headings: Row, start: float, gap: float) -> list[Row]:
    """Return the rows up to the first one that is outside of all columns, or further away than those before it."""
    consecutive: list[Row] = []
    for row in rows:
        aligned = any(any(_columns([row], headings, edge)) for edge in (0.0, 0.5, 1.0))
        if len(consecutive) == _FIRST_ROWS:
            gap = _PITCH * max(below[0].top - above[0].top for above, below in pairwise(consecutive))
        is_second_line = row[0].top - start <= _SECOND_LINE * row[0].height
        if row[0].top - start > gap or not (aligned or (consecutive and is_second_line)):
            break
        consecutive.append(row)
        start = row[0].top
    return consecutive


def _columns(rows: Sequence[Row], headings: Row, edge: float) -> list[list[OcrLine]]:
    """Return the texts that have an edge (0: left, 1: right) in common with a heading, for each heading."""
    return [
        [item for row in rows for item in row if abs(_at(item, edge) - _at(heading, edge)) <= _ALIGNED * item.height]
        for heading in headings
    ]


def _at(item: OcrLine, edge: float) -> float:
    return item.left + edge * (item.right - item.left)
