"""Whatever lies in a staging folder becomes a plain PNG, or a sentence that says why not."""

import io
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, PngImagePlugin

from kb_pipeline.errors import ImageError
from kb_pipeline.steps.images import flatten, to_png
from kb_pipeline.steps.images.probe import probe_image
from kb_pipeline_tests.pictures import encode

RED = (200, 30, 30)


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png_of_size(width: int, height: int) -> bytes:
    """A valid PNG that promises more pixels than it holds."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")


def pixels(png: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(png))
    assert image.format == "PNG"
    return image


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF"])
def test_format_is_read_from_the_bytes_not_the_name(form: str) -> None:
    info = probe_image("shot.image", encode(Image.new("RGB", (30, 20), RED), form))
    assert (info.format, info.width, info.height, info.problem) == (form, 30, 20, None)


@pytest.mark.parametrize("form", ["JPEG", "GIF", "WEBP", "BMP", "TIFF"])
def test_other_formats_become_png(form: str) -> None:
    png = to_png(encode(Image.new("RGB", (30, 20), RED), form))
    assert (png.width, png.height) == pixels(png.data).size == (30, 20)
    assert all(
        abs(is_ - was) < 8 for is_, was in zip(pixels(png.data).convert("RGB").getpixel((5, 5)), RED, strict=True)
    )


def test_plain_png_is_kept_byte_for_byte() -> None:
    data = encode(Image.new("RGBA", (30, 20), (*RED, 100)))
    assert to_png(data).data == data


def test_metadata_is_dropped_and_pixels_stay() -> None:
    text = PngImagePlugin.PngInfo()
    text.add_text("Author", "Jane Doe")
    png = to_png(encode(Image.new("RGB", (4, 4), RED), pnginfo=text)).data
    assert b"Jane" not in png
    assert pixels(png).getpixel((0, 0)) == RED


def test_bytes_after_the_picture_are_dropped() -> None:
    data = encode(Image.new("RGB", (4, 4), RED))
    assert to_png(data + b"<script>").data == data


@pytest.mark.parametrize("form", ["JPEG", "PNG"])
def test_exif_orientation_is_applied(form: str) -> None:
    image = Image.new("RGB", (30, 20), "white")
    exif = Image.Exif()
    exif[0x0112] = 6
    data = encode(image, form, exif=exif)
    assert (probe_image("a", data).width, probe_image("a", data).height) == (20, 30)
    assert to_png(data)[1:] == (20, 30) == pixels(to_png(data).data).size


@pytest.mark.parametrize("form", ["GIF", "WEBP", "PNG"])
def test_animation_shows_its_first_frame(form: str) -> None:
    frames = [Image.new("RGB", (8, 8), colour) for colour in ("red", "blue")]
    data = encode(frames[0], form, save_all=True, append_images=frames[1:], lossless=True)
    png = pixels(to_png(data).data)
    assert png.convert("RGB").getpixel((3, 3)) == (255, 0, 0)
    assert getattr(png, "n_frames", 1) == 1


def test_cmyk_becomes_rgb() -> None:
    assert pixels(to_png(encode(Image.new("CMYK", (4, 4)), "JPEG")).data).mode == "RGB"


@pytest.mark.parametrize(("deep", "eight"), [(0, 0), (32768, 127), (65535, 255)])
def test_16_bits_are_scaled_not_clipped(deep: int, eight: int) -> None:
    png = pixels(to_png(encode(Image.new("I;16", (4, 4), deep))).data)
    assert (png.mode, png.getpixel((0, 0))) == ("L", eight)


def test_palette_transparency_survives() -> None:
    image = Image.new("P", (4, 4), 0)
    image.putpalette([10, 20, 30, 40, 50, 60])
    data = encode(image, "GIF", transparency=0)
    assert pixels(to_png(data).data).convert("RGBA").getpixel((0, 0))[3] == 0


def test_flattening_shows_transparency_on_white() -> None:
    assert flatten(encode(Image.new("RGBA", (2, 2), (0, 0, 0, 0)))).getpixel((0, 0)) == (255, 255, 255)


def test_equal_input_gives_equal_output() -> None:
    data = encode(Image.radial_gradient("L"), "WEBP")
    assert to_png(data) == to_png(data)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b"<html><body>Not found</body></html>", "not an image"),
        (b"\x89PNG\r\n\x1a\n", "truncated"),
        (encode(Image.effect_noise((64, 64), 90))[:-40], "truncated"),
        (encode(Image.new("RGB", (9, 9))).replace(b"IDATx", b"IDATy"), "checksum"),
        (png_of_size(40_000, 40_000), "more than the limit of 50 megapixels"),
        (png_of_size(0, 10), "size of 0 x 10"),
    ],
)
def test_what_cannot_be_shown_says_why(data: bytes, reason: str) -> None:
    assert reason in (probe_image("a.png", data).problem or "")
    with pytest.raises(ImageError, match=reason):
        to_png(data)


def test_damaged_metadata_is_dropped_like_any_other() -> None:
    plain = encode(Image.new("RGB", (4, 4), RED))
    damaged = plain[:33] + struct.pack(">I", 4) + b"tEXt" + b"a\0bc" + b"\0\0\0\0" + plain[33:]
    assert to_png(damaged).data == plain


def test_large_picture_is_refused_from_its_header() -> None:
    data = encode(Image.new("P", (9, 9)), "GIF")
    promised = data[:6] + struct.pack("<HH", 60_000, 60_000) + data[10:]
    assert "50 megapixels" in (probe_image("a.gif", promised).problem or "")


def test_truncated_jpeg_is_refused() -> None:
    data = encode(Image.effect_noise((200, 200), 90).convert("RGB"), "JPEG")
    with pytest.raises(ImageError, match="truncated"):
        to_png(data[: len(data) // 2])


@given(
    st.sampled_from(["PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF", "ICO"]), st.integers(0, 2000), st.binary(max_size=8)
)
def test_damage_never_raises_anything_else(form: str, position: int, noise: bytes) -> None:
    data = encode(Image.linear_gradient("L").resize((32, 32)), form)
    damaged = data[:position] + noise + data[position + len(noise) :]
    probe_image("a", damaged)
    try:
        png = to_png(damaged)
    except ImageError as error:
        assert str(error)
    else:
        assert pixels(png.data).size == (png.width, png.height)
