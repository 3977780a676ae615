"""Which parts of a page are figures: its images, and clusters of drawn curves. Pure."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kb_pipeline.steps.pdf.model import Box, Drawing, Page

SMALLEST_SIDE = 40
"""Pixels of an image; smaller ones are icons, bullets and rules."""
SMALLEST_SHOWN = 18.0
"""Points of a page: 40 pixels at 150 dpi."""
_SMALLEST_DRAWN = 40.0
"""Points of each side of a drawing; smaller ones are arrows, boxes to tick and logos."""
_NEAR = 4.0
"""Points between the parts of one drawing."""
_EDGE = 0.7
"""Points by which edges of two slices of an image may differ: a pixel at 100 dpi."""
LARGEST_ICON = 40.0
"""Points of an image that is the same wherever it stands; a larger one is the same only at the same place."""
_SAME_PLACE = 20.0
"""Points to which places are rounded when a figure is looked for on other pages."""
_MOST_PARTS = 3_000
"""Shapes and images of a page that are grouped; a map has more, and is no figure among text."""
WHOLE_PAGE = 0.85
"""Share of a page from which a picture on it is its ground."""
MOST_TEXT = 0.25
"""Share of a drawing's area that words may cover; above it is a frame around text."""
LONGEST_LABEL = 8
"""Words of a line on a picture; a longer one is text in a frame."""
_LEAST_CURVES = 3
"""Curves of a drawing; one or two are a bracket or a ring around a word."""
_MOST_FIGURES = 40
"""Figures of a page. More are a pattern, or a picture in slices."""
_REPEATED_SHARE = 1 / 3
"""Share of the pages from which a figure is furniture: a logo, an ornament."""
_LEAST_REPEATED = 3
"""Pages from which that is judged; in a document of two pages both may show the same."""


class Raster(NamedTuple):
    """An image on a page: where, its pixels, the id of its marked content (-1 without), and what it is equal by."""

    box: Box
    width: int
    height: int
    mcid: int = -1
    key: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Region:
    """A part of a page that is a figure. ``scale`` is in pixels a point.

    ``key`` is equal for those that look alike: large ones only at the same place of their
    pages, as an example may be shown again, but a logo stands where it was. ``is_drawing`` says that no image is in it.
    """

    box: Box
    scale: float = 150 / 72
    mcids: tuple[int, ...] = ()
    key: tuple[object, ...] = ()
    is_drawing: bool = False


def figure_regions(page: Page, rasters: Sequence[Raster]) -> list[Region]:
    """Find the figures of a page, from its top to its bottom.

    Slices of an image are one figure, and so is an image with what is drawn on it. Images behind the
    whole page are none.
    """
    sheet = Box(0, 0, page.width, page.height)
    shown = [raster for raster in rasters if _is_shown(raster, sheet)]
    curves = [drawing for drawing in page.drawings if drawing.curved and _is_part(drawing.box, sheet)]
    parts: list[Box] = [clipped(raster.box, sheet) for raster in shown] + [drawing.box for drawing in curves]
    if len(parts) > _MOST_PARTS:
        return []

    def are_one(one: int, other: int) -> bool:
        if max(one, other) < len(shown):
            return shown[one].mcid == shown[other].mcid and _are_slices(parts[one], parts[other])
        return _touch(parts[one], parts[other])

    regions = []
    for members in _clusters(parts, are_one):
        box = parts[members[0]]
        for member in members[1:]:
            box = box.union(parts[member])
        images = [shown[member] for member in members if member < len(shown)]
        if not images and not _is_drawing(box, [curves[member - len(shown)] for member in members], page):
            continue
        if not images:
            box = _with_lines(box, page.drawings, sheet)
        if area(box) > WHOLE_PAGE * area(sheet) and page.words:
            continue
        native = max((raster.width / max(raster.box.width, 1) for raster in images), default=150 / 72)
        scale = min(max(native, 1.0), 6.0) if images else native
        key: tuple[object, ...] = tuple(raster.key for raster in images)
        if not images or max(box.width, box.height) > LARGEST_ICON:
            key += tuple(round(side / _SAME_PLACE) for side in box)
        regions.append(Region(box, scale, tuple(raster.mcid for raster in images if raster.mcid >= 0), key, not images))
    regions.sort(key=lambda region: (round(region.box.top), region.box.left))
    return regions if len(regions) <= _MOST_FIGURES else []


def repeated(keys_by_page: Sequence[Sequence[tuple[object, ...]]], pages: int) -> set[tuple[object, ...]]:
    """The keys of figures that stand on more than a third of all ``pages``: logos and ornaments."""
    counts = Counter(key for keys in keys_by_page for key in set(keys))
    return {key for key, count in counts.items() if count >= _LEAST_REPEATED and count > pages * _REPEATED_SHARE}


def _is_shown(raster: Raster, sheet: Box) -> bool:
    box = clipped(raster.box, sheet)
    if min(raster.width, raster.height) < SMALLEST_SIDE or min(box.width, box.height) < SMALLEST_SHOWN:
        return False
    return area(box) <= WHOLE_PAGE * area(sheet)


def _is_part(box: Box, sheet: Box) -> bool:
    return sheet.holds(*box.middle) and area(box) <= WHOLE_PAGE * area(sheet)


def _is_drawing(box: Box, curves: Sequence[Drawing], page: Page) -> bool:
    if box.width < _SMALLEST_DRAWN or box.height < _SMALLEST_DRAWN or len(curves) < _LEAST_CURVES:
        return False
    covered = sum(area(word.box) for word in page.words if box.holds(*word.box.middle))
    return covered < MOST_TEXT * area(box)


def _with_lines(box: Box, drawings: Sequence[Drawing], sheet: Box) -> Box:
    """The box with the straight lines that touch it, such as the axes of a plot."""
    for drawing in drawings:
        if not drawing.curved and _touch(drawing.box, box) and area(drawing.box) < 0.5 * area(sheet):
            box = box.union(drawing.box)
    return clipped(box, sheet)


def _clusters(boxes: Sequence[Box], are_one: Callable[[int, int], bool]) -> list[list[int]]:
    """Groups of boxes that are one figure, as their places."""
    leader = list(range(len(boxes)))

    def find(place: int) -> int:
        while leader[place] != place:
            leader[place] = leader[leader[place]]
            place = leader[place]
        return place

    order = sorted(range(len(boxes)), key=lambda place: boxes[place].top)
    active: list[int] = []
    for place in order:
        active = [other for other in active if boxes[other].bottom + _NEAR >= boxes[place].top]
        for other in active:
            if are_one(place, other):
                leader[find(place)] = find(other)
        active.append(place)
    groups: dict[int, list[int]] = {}
    for place in range(len(boxes)):
        groups.setdefault(find(place), []).append(place)
    return list(groups.values())


def _are_slices(one: Box, other: Box) -> bool:
    """Whether two images are slices of one: they share a whole edge."""
    rows = abs(one.left - other.left) < _EDGE and abs(one.right - other.right) < _EDGE
    columns = abs(one.top - other.top) < _EDGE and abs(one.bottom - other.bottom) < _EDGE
    meet = min(abs(one.bottom - other.top), abs(other.bottom - one.top)) < _EDGE
    join = min(abs(one.right - other.left), abs(other.right - one.left)) < _EDGE
    return (rows and meet) or (columns and join)


def _touch(one: Box, other: Box) -> bool:
    beside = one.left <= other.right + _NEAR and other.left <= one.right + _NEAR
    return beside and one.top <= other.bottom + _NEAR and other.top <= one.bottom + _NEAR


def clipped(box: Box, sheet: Box) -> Box:
    """The part of the box that is on the sheet."""
    left, top = max(box.left, sheet.left), max(box.top, sheet.top)
    return Box(left, top, max(left, min(box.right, sheet.right)), max(top, min(box.bottom, sheet.bottom)))


def area(box: Box) -> float:
    """The area of a box in square points."""
    return box.width * box.height
