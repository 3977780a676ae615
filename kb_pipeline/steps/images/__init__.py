"""Convert staged image files of any format to plain PNGs, for serving and for OCR.

The format is always detected from the bytes; file extensions are never trusted. Not here: what an image shows
(``steps.describe``).
"""

import hashlib

from kb_pipeline.errors import ImageError
from kb_pipeline.records import ImageInfo
from kb_pipeline.steps.images import png, raster, svg
from kb_pipeline.steps.images.raster import PngImage, check_size, flatten

__all__ = ["PngImage", "flatten", "is_plain_png", "probe_image", "to_png"]


def probe_image(file: str, data: bytes) -> ImageInfo:
    """Read format and size from the header, without decoding; an error is stored in ``problem``."""
    info = ImageInfo(file=file, sha256=hashlib.sha256(data).hexdigest())
    try:
        kind, width, height = _header(data)
        info = info.model_copy(update={"format": kind, "width": width, "height": height})
        check_size(width, height)
    except ImageError as exc:
        return info.model_copy(update={"problem": str(exc)})
    return info


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
    kind, width, height = _header(data)
    check_size(width, height)
    if kind == "SVG":
        return svg.render(data)
    if kind == "PNG" and png.is_plain(chunks := png.read_chunks(data)):
        return PngImage(png.without_metadata(chunks), width, height)
    return raster.reencode(data)


def _header(data: bytes) -> tuple[str, int, int]:
    """Return format, width and height, as the image is served."""
    if not data:
        raise ImageError("the file is empty (0 bytes)")
    if svg.is_svg(data):
        return "SVG", *svg.size(svg.parse(data))
    if data.startswith(png.SIGNATURE) and png.is_plain(chunks := png.read_chunks(data)):
        return "PNG", *png.size(chunks)
    return raster.header(data)
