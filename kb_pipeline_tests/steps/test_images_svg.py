"""An SVG is drawn at its own size; nothing in it reaches files, and nothing keeps the renderer busy."""

import base64
import gzip
import io
import time
from pathlib import Path

import pytest
from PIL import Image

from kb_pipeline.errors import ImageError
from kb_pipeline.steps.images import to_png
from kb_pipeline.steps.images.probe import probe_image
from kb_pipeline.steps.images.svg import MAX_SIDE, is_svg
from kb_pipeline_tests.growth import grows_in_proportion
from kb_pipeline_tests.pictures import encode

XMLNS = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
SQUARE = '<rect width="100%" height="100%" fill="#ff0000"/>'


def svg(content: str = SQUARE, attributes: str = 'width="40" height="20"', prolog: str = "") -> bytes:
    return f"{prolog}<svg {XMLNS} {attributes}>{content}</svg>".encode()


def pixel(data: bytes, x: int = 5, y: int = 5) -> tuple[int, ...]:
    value = Image.open(io.BytesIO(to_png(data).data)).convert("RGBA").getpixel((x, y))
    assert isinstance(value, tuple)
    return value


@pytest.mark.parametrize(
    ("attributes", "size"),
    [
        ('width="40" height="20"', (40, 20)),
        ('width="40px" viewBox="0 0 200 100"', (40, 20)),
        ('width="1in" height="72pt"', (96, 96)),
        ('width="100%" height="100%" viewBox="0 0 64 32"', (64, 32)),
        ("", (300, 150)),
        ('width="100000" height="50000"', (MAX_SIDE, MAX_SIDE // 2)),
        ('width="1e9" height="1"', (MAX_SIDE, 1)),
        ('width="1e999" height="1e999"', (MAX_SIDE, MAX_SIDE)),
        ('width="0" height="1e-300" viewBox="0 0 nan inf"', (300, 1)),
    ],
)
def test_size_follows_css_within_bounds(attributes: str, size: tuple[int, int]) -> None:
    data = svg(attributes=attributes)
    info = probe_image("a.image", data)
    assert (info.format, info.width, info.height) == ("SVG", *size)
    assert Image.open(io.BytesIO(to_png(data).data)).size == size


@pytest.mark.parametrize(
    "data",
    [
        svg(),
        b"\xef\xbb\xbf" + svg(prolog='<?xml version="1.0"?>\n<!-- made by hand -->\n'),
        svg(
            prolog='<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/x.dtd" [<!ENTITY red "#ff0000">]>'
        ),
        gzip.compress(svg(), mtime=0),
        svg().decode().encode("utf-16"),
    ],
    ids=["plain", "byte order mark and comment", "doctype with entities", "gzipped", "utf-16"],
)
def test_svg_is_recognised_and_drawn(data: bytes) -> None:
    assert pixel(data) == (255, 0, 0, 255)


def test_html_with_a_drawing_inside_is_no_svg() -> None:
    assert "not an image" in (probe_image("a.svg", b"<html>" + svg() + b"</html>").problem or "")


@pytest.mark.parametrize("attribute", ["href", "xlink:href"])
def test_files_of_this_machine_are_not_shown(tmp_path: Path, attribute: str) -> None:
    secret = tmp_path / "secret.png"
    secret.write_bytes(encode(Image.new("RGB", (10, 10), "red")))
    assert pixel(svg(f'<image width="10" height="10" {attribute}="{secret}"/>'))[3] == 0


def test_embedded_pictures_are_shown() -> None:
    inner = base64.b64encode(encode(Image.new("RGB", (10, 10), "red"))).decode()
    assert pixel(svg(f'<image width="10" height="10" href="data:image/png;base64,{inner}"/>')) == (255, 0, 0, 255)


def nested(element: str, use: str, levels: int = 8) -> bytes:
    """Each level draws the one below ten times."""
    definitions = f'<{element} id="l0"><rect width="9" height="9"/></{element}>'
    for level in range(1, levels):
        definitions += f'<{element} id="l{level}">{use.format(level - 1) * 10}</{element}>'
    return svg(definitions + use.format(levels - 1))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (svg(prolog="<!DOCTYPE svg [<!ENTITY a 'lol'>" + "".join(
            f"<!ENTITY {b} '{f'&{a};' * 10}'>" for a, b in zip("abcdefgh", "bcdefghi", strict=True)) + "]>",
            content="<text>&i;</text>"), "amplification"),
        (nested("g", '<use href="#l{}"/>'), "multiplies"),
        (nested("pattern", '<rect width="9" height="9" fill="url(#l{})"/>'), "multiplies"),
        (nested("mask", '<rect width="9" height="9" style="mask: url(#l{})"/>'), "multiplies"),
        (svg('<polygon points="0,0 9,-612438501 9,9"/>'), "coordinate"),
        (svg('<path d="m 3 1 c -1.6 0 -3916e30.7 1"/>'), "coordinate"),
        (svg('<g id="a"><use href="#a"/></g>'), "refers to itself"),
        (svg("<g>" * 5000 + "</g>" * 5000), "not well-formed"),
        (svg('<filter id="f"><feTurbulence numOctaves="99999"/></filter>'), "feTurbulence"),
        (svg()[:-9], "not well-formed"),
        (gzip.compress(svg(), mtime=0)[:20], "damaged|not well-formed|not an image"),
    ],
    ids=["entities", "use", "pattern", "mask", "far line", "far curve", "self", "depth", "filter", "cut", "cut gzip"],
)  # fmt: skip
def test_hostile_or_damaged_svg_is_refused_at_once(data: bytes, reason: str) -> None:
    started = time.process_time()
    with pytest.raises(ImageError, match=reason):
        to_png(data)
    assert time.process_time() - started < 2


@pytest.mark.parametrize("part", [b"<!---->", b"<??>", b"<?a?>", b"<!-- ", b" ", b"]", b"<!DOCTYPE svg>", b"<svg"])
@pytest.mark.parametrize("prolog", [b"", b"<!DOCTYPE svg [", b"<?xml"])
def test_what_is_no_svg_is_told_in_time_that_grows_with_the_file(prolog: bytes, part: bytes) -> None:
    assert not is_svg(prolog + part * 40 + b"x")
    assert grows_in_proportion(lambda times: is_svg(prolog + part * times + b"x"), 200_000)


def test_a_length_of_many_digits_is_read_in_proportion() -> None:
    assert grows_in_proportion(lambda times: probe_image("a", svg(attributes=f'width="{"1" * times}!"')), 100_000)
