"""Convert staged image files of any format to plain PNGs, for serving and for OCR.

The format is always detected from the bytes; file extensions are never trusted. Not here: what an image shows
(``steps.describe``). The process that decodes images imports this package for each worker, so it leaves out what takes
long to import: the records, which :mod:`kb_pipeline.steps.images.probe` needs.
"""

from typing import NamedTuple

from kb_pipeline.errors import ImageError
from kb_pipeline.steps.images import png, raster, svg
from kb_pipeline.steps.images.raster import PngImage, check_size, flatten

__all__ = ["ImageHeader", "PngImage", "check_size", "flatten", "is_plain_png", "read_header", "to_png"]


class ImageHeader(NamedTuple):
    """The format of an image, and its size in pixels as it is served."""

    format: str
    width: int
    height: int


def read_header(data: bytes) -> ImageHeader:
    """Read format and size without decoding. Whether the size is allowed is checked for raster images only.

    Raises:
        ImageError: the data is empty, or not an image in a known format.
    """
    if not data:
        raise ImageError("the file is empty (0 bytes)")
    if svg.is_svg(data):
        return ImageHeader("SVG", *svg.size(svg.parse(data)))
    if data.startswith(png.SIGNATURE) and png.is_plain(chunks := png.read_chunks(data)):
        return ImageHeader("PNG", *png.size(chunks))
    return ImageHeader(*raster.header(data))


def is_plain_png(data: bytes) -> bool:
    """Return whether the bytes are a PNG that needs no decoding to become plain.

    Raises:
        ImageError: the PNG is truncated or damaged.
    """
    return data.startswith(png.SIGNATURE) and png.is_plain(png.read_chunks(data))


def to_png(data: bytes) -> PngImage:
    """Convert to a plain PNG: no metadata, upright, 8 bits per channel, the first frame of an animation.

    Transparency is kept. A PNG that is already plain is returned byte for byte; equal input gives equal output.

    Raises:
        ImageError: the data is empty, truncated, no image, of an unknown format, or larger than ``raster.MAX_PIXELS``.
    """
    kind, width, height = read_header(data)
    check_size(width, height)
    if kind == "SVG":
        return svg.render(data)
    if kind == "PNG" and png.is_plain(chunks := png.read_chunks(data)):
        return PngImage(png.without_metadata(chunks), width, height)
    return raster.reencode(data)
