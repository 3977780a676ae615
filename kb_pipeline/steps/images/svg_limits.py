"""What an SVG may ask of the renderer, checked before it is rendered.

A drawing of a kilobyte can ask for hours: ten nested patterns that each use the previous one ten times. Expanding all
references as the renderer would, but only counting, finds these; results are kept per element, so that it takes
linear time. And far-away coordinates overflow the renderer's arithmetic, which ends the process.
"""

import re
from collections.abc import Iterator

from lxml import etree

from kb_pipeline.errors import ImageError

MAX_COST = 200_000.0
"""In drawn elements. Of 2,600 drawings of desktop icons and book figures the most costly has 19,000."""

MAX_COORDINATE = 1e7
"""In user units; icons drawn by hand reach 1e6 in their gradients."""

MAX_DEPTH = 250
"""Nesting, references included."""

_PIXELS_PER_UNIT = 2_000
"""Pixels of an intermediate layer that take as long as drawing one small element."""

_LAYERS = frozenset({"mask", "filter", "pattern", "clipPath"})
_REFERENCE = re.compile(r"url\(\s*['\"]?#([^'\")\s]+)")
_STYLE_RULE = re.compile(r"\.([\w-]+)[^{}]*\{([^{}]*)\}")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_GEOMETRY = frozenset({"d", "points", "x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "rx", "ry", "width", "height"})
_XLINK_HREF = "{http://www.w3.org/1999/xlink}href"
_BOUNDS = {("feTurbulence", "numOctaves"): 10.0, ("feMorphology", "radius"): 50.0}
"""Filter parameters that set the time per pixel."""


def check_limits(root: etree._Element, pixels: int) -> None:
    """Refuse a drawing that the renderer would not finish.

    Raises:
        ImageError: too much to draw, a reference to itself, an excessive filter, or a coordinate too far away.
    """
    if any(abs(float(number)) > MAX_COORDINATE for number in _coordinates(root)):
        raise ImageError(f"the SVG holds a coordinate beyond {MAX_COORDINATE:g}")
    for (tag, attribute), bound in _BOUNDS.items():
        for element in root.iter(f"{{*}}{tag}"):
            if any(_number(value) > bound for value in element.get(attribute, "").replace(",", " ").split()):
                raise ImageError(f"the SVG asks for {tag} with {attribute} above {bound:g}")
    if _Costs(root, pixels).of(root) > MAX_COST:
        raise ImageError("the SVG multiplies its content through references beyond what can be drawn")


def _coordinates(root: etree._Element) -> Iterator[str]:
    for element in root.iterdescendants():
        for attribute in _GEOMETRY.intersection(element.attrib):
            yield from _NUMBER.findall(element.get(attribute, ""))


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


class _Costs:
    """Cost of each element with all it refers to."""

    def __init__(self, root: etree._Element, pixels: int) -> None:
        self.layer_cost = pixels / _PIXELS_PER_UNIT
        self.by_id = {element.get("id"): element for element in root.iter() if element.get("id")}
        sheets = " ".join(str(style.xpath("string()")) for style in root.iter("{*}style"))
        self.by_class = {name: _REFERENCE.findall(body) for name, body in _STYLE_RULE.findall(sheets)}
        self.known: dict[etree._Element, float] = {}
        self.open: set[etree._Element] = set()

    def of(self, element: etree._Element) -> float:
        if element in self.known:
            return self.known[element]
        if element in self.open or len(self.open) > MAX_DEPTH:
            raise ImageError("the SVG refers to itself or is nested too deeply")
        self.open.add(element)
        cost = 1.0 + sum(self.of(child) for child in element)
        for target in self._referred(element):
            cost += self.of(target) + (self.layer_cost if etree.QName(target).localname in _LAYERS else 0.0)
        self.open.remove(element)
        self.known[element] = cost
        return cost

    def _referred(self, element: etree._Element) -> list[etree._Element]:
        names = [name for value in element.attrib.values() for name in _REFERENCE.findall(str(value))]
        names += [element.get(key, "").removeprefix("#") for key in ("href", _XLINK_HREF)]
        names += [name for word in element.get("class", "").split() for name in self.by_class.get(word, ())]
        return [self.by_id[name] for name in names if name in self.by_id]
