"""Changes to the texts of a tree, and points in these texts.

Changes are collected first and applied at once, so that positions stay valid until then.
"""

from collections.abc import Container, Iterator
from typing import NamedTuple

from kb_pipeline.steps.html.dom import Element, dissolve, is_block
from kb_pipeline.steps.restore.words import Spot

_DASHES = "-‐‑‒–—―−"
_QUOTES = "\"'“”„‟‘’‚‛«»‹›′″`"


class Point(NamedTuple):
    """A position between two characters of a text."""

    spot: Spot
    offset: int


class Edits:
    """The collected changes to one tree."""

    def __init__(self) -> None:
        self._edits: dict[Spot, list[tuple[int, int, int, str]]] = {}

    def replace(self, spot: Spot, start: int, end: int, text: str) -> None:
        """Replace these characters by ``text``; later texts for the same position follow earlier ones."""
        edits = self._edits.setdefault(spot, [])
        edits.append((start, len(edits), end, text))

    def insert(self, point: Point, text: str) -> None:
        self.replace(point.spot, point.offset, point.offset, text)

    def apply(self) -> None:
        for spot, edits in self._edits.items():
            text = spot.text
            for start, _, end, new in sorted(edits, reverse=True):
                text = text[:start] + new + text[end:]
            spot.write(text)


def before(element: Element) -> Point:
    """Return the point directly before an element."""
    previous, parent = element.getprevious(), element.getparent()
    spot = Spot(previous, True) if previous is not None else Spot(element if parent is None else parent, False)
    return Point(spot, len(spot.text))


def after(element: Element) -> Point:
    """Return the point directly after an element."""
    return Point(Spot(element, True), 0)


def inline_ancestors(spot: Spot) -> Iterator[Element]:
    """Return the inline elements around a text, innermost first."""
    element: Element | None = spot.parent
    while element is not None and not is_block(element):
        yield element
        element = element.getparent()


def at_one_level(start: Point, end: Point, inside: Container[object]) -> tuple[Point, Point]:
    """Move both points out of formatting that contains only one of them, or whose tag is in ``inside``.

    Formatting that would be cut in two is dissolved.
    """
    around_start, around_end = list(inline_ancestors(start.spot)), list(inline_ancestors(end.spot))
    for element in around_start:
        if element not in around_end:
            start = _leave(element, start, before(element), start.spot.text[: start.offset])
    for element in around_end:
        if element not in around_start:
            end = _leave(element, end, after(element), end.spot.text[end.offset :])
    while start.spot.parent is end.spot.parent and not is_block(element := start.spot.parent):
        whole = start == Point(Spot(element, False), 0) and _is_end(element, end)
        if element.tag != "code" and not (whole and element.tag in inside):
            break
        start, end = before(element), after(element)
    return start, end


def _leave(element: Element, point: Point, outside: Point, between: str) -> Point:
    at_edge = point.spot.parent is element and not between.strip()
    if element.tag == "code" or at_edge:
        return outside
    dissolve(element)
    return point


def _is_end(element: Element, point: Point) -> bool:
    last = Spot(element[-1], True) if len(element) else Spot(element, False)
    return point.spot == last and point.offset == len(last.text)


def after_signs(point: Point, signs: str) -> Point:
    """Return the point after those of the ``signs`` that follow, even beyond the end of formatting."""
    while signs:
        element = point.spot.parent
        if _is_end(element, point) and not is_block(element):
            beyond = after_signs(after(element), signs)
            return beyond if beyond != after(element) else point
        if not _alike(point.spot.text[point.offset : point.offset + 1], signs[0]):
            break
        point, signs = point._replace(offset=point.offset + 1), signs[1:]
    return point


def before_signs(point: Point, signs: str) -> Point:
    """Return the point before those of the ``signs`` that precede it, even before the start of formatting."""
    while signs:
        element = point.spot.parent
        if point == Point(Spot(element, False), 0) and not is_block(element):
            beyond = before_signs(before(element), signs)
            return beyond if beyond != before(element) else point
        if not point.offset or not _alike(point.spot.text[point.offset - 1], signs[-1]):
            break
        point, signs = point._replace(offset=point.offset - 1), signs[:-1]
    return point


def signs_around(text: str, first: str, last: str) -> tuple[str, str]:
    """Return the text before the first word and after the last word."""
    return text[: max(0, text.find(first))], text[text.rfind(last) + len(last) :]


def _alike(written: str, sign: str) -> bool:
    """Return whether the signs are equal; all quotation marks are alike, and so are all dashes."""
    return written == sign or (written != "" and any(written in kind and sign in kind for kind in (_QUOTES, _DASHES)))
