"""Which figures of a structure tree are drawn from their pages: those with shapes or with words inside. Pure.

Figures that are images and nothing else are found by :mod:`kb_pipeline.steps.pdf.figures`.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce

from kb_pipeline.steps.pdf.figures import LARGEST_ICON, MOST_TEXT, SMALLEST_SHOWN, WHOLE_PAGE, Region, area, clipped
from kb_pipeline.steps.pdf.model import Box, Page, Word
from kb_pipeline.steps.pdf.tagged import Content, Element, alt_of, own_contents

Place = tuple[int, int]
"""A page, counted from 1, and the id of marked content on it."""

_WRITTEN = frozenset(("Table", "TR", "L", "LI", "Code", "TOC", "H", "H1", "H2", "H3", "H4", "H5", "H6"))
"""What has a form of its own as text, so that a figure around it is only a frame."""
_SAME_PLACE = 20.0
"""Points to which places are rounded, as for figures without tags."""


def pages_of_figures(roots: Sequence[Element]) -> set[int]:
    """The pages, counted from 1, on which the tree has figures."""
    return {content.page for figure in _outermost(roots) for content in _inside(figure)}


def tagged_figures(
    roots: Sequence[Element],
    pages: Mapping[int, Page],
    painted: Mapping[Place, Box],
    images: Mapping[int, Sequence[Region]],
) -> Mapping[int, list[Region]]:
    """Find the figures to be drawn, by page, in the order of the tree.

    ``painted`` are the boxes of shapes, by place, and ``images`` the regions with images, by page: a figure
    that is such a region and has no words is not drawn again. The first id of a region is that of the place in the tree
    where its picture stands. Nothing is returned of pages that are not among ``pages``.
    """
    words: dict[Place, list[Word]] = {}
    for page in pages.values():
        for word in page.words:
            if not word.style.hidden:
                words.setdefault((page.number, word.style.mcid), []).append(word)
    found: dict[int, list[Region]] = {}
    waiting = list(_outermost(roots))[::-1]
    while waiting:
        figure = waiting.pop()
        inner = list(_outermost(figure.ordered()))
        is_frame = bool(inner) and not any((own.page, own.mcid) in painted for own in own_contents(figure))
        regions = [] if is_frame or _holds_text_blocks(figure) else _regions(figure, pages, words, painted, images)
        for number, region in regions:
            found.setdefault(number, []).append(region)
        if not regions:
            waiting += inner[::-1]
    return found


def _regions(
    figure: Element,
    pages: Mapping[int, Page],
    words: Mapping[Place, Sequence[Word]],
    painted: Mapping[Place, Box],
    images: Mapping[int, Sequence[Region]],
) -> list[tuple[int, Region]]:
    """The parts of the pages on which the figure stands, none if one of them is no picture."""
    ids: dict[int, list[int]] = {}
    for content in own_contents(figure):  # first, as the picture stands there
        ids.setdefault(content.page, []).append(content.mcid)
    for content in _inside(figure):
        if content.mcid not in ids.setdefault(content.page, []):
            ids[content.page].append(content.mcid)
    regions = []
    for number, mcids in ids.items():
        page = pages.get(number)
        written = [word for mcid in mcids for word in words.get((number, mcid), ())]
        shapes = [painted[number, mcid] for mcid in mcids if (number, mcid) in painted]
        alt = alt_of(figure)
        within = [image for image in images.get(number, ()) if set(mcids).intersection(image.mcids)]
        if page is None or not (shapes or (written and (alt or within))) or (within and not written):
            return []
        sheet = Box(0, 0, page.width, page.height)
        parts = [*shapes, *(word.box for word in written), *(image.box for image in within)]
        box = clipped(reduce(Box.union, parts), sheet)
        is_icon = min(box.width, box.height) < SMALLEST_SHOWN or max(box.width, box.height) <= LARGEST_ICON
        if is_icon or area(box) > WHOLE_PAGE * area(sheet):
            return []
        if sum(area(word.box) for word in written) >= MOST_TEXT * area(box):  # a frame around text
            return []
        key = (alt, len(shapes), *(word.text for word in written), *(round(side / _SAME_PLACE) for side in box))
        scale = max((image.scale for image in within), default=150 / 72)
        regions.append((number, Region(box, scale, tuple(mcids), key)))
    return regions


def _outermost(nodes: Sequence[Element | Content]) -> Iterator[Element]:
    """The figures among the nodes and inside of them, without those that are inside of other figures."""
    for node in nodes:
        if isinstance(node, Element) and node.kind == "Figure":
            yield node
        elif isinstance(node, Element) and node.kind not in ("Artifact", "Caption"):
            yield from _outermost(node.ordered())


def _inside(figure: Element) -> Iterator[Content]:
    """All contents of a figure but those of captions."""
    for child in figure.ordered():
        if isinstance(child, Content):
            yield child
        elif child.kind not in ("Artifact", "Caption"):
            yield from _inside(child)


def _holds_text_blocks(figure: Element) -> bool:
    return any(
        isinstance(child, Element) and child.kind != "Caption" and (child.kind in _WRITTEN or _holds_text_blocks(child))
        for child in figure.ordered()
    )
