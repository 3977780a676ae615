"""The order in which a person reads the lines of a screen: blocks, columns within them, rows within these.

Method: recursive X-Y cut (Nagy and Seth, 1984), with one addition for forms: columns whose lines stand level with each
other (labels and their fields) are read across, columns that do not (a side bar and a page) one after the other.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from statistics import median

from kb_pipeline.steps.describe.lines import OcrLine

Row = tuple[OcrLine, ...]

_BAND_GAP = 2.5
_ROW_GAP = 0.9
_COLUMN_GAP = 1.2
"""Smallest white space that separates bands across the screen, blocks and columns, in line heights."""

_LEVEL = 0.35
"""How far apart level rows may be, in line heights."""

_MOSTLY_LEVEL = 0.8
_SIMILAR = 0.6
"""Which share of a column's rows must be level with the other's, and how many rows it must have in proportion.
A side bar and a page have some rows level by chance; labels and their fields have nearly all, and as many."""


def rows_in_reading_order(lines: Sequence[OcrLine]) -> list[Row]:
    """Group lines that stand beside each other into rows, and order the rows."""
    if not lines:
        return []
    unit = median(line.height for line in lines)
    return _read(list(lines), unit)


def _read(lines: list[OcrLine], unit: float) -> list[Row]:
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
    return _rows(lines)


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
    """Whether two columns are read across: their rows are level, or their cells of several lines are."""
    rows = [[row[0].middle for row in _rows(side)] for side in (left, right)]
    cells = [_cells(side, unit) for side in (left, right)]
    return _match(rows, unit) or (min(map(len, cells)) > 1 and _match(cells, unit))


def _match(columns: Sequence[Sequence[float]], unit: float) -> bool:
    fewer, more = sorted(columns, key=len)
    level = sum(1 for middle in fewer if any(abs(middle - other) <= _LEVEL * unit for other in more))
    return level >= _MOSTLY_LEVEL * len(fewer) and len(fewer) >= _SIMILAR * len(more)


def _cells(lines: Sequence[OcrLine], unit: float) -> list[float]:
    """The middles of a column's cells: lines close below each other are one."""
    spans: list[tuple[float, float]] = []
    for line in sorted(lines, key=lambda line: line.top):
        if spans and line.top - spans[-1][1] < _ROW_GAP * unit:
            spans[-1] = (spans[-1][0], max(spans[-1][1], line.bottom))
        else:
            spans.append((line.top, line.bottom))
    return [(top + bottom) / 2 for top, bottom in spans]


def _rows(lines: Sequence[OcrLine]) -> list[Row]:
    """Put lines into one row while the next one's centre lies within the row's first line."""
    rows: list[list[OcrLine]] = []
    for line in sorted(lines, key=lambda line: line.middle):
        if rows and line.middle <= rows[-1][0].bottom and line.top <= rows[-1][0].middle:
            rows[-1].append(line)
        else:
            rows.append([line])
    return [tuple(sorted(row, key=lambda line: line.left)) for row in rows]
