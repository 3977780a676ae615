"""The result type of image conversion, and the size above which no picture is decoded."""

from typing import NamedTuple

from kb_pipeline.errors import ImageError

MAX_PIXELS = 50_000_000
"""Largest picture that is decoded: 200 MB as RGBA, more than any screen."""


class PngImage(NamedTuple):
    """An encoded PNG and its size in pixels."""

    data: bytes
    width: int
    height: int


def check_size(width: int, height: int) -> None:
    """Refuse what would exhaust the memory when decoded.

    Raises:
        ImageError: the header promises no pixels, or more than ``MAX_PIXELS``.
    """
    if width < 1 or height < 1:
        raise ImageError(f"the header gives a size of {width} x {height} pixels")
    if width * height > MAX_PIXELS:
        raise ImageError(f"{width} x {height} pixels is more than the limit of {MAX_PIXELS // 1_000_000} megapixels")
