"""Tables that lines draw, or cells in colour, with cells that span where no line divides them."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from kb_pipeline.steps.pdf.blocks import Cell
from kb_pipeline.steps.pdf.lines import Line, Row, part_of
from kb_pipeline.steps.pdf.model import Box, Drawing, Word
from kb_pipeline.steps.pdf.ruled_tables import Rules, table_of_rules
from kb_pipeline.steps.pdf.tables import NEAR, NUMBER, SHORTEST, THIN, FoundTable, distinct, header_rows

_MOST_LINES = 1500
"""Lines of a page that are compared with each other; a map or a chart has more, and is no table."""
_MOST_WORK = 1_000_000
"""Cells by lines: bounds what hostile pages cost."""
_HIGHEST = 200.0
"""Points of a cell in colour: more is the ground of a part of the page."""
_WHOLE_WIDTH = 0.9
"""Share of a table's width from which a line divides rows; a shorter one stands below a head of some columns."""
_FEWEST_FILLED, _FILLED = 2, 0.3
"""Cells with words, and their share of all cells, of a table; with fewer it is a form, or a chart."""
_WORDS = re.compile(r"\w\w|\d|[\u2e80-\u9fff\uac00-\ud7af]")


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
    lines += _edges([drawing.box for drawing in drawings if drawing.filled and not drawing.curved])
    horizontal = [box for box in lines if box.height <= THIN and box.width >= SHORTEST]
    vertical = [box for box in lines if box.width <= THIN and box.height >= SHORTEST]
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
        xs, ys = distinct(box.middle[0] for box in down), distinct(box.middle[1] for box in across)
        if across:
            # tables are often open at their sides
            edges = min(box.left for box in across), max(box.right for box in across)
            xs = distinct([*xs, *edges])
        cells = (len(xs) - 1) * (len(ys) - 1)
        if len(xs) >= 2 and len(ys) >= 2 and cells >= 2 and cells * (len(across) + len(down)) < _MOST_WORK:
            grids.append(Grid(xs, ys, across, down))
    return grids


def _edges(filled: Sequence[Box]) -> Iterator[Box]:
    """The edges of filled boxes that stand side by side: cells in colour need no lines between them."""
    boxes = [box for box in filled if box.width > SHORTEST and SHORTEST < box.height < _HIGHEST]
    by_height: dict[tuple[int, int], list[Box]] = {}
    for box in boxes[:_MOST_LINES]:
        by_height.setdefault((round(box.top), round(box.bottom)), []).append(box)
    rows = [row for boxes in by_height.values() for row in _side_by_side(sorted(boxes))]
    places = Counter(tuple(round(box.left / 3) for box in row) for row in rows)
    above: dict[tuple[int, ...], Box] = {}
    for row in sorted(rows, key=lambda row: row[0].top):
        place = tuple(round(box.left / 3) for box in row)
        if places[place] < 2:  # words that are marked in text
            continue
        for left, top, right, bottom in row:
            yield from (Box(left, y, right, y) for y in (top, bottom))
            yield from (Box(x, top, x, bottom) for x in (left, right))
        last = above.get(place)
        if last and row[0].top - last.bottom < 2 * last.height:  # every second row is in colour
            yield from (Box(x, last.bottom, x, row[0].top) for x in (row[0].left, row[-1].right))
        above[place] = row[0]


def _side_by_side(boxes: Sequence[Box]) -> Iterator[list[Box]]:
    """Two or more boxes each of which begins where the one before ends."""
    row = list(boxes[:1])
    for box in boxes[1:]:
        if abs(box.left - row[-1].right) >= 1.5:
            if len(row) > 1:
                yield row
            row = []
        row.append(box)
    if len(row) > 1:
        yield row


def _touch(vertical: Box, horizontal: Box) -> bool:
    return (
        horizontal.left - NEAR <= vertical.right
        and vertical.left <= horizontal.right + NEAR
        and vertical.top - NEAR <= horizontal.bottom
        and horizontal.top <= vertical.bottom + NEAR
    )


def table_of_grid(grid: Grid, rows: Sequence[Row]) -> FoundTable | None:
    """The table in a grid, with cells that span where no line divides them; ``None`` if there is no text in two."""
    box = grid.box
    held = [[_in(box, piece) for piece in row] for row in rows]
    inside = [row for row, pieces in zip(rows, held, strict=True) if all(pieces)]
    if not inside or any(any(pieces) and not all(pieces) for pieces in held):
        return None  # text that runs over its border stands on lines of something else
    pieces = [piece for row in inside for piece in row]
    table, owner = _cells_of(grid, pieces)
    for piece in pieces:
        for words, cell in _by_cell(grid, owner, piece):
            cell.lines.append(part_of(piece, words))
    if _are_undivided(table):  # its lines divide rows only, and white space the columns
        short = [line for line in grid.horizontal if line.width < _WHOLE_WIDTH * box.width]
        return table_of_rules(inside, Rules(grid.ys, short))
    table = [cells for row in table for cells in _by_lines(row)]
    table = [cells for cells in table if any(cell.lines or cell.rows > 1 for cell in cells)]
    cells_of_words = sum(
        _WORDS.search(line.text) is not None for cells in table for cell in cells for line in cell.lines[:1]
    )
    if cells_of_words < _FEWEST_FILLED or cells_of_words < _FILLED * sum(map(len, table)):
        return None
    return FoundTable(inside, table, grid.xs[:-1], header_rows(table))


def _cells_of(grid: Grid, pieces: Sequence[Line]) -> tuple[list[list[Cell]], dict[tuple[int, int], Cell]]:
    """The empty cells of a grid row by row, and the cell that each of its places belongs to.

    A cell spans as far as no line divides it, unless what stands in it shows that lines only divide its neighbours.
    """
    height, width = len(grid.ys) - 1, len(grid.xs) - 1
    owner: dict[tuple[int, int], Cell] = {}
    table: list[list[Cell]] = []
    line_by_line: dict[int, int] = {}  # columns where each line of text is a cell, and the row down to which it is
    for row in range(height):
        cells = []
        for column in range(width):
            if (row, column) in owner:
                continue
            cell = Cell()
            while column + cell.columns < width and not _divided(grid.vertical, grid, row, column + cell.columns, True):
                cell.columns += 1
            below = row + 1
            while below < height and not _divided(grid.horizontal, grid, below, column, False):
                below += 1
            cell.rows = below - row
            if column in line_by_line and row < line_by_line[column]:
                cell.rows = 1
            elif cell.rows > 2 and _stand_in_rows(grid, pieces, row, column, cell):
                line_by_line[column], cell.rows = below, 1
            taken = [cell]
            if cell.columns > 1 and _stand_in_columns(grid, pieces, row, column, cell):
                taken = [Cell(rows=cell.rows) for _ in range(cell.columns)]
            for down in range(cell.rows):
                for across in range(cell.columns):
                    owner[row + down, column + across] = taken[across % len(taken)]
            cells.extend(taken)
        table.append(cells)
    return table, owner


def _stand_in_rows(grid: Grid, pieces: Sequence[Line], row: int, column: int, cell: Cell) -> bool:
    """Whether a cell that spans rows has a line in nearly each of them: lines divide only the cells beside it."""
    left, right = grid.xs[column], grid.xs[column + cell.columns]
    feet = [piece.baseline - 0.3 * piece.size for piece in pieces if left <= piece.box.middle[0] < right]
    rows = [
        sum(upper <= foot < lower for foot in feet) for upper, lower in pairwise(grid.ys[row : row + cell.rows + 1])
    ]
    return sum(count == 1 for count in rows) > 0.7 * len(rows)


def _stand_in_columns(grid: Grid, pieces: Sequence[Line], row: int, column: int, cell: Cell) -> bool:
    """Whether what is in a cell that spans columns stands in these side by side: lines divide only the header."""
    xs, upper, lower = grid.xs[column : column + cell.columns + 1], grid.ys[row], grid.ys[row + cell.rows]
    inside = [piece for piece in pieces if upper <= piece.baseline - 0.3 * piece.size < lower]
    inside = [piece for piece in inside if xs[0] <= piece.box.middle[0] < xs[-1]]
    places = [sum(x <= piece.box.middle[0] for x in xs) for piece in inside]
    fits = all(
        xs[place - 1] - 3 <= p.left and p.right <= xs[place] + 3 for p, place in zip(inside, places, strict=True)
    )
    return fits and any(
        abs(one.baseline - other.baseline) < 1 and a != b
        for (one, a), (other, b) in combinations(zip(inside, places, strict=True), 2)
    )


def _are_undivided(table: Sequence[Sequence[Cell]]) -> bool:
    """Whether pieces stand side by side in most cells: only white space divides the columns."""
    filled = [cell for cells in table for cell in cells if cell.lines]
    undivided = sum(any(abs(a.baseline - b.baseline) < 1 for a, b in pairwise(cell.lines)) for cell in filled)
    return undivided > 0.5 * len(filled)


def _by_lines(cells: list[Cell]) -> list[list[Cell]]:
    """The rows that are in one between two lines: numbers that stand below each other in several of its cells."""
    filled = [cell for cell in cells if cell.lines]
    feet = [line.baseline for cell in filled for line in cell.lines]
    several = [cell for cell in filled if len(cell.lines) > 1]
    if len(several) < 2 or any(cell.rows > 1 for cell in cells) or not _are_numbers(several):
        return [cells]
    feet = distinct(feet)
    rows = [[Cell(columns=cell.columns) for cell in cells] for _ in feet]
    for place, cell in enumerate(cells):
        for line in cell.lines:
            nearest = min(range(len(feet)), key=lambda number: abs(feet[number] - line.baseline))
            rows[nearest][place].lines.append(line)
    return rows


def _are_numbers(cells: Sequence[Cell]) -> bool:
    """Whether most cells have a number on each of their lines, and these stand beside those of the others."""
    numbers = [cell for cell in cells if all(NUMBER.search(line.text) for line in cell.lines)]
    heights = [{round(line.baseline / 2) for line in cell.lines} for cell in numbers]
    return len(numbers) > max(1, 0.5 * len(cells)) and all(abs(len(one) - len(heights[0])) < 2 for one in heights)


def _in(box: Box, piece: Line) -> bool:
    return box.holds(piece.box.middle[0], piece.baseline - 0.3 * piece.size, 2)


def _divided(lines: Sequence[Box], grid: Grid, row: int, column: int, upright: bool) -> bool:
    """Whether a line stands left of the cell (upright), or above it."""
    if upright:
        x, y = grid.xs[column], (grid.ys[row] + grid.ys[row + 1]) / 2
        return any(abs(line.middle[0] - x) <= NEAR and line.top - 1 <= y <= line.bottom + 1 for line in lines)
    x, y = (grid.xs[column] + grid.xs[column + 1]) / 2, grid.ys[row]
    return any(abs(line.middle[1] - y) <= NEAR and line.left - 1 <= x <= line.right + 1 for line in lines)


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
