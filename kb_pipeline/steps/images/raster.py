"""Raster images, by Pillow: read headers, convert to plain PNGs, flatten for OCR, scale down for models."""

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from PIL import Image, ImageOps, UnidentifiedImageError

from kb_pipeline.errors import ImageError

MAX_PIXELS = 50_000_000
"""Maximum size of pictures that are decoded: 200 MB as RGBA, larger than any screen."""

FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF", "ICO", "AVIF")
"""Formats that are decoded. Pillow supports more, among them some that run other programs."""

_WHITE = (255, 255, 255, 255)  # what browsers show through transparent pixels
_FOREIGN_PROFILE = frozenset({"CMYK", "LAB", "YCbCr"})
"""Modes whose colour profile does not apply to the RGB picture converted from them."""

_COMPRESSION = 1
"""Files are 7 % larger than with Pillow's default of 6, in 37 % of the time (234 JPEG, GIF and PNG pictures)."""

_ORIENTATION = 0x0112  # the tag of EXIF that says how a camera was held
_TRANSPOSED = frozenset({5, 6, 7, 8})
"""EXIF orientations that swap width and height."""

_UNCHANGED_FORMATS = frozenset({"PNG", "JPEG", "WEBP"})
_JPEG_QUALITY = 85
"""Letters of screenshots stay sharp for a model; it is only taken where it halves the bytes."""


class PngImage(NamedTuple):
    """An encoded PNG and its size in pixels."""

    data: bytes
    width: int
    height: int


def check_size(width: int, height: int) -> None:
    """Reject pictures that would exhaust the memory when decoded.

    Raises:
        ImageError: the header promises no pixels, or more than ``MAX_PIXELS``.
    """
    if width < 1 or height < 1:
        raise ImageError(f"the header gives a size of {width} x {height} pixels")
    if width * height > MAX_PIXELS:
        raise ImageError(f"{width} x {height} pixels is more than the limit of {MAX_PIXELS // 1_000_000} megapixels")


def header(data: bytes) -> tuple[str, int, int]:
    """Return format, width and height (as displayed), without decoding.

    Raises:
        ImageError: the data is not an image in one of ``FORMATS``.
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
        ImageError: the data is not an image, is too large, or cannot be decoded.
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
    """Decode a PNG to RGB, with transparent parts on white as on a page.

    Raises:
        ImageError: the image cannot be decoded.
    """
    with _opened(data) as image:
        check_size(*image.size)
        picture = _eight_bits(image).convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", picture.size, _WHITE), picture).convert("RGB")


def scaled_down(data: bytes, pixels: int) -> tuple[bytes, str]:
    """Return an image with a longer side of at most ``pixels``, and its media type.

    A PNG, JPEG or WebP that is small enough is returned unchanged. Screenshots stay PNG, which keeps small text sharp,
    unless JPEG needs less than half the bytes.

    Raises:
        OSError, ValueError, SyntaxError: the image cannot be read.
    """
    with Image.open(io.BytesIO(data)) as image:
        if max(image.size) <= pixels and image.format in _UNCHANGED_FORMATS:
            image.verify()
            return data, Image.MIME[image.format]
        plain = image.convert("RGBA" if image.has_transparency_data else "RGB")
    plain.thumbnail((pixels, pixels), Image.Resampling.LANCZOS)
    return _smaller(plain)


def _eight_bits(image: Image.Image) -> Image.Image:
    """Convert to L, LA, RGB or RGBA, the first that holds the picture."""
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
    """Open an image; anything a decoder raises on damaged bytes becomes an ``ImageError``."""
    try:
        with warnings.catch_warnings():
            # We check the size ourselves, and damaged EXIF data is no reason to drop the picture.
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(data), formats=FORMATS) as image:
                yield image
    except ImageError:
        raise
    except UnidentifiedImageError as exc:
        raise ImageError(f"the bytes are not an image in a known format ({', '.join(FORMATS)}, SVG)") from exc
    except Image.DecompressionBombError as exc:
        raise ImageError(f"the image is larger than the limit of {MAX_PIXELS // 1_000_000} megapixels") from exc
    except Exception as exc:
        # Pillow's decoders raise OSError, SyntaxError, ValueError, struct.error, EOFError and others.
        raise ImageError(f"the image is truncated or damaged: {exc}") from exc


def _smaller(image: Image.Image) -> tuple[bytes, str]:
    png, jpeg = io.BytesIO(), io.BytesIO()
    image.save(png, "PNG", optimize=True)
    flat = Image.new("RGB", image.size, "white")
    flat.paste(image, mask=image.getchannel("A") if "A" in image.getbands() else None)
    flat.save(jpeg, "JPEG", quality=_JPEG_QUALITY)
    if jpeg.tell() * 2 < png.tell():
        return jpeg.getvalue(), "image/jpeg"
    return png.getvalue(), "image/png"
