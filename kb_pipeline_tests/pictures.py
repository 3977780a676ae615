"""Pictures for tests, made on the spot."""

import io
from typing import Any

from PIL import Image, ImageDraw, ImageFont

DIALOG = (480, 200)
"""As large as a dialog is; other readers than our own need such room around the text."""

_FONT = ImageFont.load_default(28)
_MARGIN, _LINE = 16, 44


def screenshot(
    *lines: str, size: tuple[int, int] | None = None, form: str = "PNG", mode: str = "RGB", **save: Any
) -> bytes:
    """A white picture with large black text that OCR can read; it is no larger than that, as OCR takes its time."""
    image = Image.new("RGB", size or _around(lines), "white")
    draw = ImageDraw.Draw(image)
    for number, line in enumerate(lines):
        draw.text((_MARGIN, _MARGIN + _LINE * number), line, fill="black", font=_FONT)
    return encode(image.convert(mode), form, **save)


def _around(lines: tuple[str, ...]) -> tuple[int, int]:
    widths = [round(_FONT.getlength(line)) for line in lines]
    return max([*widths, 2 * _LINE]) + 2 * _MARGIN, _LINE * max(len(lines), 1) + _MARGIN


def encode(image: Image.Image, form: str = "PNG", **save: Any) -> bytes:
    """The picture's bytes in a file format."""
    sink = io.BytesIO()
    image.save(sink, form, **save)
    return sink.getvalue()
