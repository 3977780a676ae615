"""SVG files, rasterised by resvg.

An SVG can include files, multiply its content through entities and references, and request any size. Everything that
could access something outside or never end is removed or rejected before rendering. Specification: W3C SVG 1.1 (Second
Edition); see https://github.com/linebender/resvg for what is supported.
"""

import base64
import binascii
import re
import zlib
from urllib.parse import unquote_to_bytes

import resvg_py
from lxml import etree

from kb_pipeline.errors import ImageError
from kb_pipeline.steps.images import raster
from kb_pipeline.steps.images.raster import PngImage

MAX_BYTES = 16_000_000
"""Bytes unpacked; the tree of a drawing takes many times as much memory."""
MAX_SIDE = 2048
"""Maximum side in pixels; larger drawings are scaled down."""

_LONGEST = 1e9
"""Longer lengths are replaced by it, and longer view boxes ignored, to avoid overflows."""

_DEFAULT_SIZE = (300.0, 150.0)
"""The size of a replaced element without a size (CSS 2.1, 10.3.2)."""

_PIXELS = {"": 1.0, "px": 1.0, "pt": 4 / 3, "pc": 16.0, "mm": 96 / 25.4, "cm": 96 / 2.54, "in": 96.0, "em": 16.0}
_LENGTH = re.compile(r"\s*\+?((?:\d++(?:\.\d++)?|\.\d++)(?:e[+-]?\d+)?)\s*([a-z]*)\s*", re.IGNORECASE)
_GZIP = b"\x1f\x8b"
_PEEK = 100_000
"""Bytes in which the first element begins, behind comments and declarations."""
_BLOCK = 1 << 16
"""Bytes that are parsed at a time, because the first element is enough."""
_XML_STARTS = (b"<", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")

MAX_COST = 200_000.0
"""In drawn elements. The highest cost among 2,600 desktop icons and book figures is 19,000."""

MAX_COORDINATE = 1e7
"""In user units; the gradients of hand-drawn icons reach 1e6."""

MAX_DEPTH = 250
"""Nesting depth, including references."""

_PIXELS_PER_UNIT = 2_000
"""Pixels of an intermediate layer that take as much time as one small element."""

_LAYERS = frozenset({"mask", "filter", "pattern", "clipPath"})
_REFERENCE = re.compile(r"url\(\s*+['\"]?#([^'\")\s]++)")
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.S)
_SELECTOR = re.compile(r"[.#]?[\w-]++|\*")
_NUMBER = re.compile(r"[-+]?(?:\d++\.?\d*+|\.\d++)(?:[eE][-+]?\d++)?")
_GEOMETRY = frozenset({"d", "points", "x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "rx", "ry", "width", "height"})
_XLINK_HREF = "{http://www.w3.org/1999/xlink}href"
_BOUNDS = {("feTurbulence", "numOctaves"): 10.0, ("feMorphology", "radius"): 50.0, ("feConvolveMatrix", "order"): 15.0}
"""Maximum values of filter parameters that determine the time per pixel."""

_PASSES = {"feTurbulence": ("numOctaves", 1.0), "feMorphology": ("radius", 2.0), "feConvolveMatrix": ("order", 3.0)}
"""The same parameters with their defaults: how many times longer than others these filter primitives take."""


def is_svg(data: bytes) -> bool:
    """Return whether the bytes are an SVG document (also gzipped or UTF-16): XML whose root is an ``svg`` element."""
    if data.startswith(_GZIP):
        data = _gunzipped(data, _PEEK)
    data = data.lstrip()
    if not data.startswith(_XML_STARTS):
        return False
    parser = etree.XMLPullParser(("start",), no_network=True, load_dtd=False, remove_comments=True, remove_pis=True)
    for start in range(0, len(data), _BLOCK):
        try:
            parser.feed(data[start : start + _BLOCK])
            is_xml = True
        except etree.XMLSyntaxError:
            is_xml = False
        for _, root in parser.read_events():
            assert isinstance(root, etree._Element)
            return str(root.tag).rpartition("}")[2].rpartition(":")[2] == "svg"
        if not is_xml:
            break
    return False


def parse(data: bytes) -> etree._Element:
    """Parse without network, DTD, or entity expansion beyond libxml2's amplification guard.

    Raises:
        ImageError: the SVG is too large or not well-formed.
    """
    if data.startswith(_GZIP):
        data = _gunzipped(data, MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ImageError(f"the SVG is larger than {MAX_BYTES // 1_000_000} MB")
    parser = etree.XMLParser(no_network=True, load_dtd=False, remove_comments=True, remove_pis=True)
    try:
        return etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as exc:
        raise ImageError(f"the SVG is not well-formed XML: {exc}") from exc


def size(root: etree._Element) -> tuple[int, int]:
    """Return the size in pixels at which the drawing is rendered, at most ``MAX_SIDE`` on each side."""
    width, height = (min(max(side, 1.0), _LONGEST) for side in _intrinsic_size(root))
    scale = min(1.0, MAX_SIDE / max(width, height))
    return max(1, round(width * scale)), max(1, round(height * scale))


def render(data: bytes) -> PngImage:
    """Rasterise to a PNG with transparency.

    Raises:
        ImageError: as :func:`parse` and :func:`check_limits`, or the drawing cannot be rendered.
    """
    root = parse(data)
    width, height = size(root)
    check_limits(root, width * height)
    _remove_references_to_files(root)
    _set_size(root, width, height)
    try:
        encoded = bytes(resvg_py.svg_to_bytes(svg_string=etree.tostring(root, encoding="unicode")))
    except ValueError as exc:
        raise ImageError(f"the SVG cannot be rendered: {exc}") from exc
    return PngImage(encoded, width, height)


def check_limits(root: etree._Element, pixels: int) -> None:
    """Reject drawings that the renderer would not finish.

    Raises:
        ImageError: too much to draw, a reference to itself, an excessive filter, or a coordinate too far away.
    """
    for element in root.iterdescendants():
        for attribute in _GEOMETRY.intersection(element.attrib):
            if any(abs(float(number)) > MAX_COORDINATE for number in _NUMBER.findall(element.get(attribute, ""))):
                raise ImageError(f"the SVG holds a coordinate beyond {MAX_COORDINATE:g}")
    for (tag, attribute), bound in _BOUNDS.items():
        for element in root.iter(f"{{*}}{tag}"):
            if any(_number(value) > bound for value in element.get(attribute, "").replace(",", " ").split()):
                raise ImageError(f"the SVG asks for {tag} with {attribute} above {bound:g}")
    if _Costs(root, pixels).of(root) > MAX_COST:
        raise ImageError("the SVG multiplies its content through references beyond what can be drawn")


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def _rules(root: etree._Element) -> dict[str, list[str]]:
    """Map classes (``.name``), ids (``#name``) and tags at the end of selectors to the ids that their rules use."""
    referred: dict[str, list[str]] = {}
    for style in root.iter("{*}style"):
        for rule in _COMMENT.sub(" ", str(style.xpath("string()"))).split("}"):
            selectors, _, body = rule.partition("{")
            if names := _REFERENCE.findall(body):
                for selector in selectors.split(","):
                    last = selector.replace(">", " ").replace("+", " ").split()[-1:]
                    for part in _SELECTOR.findall("".join(last)):
                        referred.setdefault(part, []).extend(names)
    return referred


class _Costs:
    """The costs of elements, including everything they refer to."""

    def __init__(self, root: etree._Element, pixels: int) -> None:
        self.layer_cost = pixels / _PIXELS_PER_UNIT
        self.by_id = {element.get("id"): element for element in root.iter() if element.get("id")}
        self.rules = _rules(root)
        self.costs: dict[etree._Element, float] = {}
        self.sizes: dict[etree._Element, int] = {}
        self.open: set[etree._Element] = set()

    def of(self, element: etree._Element) -> float:
        if element in self.costs:
            return self.costs[element]
        if element in self.open or len(self.open) > MAX_DEPTH:
            raise ImageError("the SVG refers to itself or is nested too deeply")
        self.open.add(element)
        cost = self._own(element) + sum(self.of(child) for child in element)
        self.sizes[element] = 1 + sum(self.sizes[child] for child in element)
        for target in self._referred(element):
            cost += self._of_target(target, element)
        self.open.remove(element)
        self.costs[element] = cost
        return cost

    def _own(self, element: etree._Element) -> float:
        """Return the cost of the element itself; a filter primitive reads and writes a layer, some several times."""
        tag = etree.QName(element).localname
        if not tag.startswith("fe") or tag in ("feMergeNode", "feDistantLight", "fePointLight", "feSpotLight"):
            return 1.0
        passes = 1.0
        if tag in _PASSES:
            attribute, usual = _PASSES[tag]
            passes = max(map(_number, element.get(attribute, "").replace(",", " ").split()), default=usual)
        return 1.0 + self.layer_cost * (passes * passes if tag == "feConvolveMatrix" else passes) / 4

    def _of_target(self, target: etree._Element, element: etree._Element) -> float:
        tag = etree.QName(target).localname
        times = self.sizes[element] if tag in ("pattern", "marker") else 1  # everything in a group inherits it
        if tag == "marker":  # drawn at each point of the line
            times += sum(len(_NUMBER.findall(element.get(points, ""))) for points in ("d", "points")) // 2
        return times * self.of(target) + (self.layer_cost if tag in _LAYERS else 0.0)

    def _referred(self, element: etree._Element) -> list[etree._Element]:
        names = [name for value in element.attrib.values() for name in _REFERENCE.findall(str(value))]
        names += [element.get(key, "").removeprefix("#") for key in ("href", _XLINK_HREF)]
        keys = [f".{name}" for name in element.get("class", "").split()]
        keys += [f"#{element.get('id')}", etree.QName(element).localname, "*"]
        names += [name for key in keys for name in self.rules.get(key, ())]
        return [self.by_id[name] for name in names if name in self.by_id]


def _gunzipped(data: bytes, at_most: int) -> bytes:
    try:
        return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(data, at_most)
    except zlib.error as exc:
        raise ImageError(f"the gzipped file is damaged: {exc}") from exc


def _intrinsic_size(root: etree._Element) -> tuple[float, float]:
    """Return width and height as CSS does: as stated, or by the ratio of the view box, or the default."""
    width, height, box = _pixels(root.get("width")), _pixels(root.get("height")), _view_box(root)
    if width and height:
        return width, height
    if box:
        ratio = box[2] / box[3]
        if width or height:
            return width or height * ratio, height or width / ratio
        return box[2], box[3]
    return width or _DEFAULT_SIZE[0], height or _DEFAULT_SIZE[1]


def _pixels(length: str | None) -> float:
    """Convert an absolute CSS length; return 0 for missing or invalid ones and percentages."""
    match = _LENGTH.fullmatch(length or "")
    return float(match[1]) * _PIXELS.get(match[2].lower(), 0.0) if match else 0.0


def _view_box(root: etree._Element) -> tuple[float, float, float, float] | None:
    try:
        left, top, width, height = (float(part) for part in root.get("viewBox", "").replace(",", " ").split())
    except ValueError:
        return None
    plausible = all(abs(value) < _LONGEST for value in (left, top)) and all(
        1 / _LONGEST < side < _LONGEST for side in (width, height)
    )
    return (left, top, width, height) if plausible else None


def _set_size(root: etree._Element, width: int, height: int) -> None:
    if _view_box(root) is None:
        stated = (min(side, _LONGEST) for side in _intrinsic_size(root))
        root.set("viewBox", "0 0 {:g} {:g}".format(*stated))
    root.set("width", str(width))
    root.set("height", str(height))


def _remove_references_to_files(root: etree._Element) -> None:
    """Remove references to files that resvg would read, and embedded pictures that are no valid raster images."""
    for element in root.iter("{*}image", "{*}feImage"):
        for attribute in ("href", _XLINK_HREF):
            if attribute in element.attrib and not _is_safe(str(element.attrib[attribute])):
                del element.attrib[attribute]


def _is_safe(reference: str) -> bool:
    reference = reference.strip()
    if not reference.startswith("data:"):
        return reference.startswith("#")
    kind, _, payload = reference.partition(",")
    try:
        data = base64.b64decode(payload) if kind.endswith(";base64") else unquote_to_bytes(payload)
        raster.header(data)
    except (binascii.Error, ImageError):
        return False
    return True
