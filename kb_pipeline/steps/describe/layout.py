"""Order the lines of a screen as a person reads them: blocks, columns within blocks, rows within columns.

Method: recursive X-Y cut (Nagy and Seth, 1984), with one addition for forms: columns whose lines are level (labels and
their fields) are read across, other columns (a side bar and a page) one after the other.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from statistics import median

from kb_pipeline.steps.describe.lines import OcrLine

Row = tuple[OcrLine, ...]

_BAND_GAP = 2.5
_ROW_GAP = 0.9
_COLUMN_GAP = 1.2
"""Minimum white space between bands across the screen, between blocks and between columns, in line heights."""

_TALL_COLUMN_GAP = 0.6
_TALL_COLUMN = 4
"""The same between columns of at least so many rows that are not level, such as two bars at the side of a page."""

_TOP_BAR = 0.6
"""Minimum width of a bar at the top of a page, as a share of the width of all text."""

_SIDE_BAR = 0.3
"""Maximum width of a bar at the side of a page, as a share of the same."""

_LEVEL = 0.35
"""Maximum vertical distance between level rows, in line heights."""

_MOSTLY_LEVEL = 0.8
_SIMILAR = 0.6
"""Share of one column's rows that must be level with the other's, and minimum ratio of their numbers of rows.
A side bar and a page have a few level rows by chance; labels and fields have nearly all, and equally many."""


def rows_in_reading_order(lines: Sequence[OcrLine]) -> list[Row]:
    """Group lines that are beside each other into rows, and order the rows."""
    if not lines:
        return []
    unit = median(line.height for line in lines)
    bar, rest = _top_bar(lines, unit)
    return [*([bar] if bar else []), *(_read(rest, unit) if rest else [])]


def _top_bar(lines: Sequence[OcrLine], unit: float) -> tuple[Row, list[OcrLine]]:
    """Split off the first row if it extends over most of the screen; its parts belong to no column below."""
    first, *others = rows_of(lines)
    rest = [line for row in others for line in row]
    width = max(line.right for line in lines) - min(line.left for line in lines)
    is_bar = len(first) > 1 and first[-1].right - first[0].left >= _TOP_BAR * width
    apart = not rest or min(line.top for line in rest) - max(line.bottom for line in first) >= _ROW_GAP * unit
    return (first, rest) if is_bar and apart else ((), list(lines))


def side_bars(lines: Sequence[OcrLine]) -> tuple[list[list[OcrLine]], list[OcrLine]]:
    """Split off the bars at the left side of a page, below a bar at its top; return them and all other lines."""
    if not lines:
        return [], []
    unit = median(line.height for line in lines)
    bar, rest = _top_bar(lines, unit)
    width = max(line.right for line in lines) - min(line.left for line in lines)
    bars: list[list[OcrLine]] = []
    while rest and (found := _first_side_bar(rest, width, unit)):
        bars.append(found)
        rest = [line for line in rest if line not in found]
    return bars, [*bar, *rest]


def _first_side_bar(lines: list[OcrLine], width: float, unit: float) -> list[OcrLine]:
    ordered = sorted(lines, key=lambda line: line.left)
    end = ordered[0].right
    for index, (previous, line) in enumerate(pairwise(ordered), start=1):
        end = max(end, previous.right)
        if end - ordered[0].left > _SIDE_BAR * width:
            break
        if line.left - end >= _TALL_COLUMN_GAP * unit:
            bar, rest = ordered[:index], ordered[index:]
            is_tall = len(rows_of(bar)) >= _TALL_COLUMN and len(rows_of(rest)) >= _TALL_COLUMN
            if is_tall and not _are_level(bar, rest, unit):
                return bar
    return []


def _read(lines: list[OcrLine], unit: float) -> list[Row]:
    """Cut at the widest white space, across or down, and read the parts one after the other, until none can be cut.

    Columns whose rows are level are read across instead: labels beside fields, or a table.
    """
    columns, column_gap = _widest_cut(lines, lambda line: (line.left, line.right))
    blocks, block_gap = _widest_cut(lines, lambda line: (line.top, line.bottom))
    if block_gap >= _BAND_GAP * unit:
        return [row for part in blocks for row in _read(part, unit)]
    if column_gap >= max(_COLUMN_GAP * unit, block_gap) and not _are_level(*columns, unit):
        return [row for part in columns for row in _read(part, unit)]
    if block_gap >= _ROW_GAP * unit:
        return [row for part in blocks for row in _read(part, unit)]
    if column_gap >= _COLUMN_GAP * unit and not _are_level(*columns, unit):
        return [row for part in columns for row in _read(part, unit)]
    tall = min(len(rows_of(part)) for part in columns if part) >= _TALL_COLUMN
    if tall and column_gap >= _TALL_COLUMN_GAP * unit and not _are_level(*columns, unit):
        return [row for part in columns for row in _read(part, unit)]
    return rows_of(lines)


def _widest_cut(
    lines: list[OcrLine], extent: Callable[[OcrLine], tuple[float, float]]
) -> tuple[tuple[list[OcrLine], list[OcrLine]], float]:
    """Split along the widest strip that no line crosses; its width is 0 or less if there is none."""
    ordered = sorted(lines, key=extent)
    widest, where, end = 0.0, len(ordered), extent(ordered[0])[1]
    for index, (previous, line) in enumerate(pairwise(ordered), start=1):
        end = max(end, extent(previous)[1])
        gap = extent(line)[0] - end
        if gap > widest:
            widest, where = gap, index
    return (ordered[:where], ordered[where:]), widest


def _are_level(left: Sequence[OcrLine], right: Sequence[OcrLine], unit: float) -> bool:
    """Return whether two columns are read across: their rows are level, or their cells of several lines are."""
    rows = [[row[0].middle for row in rows_of(side)] for side in (left, right)]
    cells = [_cells(side, unit) for side in (left, right)]
    return _match(rows, unit) or (min(map(len, cells)) > 1 and _match(cells, unit))


def _match(columns: Sequence[Sequence[float]], unit: float) -> bool:
    fewer, more = sorted(columns, key=len)
    level = sum(1 for middle in fewer if any(abs(middle - other) <= _LEVEL * unit for other in more))
    return level >= _MOSTLY_LEVEL * len(fewer) and len(fewer) >= _SIMILAR * len(more)


def _cells(lines: Sequence[OcrLine], unit: float) -> list[float]:
    """Return the vertical centres of a column's cells; lines close to each other form one cell."""
    spans: list[tuple[float, float]] = []
    for line in sorted(lines, key=lambda line: line.top):
        if spans and line.top - spans[-1][1] < _ROW_GAP * unit:
            spans[-1] = (spans[-1][0], max(spans[-1][1], line.bottom))
        else:
            spans.append((line.top, line.bottom))
    return [(top + bottom) / 2 for top, bottom in spans]


def rows_of(lines: Sequence[OcrLine]) -> list[Row]:
    """Group lines into rows, from top to bottom: a line joins a row while its centre is within the row's first line."""
    rows: list[list[OcrLine]] = []
    for line in sorted(lines, key=lambda line: line.middle):
        if rows and line.middle <= rows[-1][0].bottom and line.top <= rows[-1][0].middle:
            rows[-1].append(line)
        else:
            rows.append([line])
    return [tuple(sorted(row, key=lambda line: line.left)) for row in rows]
