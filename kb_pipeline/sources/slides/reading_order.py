"""The order in which people read boxes on a page: rows from top to bottom, columns from left to right."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

T = TypeVar("T")

_OVERLAP = 0.08
"""The share of its size by which a box may reach over a gap; frames of text are larger than their text."""


class ReadingBox(NamedTuple):
    """A box in any unit; ``top`` grows downwards."""

    left: float
    top: float
    width: float
    height: float


def in_reading_order(items: Sequence[T], box_of: Callable[[T], ReadingBox]) -> list[T]:
    """Return the items in reading order.

    They are parted along the widest gap that goes through from side to side or from top to bottom, again and again.
    So a heading stays with the text close below it, although another column begins beside both.
    """
    if len(items) < 2:
        return list(items)
    boxes = [box_of(item) for item in items]
    cuts = [
        cut
        for cut in (
            _widest_gap([(box.top, box.height) for box in boxes]),
            _widest_gap([(box.left, box.width) for box in boxes]),
        )
        if cut
    ]
    if not cuts:
        order = sorted(range(len(items)), key=lambda at: (boxes[at].top, boxes[at].left))
        return [items[at] for at in order]
    first = max(cuts, key=lambda cut: cut.width).before
    groups = ([item for at, item in enumerate(items) if (at in first) is is_first] for is_first in (True, False))
    return [item for group in groups for item in in_reading_order(group, box_of)]


class _Gap(NamedTuple):
    """A gap between spans, and the indexes of those before it."""

    width: float
    before: frozenset[int]


def _widest_gap(spans: Sequence[tuple[float, float]]) -> _Gap | None:
    """Return the widest gap between spans (begin, length), or ``None`` if they leave none."""
    edges = sorted(
        (begin + size * _OVERLAP, begin + size * (1 - _OVERLAP), at) for at, (begin, size) in enumerate(spans)
    )
    gaps, end = [], edges[0][1]
    for position, (begin, its_end, _) in enumerate(edges):
        if position and begin >= end:
            gaps.append(_Gap(begin - end, frozenset(at for _, _, at in edges[:position])))
        end = max(end, its_end)
    return max(gaps, key=lambda gap: gap.width, default=None)
