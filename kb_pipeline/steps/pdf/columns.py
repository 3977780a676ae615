"""The order in which the rows of a page are read: columns one after the other.

Columns are told from tables by the order of the page's text, which has columns one after the other but the cells of a
row together; and where the order says neither, by their fill: lines of a column reach from its left to its right.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from kb_pipeline.steps.pdf.lines import Line, Row

_FEWEST_ROWS = 6
"""Rows that stand beside each other in two columns of text; fewer are a table, or two captions."""
_GUTTER = 7.0
"""Points between two columns: two wide spaces of a text of 10 points are less."""
_FILL = 0.55
"""Share of a column's width that its rows fill on average; cells of a table leave more free."""


def regions(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """The rows of each column, top to bottom, left to right; what spans columns stands by itself."""
    begin = 0
    while begin < len(rows):
        stretch = _columns_from(rows, begin)
        if stretch is None:
            break
        first, last, gutter = stretch
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
            stretch = _stretch(rows, begin, start, after.left)
            if stretch:
                return stretch
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
    turns = _turns(left, right)
    by_order = min(len(left), len(right)) >= _FEWEST_ROWS and turns == 1 and _side_by_side(left, right)
    if not by_order and (turns > 0.5 * (last - first) or not _is_text(left) or not _is_text(right)):
        return None
    return first, last, gutter


def _turns(left: Sequence[Line], right: Sequence[Line]) -> int:
    """How often the order of the text changes between the sides."""
    sides = sorted([(piece.order, 0) for piece in left] + [(piece.order, 1) for piece in right])
    return sum(one[1] != other[1] for one, other in pairwise(sides))


def _side_by_side(left: Sequence[Line], right: Sequence[Line]) -> bool:
    """Whether the sides share at least half of their height."""
    tops, bottoms = [], []
    for side in (left, right):
        tops.append(min(piece.baseline for piece in side))
        bottoms.append(max(piece.baseline for piece in side))
    return min(bottoms) - max(tops) > 0.5 * min(bottoms[0] - tops[0], bottoms[1] - tops[1])


def _is_text(pieces: Sequence[Line]) -> bool:
    if len(pieces) < _FEWEST_ROWS:
        return False
    left, right = min(piece.left for piece in pieces), max(piece.right for piece in pieces)
    width = max(right - left, 1)
    size = max(piece.size for piece in pieces)
    return width > 9 * size and sum(piece.box.width for piece in pieces) / len(pieces) / width > _FILL
