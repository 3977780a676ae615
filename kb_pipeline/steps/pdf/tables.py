"""What tables have in common that lines, rules or white space show: their rows, and their header."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile

from kb_pipeline.steps.pdf.blocks import Cell
from kb_pipeline.steps.pdf.lines import Row

THIN = 2.6
"""Points that a line is thick."""
NEAR = 4.0
"""Points by which lines that belong together may miss each other."""
SHORTEST = 8.0
"""Points of a line of a table."""
_MOST_HEADER_ROWS = 3
"""Bold rows at the top that are a header; more are a table in bold."""
NUMBER = re.compile(r"\d|^[\W_]+$|^n/?a$", re.IGNORECASE)
"""What stands in a cell of numbers, or a sign for none."""


@dataclass(slots=True)
class FoundTable:
    """A table: the rows of the page that it takes, its cells row by row, and where its columns begin."""

    rows: list[Row]
    cells: list[list[Cell]]
    columns: list[float]
    header_rows: int = 0


@dataclass(slots=True)
class Beside:
    """Texts that stand side by side, each with its rows from top to bottom."""

    sides: list[list[Row]]


def distinct(values: Sequence[float] | Iterator[float]) -> list[float]:
    """The values without those that are as good as the one before."""
    different: list[float] = []
    for value in sorted(values):
        if not different or value - different[-1] > NEAR:
            different.append(value)
    return different


def grouped(rows: Sequence[Row], columns: Sequence[float]) -> Iterator[list[Row]]:
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


def header_rows(table: Sequence[Sequence[Cell]]) -> int:
    """How many rows from the first on are bold, if they are few, and not all of the next row is."""

    def is_bold(cells: Sequence[Cell]) -> bool:
        lines = [line for cell in cells for line in cell.lines]
        return bool(lines) and all(line.bold for line in lines)

    count = sum(1 for _ in takewhile(is_bold, table))
    return count if count < len(table) and count <= _MOST_HEADER_ROWS else 0
