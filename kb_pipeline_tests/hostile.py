"""Files that ask for far more than they hold: drawings, pictures and pages made to exhaust whoever reads them."""

import io
import zlib
from collections.abc import Iterator
from functools import cache

from PIL import Image

_NAMESPACES = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
_ALL = '<rect width="2048" height="2048" fill="red"/>'


def _svg(content: str) -> bytes:
    return f'<svg {_NAMESPACES} width="2048" height="2048">{content}</svg>'.encode()


def _nested(attributes: str, levels: int, tag: str = "g") -> str:
    return f"<{tag} {attributes}>" * levels + _ALL + f"</{tag}>" * levels


_NINE = '<rect width="9" height="9"/>'
_BLUR = '<filter id="f"><feGaussianBlur stdDeviation="9"/></filter>'
_FAR = 'x="-1000" y="-1000" width="9000" height="9000"'
_CLIP = f'<clipPath id="m">{_ALL}</clipPath>'


def _pattern(name: str, side: str, content: str) -> str:
    return f'<pattern id="{name}" width="{side}" height="{side}" patternUnits="userSpaceOnUse">{content}</pattern>'


def _filtered(primitives: str, region: str = "") -> bytes:
    return _svg(f'<filter id="f" {region}>{primitives}</filter><rect width="2048" height="2048" filter="url(#f)"/>')


def _points(count: int) -> str:
    return " ".join(f"{number % 400},{number % 399}" for number in range(count))


def _levels(element: str, content: str, levels: int, first: str = _ALL) -> str:
    """Each level holds ``content`` ten times, in which ``{}`` is the level below."""
    parts = [f'<{element} id="l0" width="400" height="400" patternUnits="userSpaceOnUse">{first}</{element}>']
    for level in range(1, levels):
        inside = content.format(level - 1) * 10
        parts.append(
            f'<{element} id="l{level}" width="400" height="400" patternUnits="userSpaceOnUse">{inside}</{element}>'
        )
    return "".join(parts)


_MARKER = '<marker id="m" markerWidth="400" markerHeight="400">' + _ALL * 200 + "</marker>"
_PIXEL = "data:image/gif;base64,R0lGODlhAQABAIAAAAUEBAAAACwAAAAAAQABAAACAkQBADs="


def drawings() -> dict[str, bytes]:
    """SVG files of at most a few hundred KB, by what they do."""
    light = '<feSpecularLighting specularExponent="20"><fePointLight x="1" y="2" z="3"/></feSpecularLighting>'
    return {
        "comments": b"<!---->" * 40 + b"x",
        "instructions": b"<??>" * 40 + b"x",
        "marker": _svg(f'{_MARKER}<polyline marker-mid="url(#m)" points="{_points(3000)}"/>'),
        "marker by class": _svg(
            f'<style>.p{{marker:url(#m)}}</style>{_MARKER}<polyline class="p" points="{_points(3000)}"/>'
        ),
        "marker by id": _svg(
            f'<style>#p{{marker:url(#m)}}</style>{_MARKER}<polyline id="p" points="{_points(3000)}"/>'
        ),
        "marker by tag": _svg(
            f'<style>polyline{{marker:url(#m)}}</style>{_MARKER}<polyline points="{_points(3000)}"/>'
        ),
        "patterns": _svg(
            _levels("pattern", '<rect width="400" height="400" fill="url(#l{})"/>', 9)
            + '<rect width="400" height="400" fill="url(#l8)"/>'
        ),
        "patterns by id": _svg(
            "<style>" + "".join(f"#r{n}{{fill:url(#p{n - 1})}}" for n in range(1, 9)) + "</style>"
            + _pattern("p0", "4", _NINE)
            + "".join(
                f'<pattern id="p{n}" width="400" height="400" patternUnits="userSpaceOnUse"><g id="r{n}">'
                + '<rect width="400" height="400"/>' * 10 + "</g></pattern>"
                for n in range(1, 8)
            )
            + '<rect width="400" height="400" fill="url(#p7)"/>'
        ),
        "convolution": _filtered(f'<feConvolveMatrix order="99" kernelMatrix="{"1 " * 9801}"/>'),
        "blurs": _filtered('<feGaussianBlur stdDeviation="90"/>' * 300),
        "offsets": _filtered("".join(f'<feOffset dx="1" result="r{number}"/>' for number in range(200))),
        "turbulence": _filtered('<feTurbulence baseFrequency="0.9" numOctaves="10"/>' * 30),
        "light": _filtered(light * 60),
        "morphology": _filtered('<feMorphology radius="50" operator="dilate"/>' * 30),
        "filter region": _filtered('<feGaussianBlur stdDeviation="5"/>', _FAR),
        "filter of an image": _svg(
            '<filter id="f">' + '<feImage href="#g"/>' * 50 + f'</filter><g id="g">{_ALL * 50}</g>'
            '<rect width="2048" height="2048" filter="url(#f)"/>'
        ),
        "nested filters": _svg(_BLUR + _nested('filter="url(#f)"', 100)),
        "nested opacity": _svg(_nested('opacity="0.99"', 240)),
        "nested opacity by tag": _svg("<style>g{opacity:.9}</style>" + _nested("", 240)),
        "nested blending": _svg(_nested('style="mix-blend-mode:multiply;isolation:isolate"', 240)),
        "nested masks": _svg(f'<mask id="m">{_ALL}</mask>' + _nested('mask="url(#m)"', 100)),
        "nested clips": _svg(_CLIP + _nested('clip-path="url(#m)"', 100)),
        "clips by tag": _svg("<style>g{clip-path:url(#m)}</style>" + _CLIP + _nested("", 200)),
        "nested drawings": _svg(_nested('overflow="hidden" width="2048" height="2048"', 200, "svg")),
        "uses": _svg(_levels("g", '<use href="#l{}"/>', 9) + '<use href="#l8"/>'),
        "uses with opacity": _svg(_levels("g", '<g opacity=".5"><use href="#l{}"/></g>', 4) + '<use href="#l3"/>'),
        "dashes": _svg('<path d="M0 0 L2000 2000" stroke="red" stroke-width="1000000" stroke-dasharray="0.01 0.01"/>'),
        "wide lines": _svg(f'<path d="{"M0 0 C 9e6 9e6 -9e6 9e6 0 0 " * 2000}" stroke="red" stroke-width="9e6"/>'),
        "large text": _svg(f'<text font-size="9000000" x="1" y="9">{"MWM" * 3000}</text>'),
        "much text": _svg(f'<text font-size="10" x="1" y="9">{"MWM " * 100_000}</text>'),
        "many spans": _svg(f'<text font-size="10" x="1" y="9">{"<tspan>M</tspan>" * 20_000}</text>'),
        "large pattern": _svg(
            _pattern("p", "9e6", _NINE) + '<rect width="2048" height="2048" fill="url(#p)"/>' * 50
        ),
        "images": _svg(f'<image width="2048" height="2048" href="{_PIXEL}"/>' * 300),
        "entities": b"<!DOCTYPE svg [<!ENTITY a 'lol'>"
        + b"".join(b"<!ENTITY %c '%s'>" % (name, b"&%c;" % (name - 1) * 10) for name in b"bcdefghi")
        + b"]>" + _svg("<text>&i;</text>"),
        "style rules": _svg(f"<style>{'.a' * 200_000}</style>"),
    }  # fmt: skip


def _chunk(kind: bytes, data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")


def _png(width: int, height: int, extra: bytes = b"", depth: int = 8, colours: int = 6) -> bytes:
    header = width.to_bytes(4, "big") + height.to_bytes(4, "big") + bytes([depth, colours, 0, 0, 0])
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + extra + _chunk(b"IDAT", _zeros(50)) + _chunk(b"IEND", b"")


@cache
def _zeros(megabytes: int) -> bytes:
    return zlib.compress(bytes(megabytes * 1_000_000), 9)


def _animated(form: str, frames: int) -> bytes:
    buffer = io.BytesIO()
    pictures = [Image.new("RGB", (64, 64), (number % 256, number // 256, 7)) for number in range(frames)]
    pictures[0].save(buffer, form, save_all=True, append_images=pictures[1:])
    return buffer.getvalue()


def pictures() -> dict[str, bytes]:
    """Files of pixels, by what they do."""
    bomb = _zeros(200)
    return {
        "gigapixels": _png(60_000, 60_000),
        "just within": _png(7_000, 7_000),
        "just within, 16 bit": _png(7_000, 7_000, depth=16),
        "one line": _png(49_000_000, 1),
        "compressed text": _png(64, 64, _chunk(b"zTXt", b"comment\0\0" + bomb)),
        "compressed profile": _png(64, 64, _chunk(b"iCCP", b"profile\0\0" + bomb)),
        "text to turn it": _png(64, 64, _chunk(b"zTXt", b"comment\0\0" + bomb) + _chunk(b"eXIf", b"II*\0" * 1000)),
        "frames": _animated("GIF", 3_000),
        "frames of WebP": _animated("WEBP", 1_000),
        "gigapixels of GIF": b"GIF89a" + b"\xff" * 4 + bytes(3) + b"," + bytes(4) + b"\xff" * 4 + bytes(20),
        "gigapixels of BMP": b"BM" + bytes(8) + b"6\0\0\0(\0\0\0" + b"\xff\xff\xff\x0f" * 2 + b"\1\0\x18\0" + bytes(24),
        "directories of TIFF": b"II*\0\x08\0\0\0\xff\xff" + b"\0\1\4\0\xff\xff\xff\x0f" * 9000,
    }


def pages(size: float = 1.0) -> Iterator[tuple[str, str]]:
    """HTML, by what it does; ``size``: how often it does so, as a part of what exhausts a reader for minutes."""

    def times(count: int) -> int:
        return int(count * size)

    yield "deep", "<div>" * times(100_000) + "bottom" + "</div>" * times(100_000)
    yield "deep lists", "<ul><li>" * times(20_000) + "bottom"
    yield "deep emphasis", "<b><i>" * times(50_000) + "bottom"
    yield "wide table", "<table><tr>" + "<td>cell</td>" * times(300_000) + "</table>"
    yield "spans", "<table><tr><td rowspan=65534 colspan=1000>a" + "<tr><td colspan=1000>b" * times(2_000) + "</table>"
    yield "attributes", "<p " + " ".join(f"a{number}=b" for number in range(times(100_000))) + ">text"
    yield "entities", "<p>" + "&amp;&lt;&#65;&nosuch;" * times(100_000)
    yield "images", "<p>text" + "<img src=shot.image alt='The same picture'>" * times(10_000)
    yield "images in a link", "<p><a href=x>" + "<img src=shot.image>" * times(3_000)
    yield "breaks", "<p>x" + "<br>" * times(100_000)
    yield "blank lines", "<pre>" + "\n" * times(1_000_000)
    yield "spaces", "<p>x" + " &#32;" * times(200_000)
    yield "comments", "<!---->" * times(200_000) + "<p>text"
    yield "backticks", "<p>" + "`" * times(200_000) + "<code>" + "`` ` " * times(50_000)
    yield "brackets", "<p>" + "[[IMG:" * times(100_000)
    yield "headings", "<h1>a</h1><h2>b</h2>" * times(10_000) + "<p>text"
    yield "one word", "<p>" + "w" * times(3_000_000)
