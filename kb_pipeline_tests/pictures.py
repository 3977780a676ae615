"""Pictures for tests, made on the spot."""

import io
from typing import Any

from PIL import Image, ImageDraw, ImageFont


def screenshot(
    *lines: str, size: tuple[int, int] = (480, 200), form: str = "PNG", mode: str = "RGB", **save: Any
) -> bytes:
    """A white picture with large black text that OCR can read."""
    image = Image.new("RGB", size, "white")
    draw = ImageDraw.Draw(image)
    for number, line in enumerate(lines):
        draw.text((16, 16 + 44 * number), line, fill="black", font=ImageFont.load_default(28))
    return encode(image.convert(mode), form, **save)


def encode(image: Image.Image, form: str = "PNG", **save: Any) -> bytes:
    """The picture's bytes in a file format."""
    sink = io.BytesIO()
    image.save(sink, form, **save)
    return sink.getvalue()
