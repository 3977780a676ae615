"""Makes an image as small as a model needs it. Pure: bytes in, bytes out."""

import io

from PIL import Image

_SHOWN_AS_THEY_ARE = frozenset({"PNG", "JPEG", "WEBP"})
_JPEG_QUALITY = 85


def scaled_down(data: bytes, pixels: int) -> tuple[bytes, str]:
    """An image whose longer side is at most ``pixels``, and its media type; what fits already stays as it is.

    Screenshots stay PNG, which keeps small text sharp, unless JPEG needs less than half of it.

    Raises:
        OSError, ValueError, SyntaxError: these bytes are no image that can be read.
    """
    with Image.open(io.BytesIO(data)) as image:
        if max(image.size) <= pixels and image.format in _SHOWN_AS_THEY_ARE:
            image.verify()
            return data, Image.MIME[image.format]
        plain = image.convert("RGBA" if image.has_transparency_data else "RGB")
    plain.thumbnail((pixels, pixels), Image.Resampling.LANCZOS)
    return _smaller(plain)


def _smaller(image: Image.Image) -> tuple[bytes, str]:
    png, jpeg = io.BytesIO(), io.BytesIO()
    image.save(png, "PNG", optimize=True)
    flat = Image.new("RGB", image.size, "white")
    flat.paste(image, mask=image.getchannel("A") if "A" in image.getbands() else None)
    flat.save(jpeg, "JPEG", quality=_JPEG_QUALITY)
    if jpeg.tell() * 2 < png.tell():
        return jpeg.getvalue(), "image/jpeg"
    return png.getvalue(), "image/png"
