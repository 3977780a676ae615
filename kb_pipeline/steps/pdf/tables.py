"""Tables: by their lines, where they have some, else by words that stand in columns over several rows."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from kb_pipeline.steps.pdf.blocks import Cell
from kb_pipeline.steps.pdf.lines import Line, Row, part_of
from kb_pipeline.steps.pdf.model import Box, Drawing, Word

_THIN = 2.6
_NEAR = 4.0
_MOST_LINES = 1500
_SHORTEST = 8.0
_MOST_WORK = 1_000_000
_WORDS = re.compile(r"\w\w|\d|[\u2e80-\u9fff\uac00-\ud7af]")
_MARK = re.compile(r"[•◦▪‣–—*·●○■□✓➢-]|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,5})[.)]")


@dataclass(slots=True)
class FoundTable:
    """A table: the rows of the page that it takes, its cells row by row, and where its columns begin."""

    rows: list[Row]
    cells: list[list[Cell]]
    columns: list[float]
    header_rows: int = 0


# By lines


@dataclass(slots=True)
class Grid:
    """Lines that make a table: where its columns and rows begin and end, and the lines themselves."""

    xs: list[float]
    ys: list[float]
    horizontal: list[Box]
    vertical: list[Box]

    @property
    def box(self) -> Box:
        return Box(self.xs[0], self.ys[0], self.xs[-1], self.ys[-1])


def grids_of(drawings: Sequence[Drawing]) -> list[Grid]:
    """The grids that the lines of a page make, each of at least two cells."""
    lines = [drawing.box for drawing in drawings if not drawing.curved]
    horizontal = [box for box in lines if box.height <= _THIN and box.width >= _SHORTEST]
    vertical = [box for box in lines if box.width <= _THIN and box.height >= _SHORTEST]
    if not vertical or len(horizontal) < 2 or len(horizontal) + len(vertical) > _MOST_LINES:
        return []
    groups: list[tuple[list[Box], list[Box]]] = []
    for line in vertical:
        joined: tuple[list[Box], list[Box]] = ([], [line])
        rest = []
        for group in groups:
            if any(_touch(line, other) for other in group[0]):
                joined[0].extend(group[0])
                joined[1].extend(group[1])
            else:
                rest.append(group)
        known = {id(other) for other in joined[0]}
        joined[0].extend(other for other in horizontal if id(other) not in known and _touch(line, other))
        groups = [*rest, joined]
    grids = []
    for across, down in groups:
        xs, ys = _distinct(box.middle[0] for box in down), _distinct(box.middle[1] for box in across)
        if across:
            # tables are often open at their sides
            edges = min(box.left for box in across), max(box.right for box in across)
            xs = _distinct([*xs, *edges])
        cells = (len(xs) - 1) * (len(ys) - 1)
        if len(xs) >= 2 and len(ys) >= 2 and cells >= 2 and cells * (len(across) + len(down)) < _MOST_WORK:
            grids.append(Grid(xs, ys, across, down))
    return grids


def _touch(vertical: Box, horizontal: Box) -> bool:
    return (
        horizontal.left - _NEAR <= vertical.right
        and vertical.left <= horizontal.right + _NEAR
        and vertical.top - _NEAR <= horizontal.bottom
        and horizontal.top <= vertical.bottom + _NEAR
    )


def _distinct(values: Sequence[float] | Iterator[float]) -> list[float]:
    found: list[float] = []
    for value in sorted(values):
        if not found or value - found[-1] > _NEAR:
            found.append(value)
    return found


def table_of_grid(grid: Grid, rows: Sequence[Row]) -> FoundTable | None:
    """The table in a grid, with cells that span where no line divides them; ``None`` if there is no text in two."""
    box = grid.box
    inside = [row for row in rows if all(_in(box, piece) for piece in row)]
    partly = [
        row for row in rows if not all(_in(box, piece) for piece in row) and any(_in(box, piece) for piece in row)
    ]
    if partly or not inside:
        return None
    height, width = len(grid.ys) - 1, len(grid.xs) - 1
    owner: dict[tuple[int, int], Cell] = {}
    table: list[list[Cell]] = []
    for row in range(height):
        cells = []
        for column in range(width):
            if (row, column) in owner:
                continue
            cell = Cell()
            while column + cell.columns < width and not _divided(grid.vertical, grid, row, column + cell.columns, True):
                cell.columns += 1
            while row + cell.rows < height and not _divided(grid.horizontal, grid, row + cell.rows, column, False):
                cell.rows += 1
            for down in range(cell.rows):
                for across in range(cell.columns):
                    owner[row + down, column + across] = cell
            cells.append(cell)
        table.append(cells)
    for row_of_page in inside:
        for piece in row_of_page:
            for words, cell in _by_cell(grid, owner, piece):
                cell.lines.append(part_of(piece, words))
    table = [cells for cells in table if any(cell.lines or cell.rows > 1 for cell in cells)]
    cells_of_words = sum(
        _WORDS.search(line.text) is not None for cells in table for cell in cells for line in cell.lines[:1]
    )
    if cells_of_words < 2 or cells_of_words < 0.3 * sum(map(len, table)):
        return None
    return FoundTable(inside, table, grid.xs[:-1], _header_rows(table))


def _in(box: Box, piece: Line) -> bool:
    return box.holds(piece.box.middle[0], piece.baseline - 0.3 * piece.size, 2)


def _divided(lines: Sequence[Box], grid: Grid, row: int, column: int, upright: bool) -> bool:
    """Whether a line stands left of the cell (upright), or above it."""
    if upright:
        x, y = grid.xs[column], (grid.ys[row] + grid.ys[row + 1]) / 2
        return any(abs(line.middle[0] - x) <= _NEAR and line.top - 1 <= y <= line.bottom + 1 for line in lines)
    x, y = (grid.xs[column] + grid.xs[column + 1]) / 2, grid.ys[row]
    return any(abs(line.middle[1] - y) <= _NEAR and line.left - 1 <= x <= line.right + 1 for line in lines)


def _by_cell(grid: Grid, owner: dict[tuple[int, int], Cell], piece: Line) -> Iterator[tuple[list[Word], Cell]]:
    y = piece.baseline - 0.3 * piece.size
    row = max(0, sum(edge <= y for edge in grid.ys[1:-1]))
    before: Cell | None = None
    words: list[Word] = []
    for word in piece.words:
        column = sum(edge <= word.box.middle[0] for edge in grid.xs[1:-1])
        cell = owner[row, column]
        if cell is not before and before is not None:
            yield words, before
            words = []
        before = cell
        words.append(word)
    if before is not None:
        yield words, before


# By rules above and below, or by columns alone


def ruled_stretches(drawings: Sequence[Drawing], rows: Sequence[Row]) -> Iterator[tuple[int, int, list[float]]]:
    """Stretches of rows (first, behind the last) between rules of the same width, with the rules' heights."""
    rules = sorted(
        (
            drawing.box
            for drawing in drawings
            if not drawing.curved and drawing.box.height <= _THIN and drawing.box.width > 60
        ),
        key=lambda box: box.top,
    )
    used: set[int] = set()
    for index, rule in enumerate(rules):
        if index in used:
            continue
        group = [rule]
        for other in range(index + 1, len(rules)):
            same = abs(rules[other].left - rule.left) < _NEAR and abs(rules[other].right - rule.right) < _NEAR
            if same and other not in used:
                group.append(rules[other])
                used.add(other)
        heights = _distinct(box.middle[1] for box in group)
        if len(heights) < 3:
            continue
        first = next((number for number, row in enumerate(rows) if row[0].baseline > heights[0]), len(rows))
        last = next((number for number, row in enumerate(rows) if row[0].baseline > heights[-1]), len(rows))
        if last - first >= 2:
            yield first, last, heights


def table_of_rules(rows: Sequence[Row], heights: Sequence[float]) -> FoundTable | None:
    """The table between rules: the rows above the second rule are its header."""
    columns = column_starts(rows)
    if len(columns) < 2:
        return None
    header = [row for row in rows if row[0].baseline < heights[1]]
    body = [row for row in rows if row[0].baseline >= heights[1]]
    if not header or not body:
        return None
    if len(heights) > 4 or (len(heights) > 3 and len(body) > 2):
        groups = [[row for row in body if upper <= row[0].baseline < lower] for upper, lower in pairwise(heights[1:])]
        lines = [group for group in groups if group]
        if len(lines) < 2:
            lines = list(_grouped(body, columns))
    else:
        lines = list(_grouped(body, columns))
    return FoundTable(list(rows), [_cells(header, columns), *(_cells(group, columns) for group in lines)], columns, 1)


def borderless(rows: Sequence[Row], leading: float) -> Iterator[tuple[int, int, FoundTable]]:
    """Tables without lines: stretches of rows (first, behind the last) whose pieces stand in the same columns."""
    begin = 0
    while begin < len(rows):
        if not _is_tabular(rows[begin]):
            begin += 1
            continue
        end = begin + 1
        while end < len(rows):
            distance = rows[end][0].baseline - rows[end - 1][0].baseline
            if distance > 2.4 * leading or not (_is_tabular(rows[end]) or _continues(rows, begin, end)):
                break
            end += 1
        while end > begin and not _is_tabular(rows[end - 1]) and not _continues(rows, begin, end - 1):
            end -= 1
        table = _borderless_table(rows[begin:end])
        if table:
            yield begin, end, table
        begin = max(end, begin + 1)


def _is_tabular(row: Row) -> bool:
    if len(row) < 2 or all(piece.fixed for piece in row):
        return False
    return not _MARK.fullmatch(row[0].text)


def _continues(rows: Sequence[Row], begin: int, index: int) -> bool:
    """Whether a row of one piece is the second line of a cell that is not in the first column."""
    piece = rows[index][0]
    starts = [other.left for row in rows[begin:index] for other in row[1:]]
    tight = rows[index][0].baseline - rows[index - 1][0].baseline < 1.45 * piece.size
    return len(rows[index]) == 1 and tight and any(abs(piece.left - start) < 3 for start in starts)


def _borderless_table(rows: Sequence[Row]) -> FoundTable | None:
    several = [row for row in rows if len(row) > 1]
    columns = column_starts(rows)
    if len(columns) < 2 or len(several) < (3 if len(columns) == 2 else 2):
        return None
    lines = [_cells(group, columns) for group in _grouped(rows, columns)]
    filled = sum(bool(cell.lines) for cells in lines for cell in cells)
    if len(lines) < 2 or filled < 0.6 * len(lines) * len(columns):
        return None
    return FoundTable(list(rows), lines, columns, _header_rows(lines))


def column_starts(rows: Sequence[Row]) -> list[float]:
    """Where the columns begin that white space divides over all rows, but for those of a single wide piece."""
    left = min(piece.left for row in rows for piece in row)
    right = max(piece.right for row in rows for piece in row)
    spans: list[tuple[float, float]] = []
    for row in rows:
        if len(row) == 1 and row[0].box.width > 0.6 * (right - left):
            continue
        spans.extend((piece.left, piece.right) for piece in row)
    starts: list[float] = []
    end = float("-inf")
    for begin, stop in sorted(spans):
        if begin - end > 3:
            starts.append(begin)
        end = max(end, stop)
    return starts


def _grouped(rows: Sequence[Row], columns: Sequence[float]) -> Iterator[list[Row]]:
    """The rows of a table, each of one or more lines: divided by wider gaps, or where the first column has text."""
    distances = [after[0].baseline - before[0].baseline for before, after in pairwise(rows)]
    size = max(row[0].size for row in rows)
    tight = min(distances, default=0.0)
    by_gaps = tight < 1.35 * size and any(distance > 1.25 * tight for distance in distances)
    group = [rows[0]]
    for row, distance in zip(rows[1:], distances, strict=True):
        first_is_empty = len(columns) > 1 and row[0].left >= columns[1] - 1
        if (by_gaps and distance <= 1.25 * tight and _has_wide_cells(rows, columns)) or (
            first_is_empty and distance < 1.45 * size
        ):
            group.append(row)
        else:
            yield group
            group = [row]
    yield group


def _has_wide_cells(rows: Sequence[Row], columns: Sequence[float]) -> bool:
    """Whether rows lack the first cell, so that lines go on in others."""
    return len(columns) > 1 and any(row[0].left >= columns[1] - 1 for row in rows)


def _cells(rows: Sequence[Row], columns: Sequence[float]) -> list[Cell]:
    cells = [Cell() for _ in columns]
    for row in rows:
        for piece in row:
            cells[max(sum(start <= piece.left + 1 for start in columns) - 1, 0)].lines.append(piece)
    return cells


def _header_rows(table: Sequence[Sequence[Cell]]) -> int:
    """One, if all that stands in the first row is bold, and not all of the second."""

    def bold(cells: Sequence[Cell]) -> bool:
        lines = [line for cell in cells for line in cell.lines]
        return bool(lines) and all(line.bold for line in lines)

    return int(len(table) > 1 and bold(table[0]) and not bold(table[1]))
