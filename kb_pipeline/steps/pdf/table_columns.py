"""Columns of a table that white space divides, and its cells: what stands over several columns spans them.

Columns are what most rows agree on. A piece below or above which other rows have two or more pieces side by side spans
columns, or is two cells of a tight row.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from kb_pipeline.steps.pdf.blocks import Cell
from kb_pipeline.steps.pdf.lines import Line, Row, part_of
from kb_pipeline.steps.pdf.model import Box

_LEAST_GUTTER = 2.0
"""Points of white space into which no row reaches; less is letters that lean out."""
_FEW = 0.15
"""Share of the rows that may reach over the place where two columns are divided."""
_MUCH = 0.5
"""Share of a column, or of a piece, by which the piece stands over the column."""
_WIDE_SPACE = 0.38
"""Gap between two words that may divide cells, in heights of the font; spaces are .2 to .33."""
_MOST_WORK = 1_000_000
"""Rows times pieces of a table: a page full of letters that stand apart has none."""


class TableColumn(NamedTuple):
    """Where the cells of a column stand."""

    left: float
    right: float

    @property
    def width(self) -> float:
        return self.right - self.left


def columns_of(rows: Sequence[Row]) -> list[TableColumn]:
    """The columns that these rows have together, from left to right."""
    several = [row for row in rows if len(row) > 1]
    if not several or len(several) * sum(map(len, several)) > _MOST_WORK:
        return []
    ends = [[(piece.left, piece.right) for piece in row] for row in several]
    within = [[span for span in row if not _spans(span, ends)] for row in ends]
    return list(_divided([row for row in within if row]))


def _spans(span: tuple[float, float], rows: Sequence[Sequence[tuple[float, float]]]) -> bool:
    """Whether more rows have several pieces in the place of this one than have one."""
    left, right = span
    votes = 0
    for row in rows:
        count = sum(begin < right - 1 and left + 1 < end for begin, end in row)
        votes += (count > 1) - (count == 1)
    return votes > 0


def _divided(rows: Sequence[Sequence[tuple[float, float]]]) -> Iterator[TableColumn]:
    """The columns of pieces that white space divides, or nearly."""
    spans = sorted(span for row in rows for span in row)
    if not spans:
        return
    begin, end = spans[0]
    for left, right in [*spans[1:], (float("inf"), float("inf"))]:
        if left - end > _LEAST_GUTTER:
            yield from _cut([[s for s in row if begin <= s[0] < end] for row in rows], begin, end)
            begin = left
            end = right
        end = max(end, right)


def _cut(rows: Sequence[Sequence[tuple[float, float]]], begin: float, end: float) -> Iterator[TableColumn]:
    """Divide what looks like one column where hardly a row reaches over, if rows have pieces on both sides."""
    filled = [row for row in rows if row]
    both = [row for row in filled if len(row) > 1]
    if len(both) >= max(2, 0.3 * len(filled)):
        places = [(before[1] + after[0]) / 2 for row in both for before, after in pairwise(sorted(row))]
        crossing, x = min((sum(a < x < b for row in filled for a, b in row), x) for x in places)
        if crossing <= _FEW * len(filled):
            sides = [[[s for s in row if s[1] <= x] for row in rows], [[s for s in row if s[0] >= x] for row in rows]]
            for side in sides:
                yield from _divided(side)
            return
    yield TableColumn(begin, end)


def starts_of(columns: Sequence[TableColumn]) -> list[float]:
    """Where the columns begin."""
    return [column.left for column in columns]


class SpanningPiece(NamedTuple):
    """A piece of a row, and the first and the last column that it stands over."""

    piece: Line
    first: int
    last: int


def placed(row: Row, columns: Sequence[TableColumn], rules: Sequence[Box] = ()) -> Iterator[SpanningPiece]:
    """The cells of a row, from left to right; a short rule below a piece shows what it spans."""
    for whole in row:
        for piece in _parts(whole, columns):
            yield SpanningPiece(piece, *_span_of(piece, columns, rules))


def _parts(piece: Line, columns: Sequence[TableColumn]) -> Iterator[Line]:
    """The parts of a piece that are cells of their own: a wide space is in it wherever it reaches over a gutter."""
    gaps = []
    for before, after in pairwise(columns):
        if piece.left < before.right - 1 and piece.right > after.left + 1:
            gaps.append((before.right, after.left))
    cuts = [place for gap in gaps if (place := _space_at(piece, *gap))]
    if not gaps or len(cuts) < len(gaps):
        yield piece
        return
    for begin, end in pairwise([0, *cuts, len(piece.words)]):
        if words := piece.words[begin:end]:
            yield part_of(piece, words)


def _space_at(piece: Line, left: float, right: float) -> int:
    """The place of the word behind a wide space that is where two columns are divided; 0 without one."""
    for place, (before, after) in enumerate(pairwise(piece.words), 1):
        begin, end = before.box.right, after.box.left
        if end - begin > _WIDE_SPACE * piece.size and begin < right + 1 and end > left - 1:
            return place
    return 0


def _span_of(piece: Line, columns: Sequence[TableColumn], rules: Sequence[Box]) -> tuple[int, int]:
    left, right = piece.left, piece.right
    over = [_overlap(left, right, column) for column in columns]
    best = max(range(len(columns)), key=lambda place: (over[place], -abs(columns[place].left - left)))
    for rule in rules:
        is_below = 0 < rule.top - piece.baseline < 1.2 * piece.size
        if is_below and rule.left - 2 <= left and right <= rule.right + 2 and rule.width > piece.box.width - 2:
            under = [place for place, column in enumerate(columns) if _stands_over(rule.left, rule.right, column)]
            if len(under) > 1:
                return under[0], under[-1]
    wide = [place for place, column in enumerate(columns) if _stands_over(left, right, column)]
    if len(wide) > 1 and left > columns[wide[0]].left + 3:  # what is set in the middle of them
        return wide[0], wide[-1]
    if len(wide) > 1:
        return wide[0], wide[0]
    return best, best


def _overlap(left: float, right: float, column: TableColumn) -> float:
    return min(right, column.right) - max(left, column.left)


def _stands_over(left: float, right: float, column: TableColumn) -> bool:
    return _overlap(left, right, column) >= _MUCH * max(min(right - left, column.width), 1)


def cells_of(groups: Sequence[Sequence[Sequence[SpanningPiece]]], count: int) -> list[list[Cell]]:
    """The rows of a table of ``count`` columns, each from the lines of a group."""
    table = []
    for group in groups:
        owner: list[Cell | None] = [None] * count
        cells: list[tuple[int, Cell]] = []
        for piece, first, last in (each for line in group for each in line):
            known = next((cell for cell in owner[first : last + 1] if cell is not None), None)
            if known is None:
                known = Cell(columns=last - first + 1)
                cells.append((first, known))
                owner[first : last + 1] = [known] * (last - first + 1)
            known.lines.append(piece)
        cells += [(place, Cell()) for place in range(count) if owner[place] is None]
        table.append([cell for _, cell in sorted(cells, key=lambda each: each[0])])
    return table
