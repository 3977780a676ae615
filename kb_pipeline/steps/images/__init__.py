"""Staged image files of any kind become plain PNGs: what the serving layer shows and OCR reads.

Here: the two questions the pipeline asks of image bytes. What the bytes are is always read from the bytes;
a file's extension is never trusted. Not here: what an image shows (``steps.describe``).
"""

import hashlib

from kb_pipeline.errors import ImageError
from kb_pipeline.records import ImageInfo
from kb_pipeline.steps.images import png, raster, svg
from kb_pipeline.steps.images.limits import PngImage, check_size
from kb_pipeline.steps.images.raster import flatten

__all__ = ["PngImage", "flatten", "probe_image", "to_png"]


def probe_image(file: str, data: bytes) -> ImageInfo:
    """Tell format and size from the header, without decoding; what is wrong goes to ``problem``."""
    found = ImageInfo(file=file, sha256=hashlib.sha256(data).hexdigest())
    try:
        kind, width, height = _header(data)
        found = found.model_copy(update={"format": kind, "width": width, "height": height})
        check_size(width, height)
    except ImageError as exc:
        return found.model_copy(update={"problem": str(exc)})
    return found


def to_png(data: bytes) -> PngImage:
    """Convert to a PNG without metadata, upright, 8 bits a channel, the first frame of an animation.

    Transparency stays. A PNG that is all this already is returned byte for byte; equal input gives equal output.

    Raises:
        ImageError: empty, truncated, no image, of unknown format, or larger than ``limits.MAX_PIXELS``.
    """
    kind, width, height = _header(data)
    check_size(width, height)
    if kind == "SVG":
        return svg.render(data)
    if kind == "PNG" and png.is_plain(chunks := png.read_chunks(data)):
        return PngImage(png.without_metadata(chunks), width, height)
    return raster.reencode(data)


def _header(data: bytes) -> tuple[str, int, int]:
    """Return format, width and height (those the picture is served with)."""
    if not data:
        raise ImageError("the file is empty (0 bytes)")
    if svg.is_svg(data):
        return "SVG", *svg.size(svg.parse(data))
    if data.startswith(png.SIGNATURE) and png.is_plain(chunks := png.read_chunks(data)):
        return "PNG", *png.size(chunks)
    return raster.header(data)
