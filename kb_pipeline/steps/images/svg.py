"""SVG files, rasterised by resvg.

An SVG is a program of sorts: it may name files to include, multiply itself through entities and references, and ask
for any size. Everything that could reach outside or never end is removed or refused here, before it is rendered.
Specification: W3C SVG 1.1 (Second Edition); https://github.com/linebender/resvg for what is supported.
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
from kb_pipeline.steps.images.limits import PngImage
from kb_pipeline.steps.images.svg_limits import check_limits

MAX_BYTES = 16_000_000
MAX_SIDE = 2048
"""Longest side rendered, in pixels; larger drawings are scaled down to it."""

_LONGEST = 1e9
"""Lengths beyond it are taken for it, and for no view box: they would not survive the arithmetic."""

_DEFAULT_SIZE = (300.0, 150.0)
"""What CSS gives a replaced element that states no size (CSS 2.1, 10.3.2)."""

_PIXELS = {"": 1.0, "px": 1.0, "pt": 4 / 3, "pc": 16.0, "mm": 96 / 25.4, "cm": 96 / 2.54, "in": 96.0, "em": 16.0}
_LENGTH = re.compile(r"\s*\+?(\d*\.?\d+(?:e[+-]?\d+)?)\s*([a-z]*)\s*", re.IGNORECASE)
_ROOT = re.compile(
    rb"\s*(?:<\?.*?\?>\s*|<!--.*?-->\s*|<!DOCTYPE\s+(?:\w+:)?svg\b(?:[^\[>]*\[.*?\])?[^>]*>\s*)*<(?:[\w-]+:)?svg[\s/>]",
    re.DOTALL,
)
_GZIP = b"\x1f\x8b"
_PEEK = 100_000
_XLINK_HREF = "{http://www.w3.org/1999/xlink}href"


def is_svg(data: bytes) -> bool:
    """Tell whether the bytes are an SVG document (also gzipped or UTF-16)."""
    if data.startswith(_GZIP):
        data = _gunzipped(data, _PEEK)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        data = data[2:].replace(b"\0", b"")
    return _ROOT.match(data.removeprefix(b"\xef\xbb\xbf")) is not None


def parse(data: bytes) -> etree._Element:
    """Parse without network, DTD or entity expansion beyond libxml2's amplification guard.

    Raises:
        ImageError: too large, or not well-formed XML.
    """
    text = _unpacked(data)
    try:
        return etree.fromstring(
            text, etree.XMLParser(no_network=True, load_dtd=False, remove_comments=True, remove_pis=True)
        )
    except (etree.XMLSyntaxError, ValueError) as exc:
        raise ImageError(f"the SVG is not well-formed XML: {exc}") from exc


def size(root: etree._Element) -> tuple[int, int]:
    """Return the size in pixels that the drawing is rendered at, at most ``MAX_SIDE`` on each side."""
    width, height = (min(max(side, 1.0), _LONGEST) for side in _intrinsic_size(root))
    scale = min(1.0, MAX_SIDE / max(width, height))
    return max(1, round(width * scale)), max(1, round(height * scale))


def render(data: bytes) -> PngImage:
    """Rasterise to a PNG with transparency.

    Raises:
        ImageError: as :func:`parse`; or the drawing asks for more than ``svg_limits`` allows, or cannot be rendered.
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


def _unpacked(data: bytes) -> bytes:
    if data.startswith(_GZIP):
        data = _gunzipped(data, MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ImageError(f"the SVG is larger than {MAX_BYTES // 1_000_000} MB")
    return data


def _gunzipped(data: bytes, at_most: int) -> bytes:
    try:
        return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(data, at_most)
    except zlib.error as exc:
        raise ImageError(f"the gzipped file is damaged: {exc}") from exc


def _intrinsic_size(root: etree._Element) -> tuple[float, float]:
    """Width and height as CSS resolves them: stated, or by the view box's aspect ratio, or the default."""
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
    """Convert an absolute CSS length; 0 for none, percentages and nonsense."""
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
    """Drop what resvg would read from disk, and embedded pictures that are not plain pixels within the limit."""
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
