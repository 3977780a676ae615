"""Tables without any lines: rows whose words stand in the same columns. Texts side by side are none."""

import re
from collections.abc import Iterator, Sequence

from kb_pipeline.steps.pdf.lines import Line, Row
from kb_pipeline.steps.pdf.table_columns import cells_of, columns_of, placed, starts_of
from kb_pipeline.steps.pdf.tables import NUMBER, Beside, FoundTable, grouped, header_rows

_MARK = re.compile(r"[•◦▪‣–—*·●○■□✓➢-]|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,5})[.)]")
_ALIGNED = 3.0
"""Points between the edges of cells of a column: rounding, and letters that reach out."""


def borderless(rows: Sequence[Row], leading: float) -> Iterator[tuple[int, int, FoundTable | Beside]]:
    """Stretches of rows (first, behind the last) whose pieces stand in columns: tables, or texts side by side."""
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
        found = _in_columns(rows[begin:end])
        if found:
            yield begin, end, found
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


def _in_columns(rows: Sequence[Row]) -> FoundTable | Beside | None:
    several = [row for row in rows if len(row) > 1]
    columns = columns_of(rows)
    if len(columns) < 2 or len(several) < (3 if len(columns) == 2 else 2):
        return None
    lines = [list(placed(row, columns)) for row in rows]
    alone = [
        [each.piece for line in lines for each in line if each.first == each.last == n] for n in range(len(columns))
    ]
    if sum(_is_prose(pieces) for pieces in alone) > (1 if len(columns) == 2 else 0):
        sides = [[[each.piece] for line in lines for each in line if each.first == n] for n in range(len(columns))]
        return Beside([side for side in sides if side])
    if not all(map(_is_aligned, alone[1:])):
        return None
    places = {id(row): line for row, line in zip(rows, lines, strict=True)}
    groups = [[places[id(row)] for row in group] for group in grouped(rows, starts_of(columns))]
    cells = cells_of(groups, len(columns))
    filled = sum(bool(cell.lines) for row in cells for cell in row)
    if len(cells) < 2 or filled < 0.6 * len(cells) * len(columns):
        return None
    marks = {piece.text for piece in alone[0]}
    if len(marks) == 1 and max(map(len, marks)) == 1:  # a list, by a sign that is no usual one
        return None
    return FoundTable(list(rows), cells, starts_of(columns), header_rows(cells))


def _is_prose(pieces: Sequence[Line]) -> bool:
    """Whether a column is text beside other text: long lines that go on with a small letter."""
    texts = [piece.text for piece in pieces]
    words = sum(len(text.split()) for text in texts)
    going_on = sum(text[0].islower() for text in texts[1:])
    widths = sorted(piece.box.width for piece in pieces)
    is_filled = len(widths) > 2 and widths[len(widths) // 3] > 0.75 * widths[-1]
    return is_filled and words > 4 * len(texts) and going_on > 0.4 * len(texts)


def _is_aligned(pieces: Sequence[Line]) -> bool:
    """Whether the pieces of a column begin or have their middles in one place, or end there if they are numbers."""
    edges = [[piece.left for piece in pieces], [piece.box.middle[0] for piece in pieces]]
    if sum(NUMBER.search(piece.text) is not None for piece in pieces) > 0.5 * len(pieces):
        edges.append([piece.right for piece in pieces])
    return any(
        max((sum(abs(one - other) < _ALIGNED for other in places) for one in places), default=0) >= 0.6 * len(places)
        for places in edges
    )
