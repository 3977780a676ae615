"""Tables between rules above and below: white space divides their columns."""

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from kb_pipeline.steps.pdf.blocks import Cell
from kb_pipeline.steps.pdf.lines import Line, Row, part_of
from kb_pipeline.steps.pdf.model import Box, Drawing
from kb_pipeline.steps.pdf.table_columns import SpanningPiece, TableColumn, cells_of, columns_of, placed, starts_of
from kb_pipeline.steps.pdf.tables import NEAR, SHORTEST, THIN, FoundTable, distinct, grouped

_HEAD = 60.0
"""Points that the head of a table is high, at most, if its upper rule is shorter than the others."""
_CELL_GAP = 0.7
"""Gap between two words that divides cells between rules, in heights of the font; spaces are .2 to .33."""
_MANY_WORDS = 2.5
"""Words of a line of a cell, on average, from which on its lines are those of a text, not rows by themselves."""


def ruled_stretches(drawings: Sequence[Drawing], rows: Sequence[Row]) -> Iterator[tuple[int, int, "Rules"]]:
    """Stretches of rows (first, behind the last) between rules of the same width."""
    lines = sorted(
        (drawing.box for drawing in drawings if not drawing.curved and drawing.box.height <= THIN),
        key=lambda box: box.top,
    )
    rules = [box for box in _whole(lines) if box.width > 60]
    used: set[int] = set()
    for index, rule in enumerate(rules):
        if index in used:
            continue
        group = [rule]
        for other in range(index + 1, len(rules)):
            if other not in used and _ends_alike(rules[other], rule):
                group.append(rules[other])
                used.add(other)
        group = [*_shorter_above(rules, rule), *group]
        short = [box for box in lines if SHORTEST < box.width < 0.9 * rule.width]
        for heights in _runs(distinct(box.middle[1] for box in group), rows, rule):
            first = next((number for number, row in enumerate(rows) if row[0].baseline > heights[0]), len(rows))
            last = next((number for number, row in enumerate(rows) if row[0].baseline > heights[-1]), len(rows))
            if last - first >= 2:
                yield first, last, Rules(heights, short)


def _ends_alike(one: Box, other: Box) -> bool:
    return abs(one.left - other.left) < NEAR and abs(one.right - other.right) < NEAR


def _shorter_above(rules: Sequence[Box], rule: Box) -> list[Box]:
    """The highest rule right above that begins later: a head often has none above the names of the rows."""
    above = [
        other
        for other in rules
        if 0 < rule.top - other.top < _HEAD
        and abs(other.right - rule.right) < NEAR
        and 0.4 * rule.width < other.width < rule.width - NEAR
    ]
    return above[:1]


def _runs(heights: Sequence[float], rows: Sequence[Row], rule: Box) -> Iterator[list[float]]:
    """The heights of each table: text between two rules of one width parts tables, or a table from a page's head."""
    run: list[float] = []
    for above, below in pairwise(heights):
        between = _between(rows, above, below)
        several = sum(len(row) > 1 for row in between)
        wide = sum(len(row) == 1 and row[0].box.width > 0.6 * rule.width for row in between)
        if several > wide or (run and not wide and len(between) < 3):
            run = [*run, below] if run else [above, below]
        else:
            if len(run) > 2:
                yield run
            run = []
    if len(run) > 2:
        yield run


def _whole(lines: Sequence[Box]) -> list[Box]:
    """The lines from top to bottom, pieces that touch each other end to end as one."""
    whole: list[Box] = []
    for line in sorted(lines, key=lambda box: (round(box.middle[1]), box.left)):
        last = whole[-1] if whole else None
        if last and abs(last.middle[1] - line.middle[1]) < 1 and line.left - last.right < 1.5:
            whole[-1] = last.union(line)
        else:
            whole.append(line)
    return sorted(whole, key=lambda box: box.top)


class Rules(NamedTuple):
    """The heights of rules as wide as their table, and shorter ones."""

    heights: list[float]
    short: Sequence[Box] = ()


def table_of_rules(rows: Sequence[Row], rules: Rules) -> FoundTable | None:
    """The table between rules: the rows above the second rule are its header."""
    heights, of_page = rules.heights, list(rows)
    rows = [list(_finer(row)) for row in rows]
    columns = columns_of(_below_spans(rows, rules))
    if len(columns) < 2:
        return None
    header, *bands = (_between(rows, *pair) for pair in pairwise([float("-inf"), *heights[1:-1], float("inf")]))
    bands = [band for band in bands if band]
    if not header or not bands:
        return None
    groups = [group for band in bands for group in _groups_of_band(band, columns, len(bands))]
    head = _head(header, columns, rules.short)
    cells = [*head, *cells_of([[list(placed(row, columns)) for row in group] for group in groups], len(columns))]
    return FoundTable(of_page, cells, starts_of(columns), len(head))


def _below_spans(rows: Sequence[Row], rules: Rules) -> Sequence[Row]:
    """The rows below all cells of the head that span columns, as rules below these show."""
    spans = [rule.bottom for rule in rules.short if rules.heights[0] < rule.top < rules.heights[1] - NEAR]
    below = [row for row in rows if row[0].baseline > max(spans, default=0.0)]
    return below if sum(len(row) > 1 for row in below) > 1 else rows


def _finer(row: Row) -> Iterator[Line]:
    """The pieces of a row between rules, where a narrower gap divides cells than in text."""
    for piece in row:
        begin = 0
        for place, (before, after) in enumerate(pairwise(piece.words), 1):
            if after.box.left - before.box.right > _CELL_GAP * piece.size:
                yield part_of(piece, piece.words[begin:place])
                begin = place
        yield part_of(piece, piece.words[begin:])


def _between(rows: Sequence[Row], above: float, below: float) -> list[Row]:
    return [row for row in rows if above <= row[0].baseline - 0.3 * row[0].size < below]


def _groups_of_band(band: Sequence[Row], columns: Sequence[TableColumn], bands: int) -> Iterator[list[Row]]:
    """The rows of a table between two rules: one if its lines are those of cells with text."""
    several = [row for row in band if len(row) > 1]
    words = [len(piece.words) for row in several for piece in row]
    if bands > 2 and (len(several) < 2 or sum(words) > _MANY_WORDS * len(words)):
        yield list(band)
    else:
        yield from grouped(band, starts_of(columns))


def _head(rows: Sequence[Row], columns: Sequence[TableColumn], rules: Sequence[Box]) -> list[list[Cell]]:
    """The header: a line with a cell that spans columns ends a row of it, and other columns have one cell."""
    levels: list[list[list[SpanningPiece]]] = [[]]
    for number, row in enumerate(rows):
        line = list(placed(row, columns, rules))
        levels[-1].append(line)
        if any(each.last > each.first for each in line) and number + 1 < len(rows):
            levels.append([])
    spanned = {
        place
        for level in levels
        for line in level
        for each in line
        for place in range(each.first, each.last + 1)
        if each.last > each.first
    }
    for place in set(range(len(columns))) - spanned if len(levels) > 1 else ():
        alone = [
            (line, each) for level in levels for line in level for each in line if each.first == each.last == place
        ]
        for line, each in alone:
            line.remove(each)
        levels[0].extend([each] for _, each in alone)
    cells = cells_of(levels, len(columns))
    if len(levels) > 1:
        _span_rows(cells, len(columns), spanned)
    return cells


def _span_rows(cells: list[list[Cell]], count: int, spanned: Collection[int]) -> None:
    """Let the cells of columns that nothing spans reach over all rows of the header."""
    for number, row in enumerate(cells):
        place = 0
        for cell in list(row):
            if place not in spanned:
                if number:
                    row.remove(cell)
                else:
                    cell.rows = len(cells)
            place += cell.columns
