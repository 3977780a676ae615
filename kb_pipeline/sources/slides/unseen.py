"""Finds what readers of a slide do not see, and takes it out: hidden shapes, those beside the slide, unseen text.

Text is unseen without a fill, smaller than a point, or in the colour of its ground: that of its shape, or that of the
slide where no other shape may be behind it. Where a colour or the ground is not certain, the text is seen.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from kb_pipeline.sources.office import name_of, number_of
from kb_pipeline.sources.slides.reading_order import ReadingBox
from kb_pipeline.sources.slides.text import A

Element = Any
"""An element of lxml."""
Place = Callable[[ReadingBox], ReadingBox]
"""From a box inside of a group to that on the slide."""

_SHAPES = ("{*}sp", "{*}pic", "{*}grpSp", "{*}graphicFrame", "{*}cxnSp", "{*}AlternateContent")
_FILLS = ("noFill", "solidFill", "gradFill", "blipFill", "pattFill", "grpFill")
_YES = ("1", "true")
_SAME = 8
"""Levels of 255 by which a colour differs from its ground and nobody sees it."""
_LEAST_SIZE = 100
"""Hundredths of a point below which nobody reads a letter."""
_HEX = re.compile(r"[0-9A-Fa-f]{6}")


class Ground(NamedTuple):
    """What lies behind the shapes of a slide: its colour, "" if it is not certain, and boxes of other shapes."""

    colour: str
    boxes: Sequence[ReadingBox]


class Colours:
    """The colours of a presentation: those of its theme have names, which the master maps."""

    def __init__(self, theme: Element | None, mapping: Element | None) -> None:
        scheme = None if theme is None else next(theme.iter(f"{A}clrScheme"), None)
        named = {} if scheme is None else {name_of(one): one[0] for one in scheme if len(one)}
        colours = {name: colour.get("lastClr") or colour.get("val", "") for name, colour in named.items()}
        mapped = {} if mapping is None else {name: colours.get(to, "") for name, to in mapping.attrib.items()}
        self._named: Mapping[str, str] = {**colours, **mapped}

    def of(self, fill: Element | None) -> str:
        """The colour of a fill, "" if it is none, is mixed from others, or is transparent."""
        if fill is None or not len(fill):
            return ""
        colour = fill[0]
        if (name_of(fill) == "bgRef" and fill.get("idx") != "1001") or len(colour):
            return ""
        value = colour.get("lastClr") or colour.get("val", "")
        written = self._named.get(value, "") if name_of(colour) == "schemeClr" else value
        return written.lower() if _HEX.fullmatch(written) else ""


class Sight:
    """How the shapes of one slide are seen. ``box_of`` tells where a shape stands by itself or by its layout."""

    def __init__(
        self,
        size: tuple[float, float],
        colours: Colours,
        ground: Ground,
        box_of: Callable[[Element], ReadingBox],
        inherited: Callable[[Element], Iterator[Element]],
    ) -> None:
        self._size, self._colours, self._ground = size, colours, ground
        self._box_of, self._inherited = box_of, inherited

    def leave_out_unseen(self, tree: Element) -> int:
        """Take out of a tree of shapes what no reader sees, in place; return the number of words."""
        words = sum(self._leave_out_shapes(tree, lambda box: box))
        behind = list(self._ground.boxes)
        for shape in tree.iterchildren(*_SHAPES):
            ground = self._ground_of(shape, behind)
            for run in list(shape.iter(f"{A}r", f"{A}fld")):
                if not self._is_seen(run, ground):
                    words += _words_in(run)
                    run.getparent().remove(run)
            if paints(shape):
                behind.append(self._box_of(shape))
        return words

    def _leave_out_shapes(self, tree: Element, place: Place) -> Iterator[int]:
        for shape in list(tree.iterchildren(*_SHAPES)):
            if name_of(shape) == "AlternateContent":
                for choice in shape:
                    yield from self._leave_out_shapes(choice, place)
                continue
            properties = next(shape.iter("{*}cNvPr"), None)
            is_hidden = properties is not None and properties.get("hidden") in _YES
            if is_hidden or self._is_beside(shape, place):
                yield _words_in(shape)
                tree.remove(shape)
            elif name_of(shape) == "grpSp":
                yield from self._leave_out_shapes(shape, _inside(shape, place))

    def _is_beside(self, shape: Element, place: Place) -> bool:
        box = self._box_of(shape)
        if not box.width and not box.height:
            return False
        width, height = self._size
        left, top, across, down = place(box)
        turned = next(shape.iter(f"{A}xfrm", "{*}xfrm"), None)
        if turned is not None and turned.get("rot", "0") != "0":  # wherever it reaches when it is turned
            longest = across + down
            left, top, across, down = left - longest, top - longest, across + 2 * longest, down + 2 * longest
        return left >= width or top >= height or left + across <= 0 or top + down <= 0

    def _ground_of(self, shape: Element, behind: Sequence[ReadingBox]) -> str:
        """The colour behind the text of a shape, "" if it is not certain."""
        if name_of(shape) != "sp":
            return ""
        for one in (shape, *self._inherited(shape)):
            if (fill := _fill_of(one)) is not None and name_of(fill) != "noFill":
                return self._colours.of(fill) if name_of(fill) == "solidFill" else ""
            if fill is not None:
                break
            if _has_styled_fill(one):
                return ""
        box = self._box_of(shape)
        return "" if any(_overlap(box, other) for other in behind) else self._ground.colour

    def _is_seen(self, run: Element, ground: str) -> bool:
        properties = run.find(f"{A}rPr")
        if properties is None or not _words_in(run):
            return True
        size = properties.get("sz", "")
        if size.isdecimal() and int(size) < _LEAST_SIZE:
            return False
        fill = next((one for one in properties if name_of(one) in _FILLS), None)
        if fill is None:
            return True
        alpha = next(fill.iter(f"{A}alpha"), None)
        is_empty = name_of(fill) == "noFill" or (alpha is not None and alpha.get("val", "").rstrip("%") == "0")
        if is_empty:
            return properties.find(f"{A}ln") is not None
        colour = self._colours.of(fill) if name_of(fill) == "solidFill" else ""
        return not (colour and ground and _is_same(colour, ground))


def paints(shape: Element) -> bool:
    """Whether a shape paints more than its text."""
    return name_of(shape) != "sp" or _has_styled_fill(shape) or _fill_name(shape) not in ("", "noFill")


def _fill_of(shape: Element) -> Element | None:
    properties = shape.find("{*}spPr")
    return None if properties is None else next((one for one in properties if name_of(one) in _FILLS), None)


def _fill_name(shape: Element) -> str:
    fill = _fill_of(shape)
    return "" if fill is None else name_of(fill)


def _has_styled_fill(shape: Element) -> bool:
    reference = shape.find(f"{{*}}style/{A}fillRef")
    return _fill_of(shape) is None and reference is not None and reference.get("idx", "0") != "0"


def _inside(group: Element, place: Place) -> Place:
    """The place of what is inside of a group, whose own coordinates are stretched to its box."""
    frame = group.find(f"{{*}}grpSpPr/{A}xfrm")
    parts = [None if frame is None else frame.find(f"{A}{name}") for name in ("off", "ext", "chOff", "chExt")]
    if any(part is None for part in parts):
        return lambda _: ReadingBox(0, 0, 1, 1)  # where it stands is not known
    off, ext, inner_off, inner_ext = (
        [number_of(part.get(key)) for key in keys]  # type: ignore[union-attr]
        for part, keys in zip(parts, (("x", "y"), ("cx", "cy"), ("x", "y"), ("cx", "cy")), strict=True)
    )
    across, down = (outer / inner if inner else 1.0 for outer, inner in zip(ext, inner_ext, strict=True))

    def inside(box: ReadingBox) -> ReadingBox:
        left, top = off[0] + (box.left - inner_off[0]) * across, off[1] + (box.top - inner_off[1]) * down
        return place(ReadingBox(left, top, box.width * across, box.height * down))

    return inside


def _overlap(one: ReadingBox, other: ReadingBox) -> bool:
    is_beside = one.left >= other.left + other.width or other.left >= one.left + one.width
    return not is_beside and one.top < other.top + other.height and other.top < one.top + one.height


def _is_same(colour: str, ground: str) -> bool:
    pairs = (slice(place, place + 2) for place in (0, 2, 4))
    return all(abs(int(colour[at], 16) - int(ground[at], 16)) < _SAME for at in pairs)


def _words_in(element: Element) -> int:
    return sum(len((text.text or "").split()) for text in element.iter(f"{A}t"))
