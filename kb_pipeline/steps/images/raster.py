"""Pixel formats, by Pillow: header, conversion to a plain PNG, flattening for OCR."""

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from PIL import Image, ImageOps, UnidentifiedImageError

from kb_pipeline.errors import ImageError
from kb_pipeline.steps.images.limits import MAX_PIXELS, PngImage, check_size

FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF", "ICO", "AVIF")
"""What is decoded. Pillow knows more, among them formats that run other programs."""

_WHITE = (255, 255, 255, 255)
_FOREIGN_PROFILE = frozenset({"CMYK", "LAB", "YCbCr"})
"""Modes whose colour profile does not describe the RGB picture made of them."""

_COMPRESSION = 1
"""On 234 pictures (JPEG, GIF, PNG) 7 % larger than Pillow's default of 6, in 37 % of the time."""

_ORIENTATION = 0x0112
_TRANSPOSED = frozenset({5, 6, 7, 8})
"""EXIF orientations that swap width and height."""


def header(data: bytes) -> tuple[str, int, int]:
    """Return format, width and height (as displayed), decoding nothing.

    Raises:
        ImageError: not an image in one of ``FORMATS``.
    """
    with _opened(data) as image:
        width, height = image.size
        check_size(width, height)
        if image.getexif().get(_ORIENTATION) in _TRANSPOSED:
            width, height = height, width
        return "JPEG" if image.format == "MPO" else str(image.format), width, height


def reencode(data: bytes) -> PngImage:
    """Decode the first frame, turn it upright and encode it as an 8-bit PNG without metadata.

    Raises:
        ImageError: not an image, too large, or its data cannot be decoded.
    """
    with _opened(data) as image:
        check_size(*image.size)
        profile = None if image.mode in _FOREIGN_PROFILE else image.info.get("icc_profile")
        plain = _eight_bits(ImageOps.exif_transpose(image))
        buffer = io.BytesIO()
        plain.info.clear()
        plain.save(buffer, "PNG", icc_profile=profile, compress_level=_COMPRESSION)
        return PngImage(buffer.getvalue(), plain.width, plain.height)


def flatten(data: bytes) -> Image.Image:
    """Decode a PNG to RGB, its transparent parts shown on white as on a page.

    Raises:
        ImageError: the bytes are not an image that can be decoded.
    """
    with _opened(data) as image:
        check_size(*image.size)
        picture = _eight_bits(image).convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", picture.size, _WHITE), picture).convert("RGB")


def _eight_bits(image: Image.Image) -> Image.Image:
    """Convert to L, LA, RGB or RGBA, whichever holds the picture."""
    if image.mode.startswith("I"):
        # Pillow clips 16-bit values at 255 instead of scaling them.
        return image.convert("I").point(lambda value: value * (1 / 257)).convert("L")
    if image.mode == "1":
        return image.convert("L")
    if image.mode in {"L", "LA", "RGB", "RGBA"} and "transparency" not in image.info:
        return image.convert(image.mode)
    return image.convert("RGBA" if image.has_transparency_data else "RGB")


@contextmanager
def _opened(data: bytes) -> Iterator[Image.Image]:
    """Open for reading; whatever a decoder raises on damaged bytes becomes an ``ImageError``."""
    try:
        with warnings.catch_warnings():
            # Size is checked from the header by us; damaged EXIF data is no reason to drop the picture.
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(data), formats=FORMATS) as image:
                yield image
    except ImageError:
        raise
    except UnidentifiedImageError as exc:
        raise ImageError(f"the bytes are no image in a known format ({', '.join(FORMATS)}, SVG)") from exc
    except Image.DecompressionBombError as exc:
        raise ImageError(f"the image is larger than the limit of {MAX_PIXELS // 1_000_000} megapixels") from exc
    except Exception as exc:
        # Pillow's decoders raise OSError, SyntaxError, ValueError, struct.error, EOFError and others.
        raise ImageError(f"the image is truncated or damaged: {exc}") from exc
