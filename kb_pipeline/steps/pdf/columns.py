"""The order in which the rows of a page are read: columns one after the other.

Columns are told from tables by their fill: in a column of text, lines reach from its left to its right; cells do not.
"""

from collections.abc import Iterator, Sequence

from kb_pipeline.steps.pdf.lines import Line, Row

_FEWEST_ROWS = 6
_GUTTER = 7.0
_FILL = 0.55


def regions(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """The rows of each column, top to bottom, left to right; what spans columns stands by itself."""
    begin = 0
    while begin < len(rows):
        found = _columns_from(rows, begin)
        if found is None:
            break
        first, last, gutter = found
        if first > begin:
            yield list(rows[begin:first])
        left = [side for row in rows[first:last] if (side := [piece for piece in row if piece.right <= gutter + 1])]
        right = [side for row in rows[first:last] if (side := [piece for piece in row if piece.right > gutter + 1])]
        yield from regions(left)
        yield from regions(right)
        begin = last
    if begin < len(rows):
        yield list(rows[begin:])


def _columns_from(rows: Sequence[Row], begin: int) -> tuple[int, int, float] | None:
    """The first stretch of rows in two columns: its first and last row (excluded), and the x between the columns."""
    tried: set[int] = set()
    for start in range(begin, len(rows) - _FEWEST_ROWS + 1):
        if len(rows[start]) < 2:
            continue
        for before, after in zip(rows[start], rows[start][1:], strict=False):
            if after.left - before.right < _GUTTER:
                continue
            gutter = (before.right + after.left) / 2
            if round(gutter / 6) in tried:
                continue
            tried.add(round(gutter / 6))
            found = _stretch(rows, begin, start, after.left)
            if found:
                return found
    return None


def _stretch(rows: Sequence[Row], begin: int, start: int, right_edge: float) -> tuple[int, int, float] | None:
    """The rows around ``start`` that nothing crosses left of ``right_edge``, if they are text in columns."""
    gutter = right_edge - 3

    def crossed(row: Row) -> bool:
        return any(piece.left < gutter - 1 and piece.right > gutter for piece in row)

    first = start
    while first > begin and not crossed(rows[first - 1]):
        first -= 1
    last = start
    while last < len(rows) and not crossed(rows[last]):
        last += 1
    left = [piece for row in rows[first:last] for piece in row if piece.right <= gutter + 1]
    right = [piece for row in rows[first:last] for piece in row if piece.right > gutter + 1]
    if not _is_text(left) or not _is_text(right):
        return None
    # what stands above or below both columns on one side only belongs to no column: a heading, a last line
    while first < last and rows[first][0].right <= gutter and len(rows[first]) == 1 and first < start - 3 * len(right):
        first += 1
    return first, last, gutter


def _is_text(pieces: Sequence[Line]) -> bool:
    if len(pieces) < _FEWEST_ROWS:
        return False
    left, right = min(piece.left for piece in pieces), max(piece.right for piece in pieces)
    width = max(right - left, 1)
    size = max(piece.size for piece in pieces)
    return width > 9 * size and sum(piece.box.width for piece in pieces) / len(pieces) / width > _FILL
