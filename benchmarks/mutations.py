"""Damaged and hostile files for :mod:`benchmarks.fuzz`: seed files and random changes to them, reproducible by seed.

Not here: building and checking them.
"""

import io
import json
import os
import re
import zlib
from collections.abc import Callable
from pathlib import Path
from random import Random

from PIL import Image, ImageDraw, ImageFont

from kb_pipeline.store.staging import INDEX_FILE, METADATA_FILE

FORMATS = ("PNG", "GIF", "WEBP", "SVG")
_NUMBERS = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF)
_EXTREMES = ("0", "-1", "1e9", "1e-9", "1e99", "nan", "99999999999", "50%", "url(#a)", "")
_PNG = b"\x89PNG\r\n\x1a\n"
_REPAIRED = 0.7
_GENTLY = 0.5
_NUMBER = re.compile(rb"\d+(?:\.\d+)?")
_TAG = re.compile(rb"<[^<>/]+/>")


def seed_image(form: str, dice: Random) -> bytes:
    """A small valid image: text on a background, or an SVG drawing with many features."""
    if form == "SVG":
        return _drawing(dice)
    mode = dice.choice({"PNG": ("RGB", "RGBA", "P", "L", "I;16"), "GIF": ("P",), "WEBP": ("RGB", "RGBA")}[form])
    picture = Image.new("RGB", (dice.randrange(60, 160), dice.randrange(40, 80)), "white")
    ImageDraw.Draw(picture).text((4, 4), f"Save {dice.randrange(1000)}", fill="black", font=ImageFont.load_default(20))
    frames = [picture.convert(mode)] * dice.choice((1, 1, 3)) if form != "PNG" else [picture.convert(mode)]
    sink = io.BytesIO()
    more = {"save_all": True, "append_images": frames[1:]} if len(frames) > 1 else {}
    frames[0].save(sink, form, **more)
    return sink.getvalue()


def _drawing(dice: Random) -> bytes:
    parts = [
        '<rect x="1" y="2" width="30" height="40" fill="url(#a)"/>',
        '<path d="M0 0 L 90 50 C 1 2 3 4 5 6" stroke="red" stroke-width="2" stroke-dasharray="3 1"/>',
        '<g opacity=".5" transform="scale(2)"><circle cx="9" cy="9" r="8" filter="url(#f)"/></g>',
        '<text x="5" y="20" font-size="12">Save changes</text>',
        '<use href="#u" x="40"/>',
        '<polyline points="1,2 3,4 5,6" marker-mid="url(#m)" clip-path="url(#c)"/>',
        "<style>.k { mask: url(#k) } #u { fill: url(#p) }</style>",
    ]
    dice.shuffle(parts)
    definitions = (
        '<linearGradient id="a"><stop offset="0" stop-color="red"/><stop offset="1"/></linearGradient>'
        '<filter id="f"><feGaussianBlur stdDeviation="2"/><feOffset dx="1"/></filter>'
        '<g id="u"><rect width="9" height="9"/></g><marker id="m"><rect width="2" height="2"/></marker>'
        '<clipPath id="c"><rect width="90" height="50"/></clipPath>'
        '<mask id="k"><rect width="90" height="50" fill="white"/></mask>'
        '<pattern id="p" width="4" height="4" patternUnits="userSpaceOnUse"><rect width="2" height="2"/></pattern>'
    )
    body = "".join(parts[: dice.randrange(2, len(parts) + 1)])
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="100" height="60">{definitions}{body}</svg>'.encode()


def mutated(data: bytes, other: bytes, dice: Random) -> bytes:
    """Apply one to three random changes, some with parts of an ``other`` file; most PNGs get valid checksums again.

    Half of the files are changed gently, so that a decoder reads much of them before it fails.
    """
    changes = (_GENTLE_TO_TEXT if data.startswith(b"<") else _GENTLE) if dice.random() < _GENTLY else _CHANGES
    for _ in range(dice.randrange(1, 4)):
        data = dice.choice(changes)(data, other, dice)
    return _with_right_checksums(data) if dice.random() < _REPAIRED else data


def _with_right_checksums(data: bytes) -> bytes:
    """Repair the checksums of a PNG's chunks, because decoders reject damaged chunks early otherwise."""
    if not data.startswith(_PNG):
        return data
    repaired, position = bytearray(data), len(_PNG)
    while position + 12 <= len(data):
        end = position + 8 + int.from_bytes(data[position : position + 4], "big")
        if end + 4 > len(data):
            break
        repaired[end : end + 4] = zlib.crc32(data[position + 4 : end]).to_bytes(4, "big")
        position = end + 4
    return bytes(repaired)


def _flip(data: bytes, _other: bytes, dice: Random) -> bytes:
    changed = bytearray(data)
    for _ in range(dice.randrange(1, 9)):
        if changed:
            changed[dice.randrange(len(changed))] = dice.randrange(256)
    return bytes(changed)


def _cut(data: bytes, _other: bytes, dice: Random) -> bytes:
    return data[: dice.randrange(len(data) + 1)]


def _drop(data: bytes, _other: bytes, dice: Random) -> bytes:
    start = dice.randrange(len(data) + 1)
    return data[:start] + data[start + dice.randrange(1, 60) :]


def _repeat(data: bytes, _other: bytes, dice: Random) -> bytes:
    start = dice.randrange(len(data) + 1)
    return data[:start] + data[start : start + dice.randrange(1, 200)] * dice.choice((2, 10, 1000)) + data[start:]


def _overwrite(data: bytes, _other: bytes, dice: Random) -> bytes:
    number = dice.choice(_NUMBERS).to_bytes(4, dice.choice(("big", "little")))
    start = 4 + dice.randrange(min(len(data), 80) + 1)  # sizes are near the beginning
    return data[:start] + number + data[start + 4 :]


def _splice(data: bytes, other: bytes, dice: Random) -> bytes:
    return data[: dice.randrange(len(data) + 1)] + other[dice.randrange(len(other) + 1) :]


def _number(data: bytes, _other: bytes, dice: Random) -> bytes:
    places = list(_NUMBER.finditer(data[:20_000]))
    if not places:
        return data
    place = dice.choice(places)
    return data[: place.start()] + dice.choice(_EXTREMES).encode() + data[place.end() :]


def _tag(data: bytes, _other: bytes, dice: Random) -> bytes:
    places = list(_TAG.finditer(data[:20_000]))
    if not places:
        return data
    place = dice.choice(places)
    return data[: place.start()] + place[0] * dice.choice((0, 2, 50, 3000)) + data[place.end() :]


_Change = Callable[[bytes, bytes, Random], bytes]
_GENTLE: tuple[_Change, ...] = (_flip,)
_GENTLE_TO_TEXT: tuple[_Change, ...] = (_number, _number, _tag)
_CHANGES: tuple[_Change, ...] = (_flip, _flip, _cut, _drop, _repeat, _overwrite, _splice, _number, _tag)


def mutate_folder(folder: Path, dice: Random) -> None:
    """Damage an article's folder as a careless or hostile author, or a broken disk, might."""
    dice.choice(_FOLDER_CHANGES)(folder, dice)


def _html(folder: Path, dice: Random) -> None:
    page = folder / INDEX_FILE
    page.write_bytes(mutated(page.read_bytes(), b"<table><tr><td rowspan=9>" * 50, dice))


def _metadata(folder: Path, dice: Random) -> None:
    given = {"title": "A title", "access_control_list": ["staff"], "key_topics": ["a", "b"], "language": "en"}
    data = json.dumps(given).encode()
    (folder / METADATA_FILE).write_bytes(mutated(data, b'{"title": {"a": [1e999]}}' + b"[" * 2000, dice))


def _directory_for_file(folder: Path, dice: Random) -> None:
    name = dice.choice((INDEX_FILE, METADATA_FILE))
    (folder / name).unlink(missing_ok=True)
    (folder / name).mkdir()


def _link(folder: Path, dice: Random) -> None:
    name = dice.choice((INDEX_FILE, METADATA_FILE, "link.png"))
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(dice.choice(("/etc/passwd", "/dev/zero", "..", name, "../nowhere", "/proc/self/mem")))


def _pipe(folder: Path, dice: Random) -> None:
    name = dice.choice((INDEX_FILE, METADATA_FILE, "pipe.png"))
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)


def _unreadable(folder: Path, dice: Random) -> None:
    (folder / INDEX_FILE).chmod(dice.choice((0, 0o200)))


def _nested(folder: Path, dice: Random) -> None:
    inside = folder
    for _ in range(dice.randrange(1, 60)):
        inside /= dice.choice(("a", "b b", INDEX_FILE + "x", "é"))
    inside.mkdir(parents=True)
    (inside / "deep.png").write_bytes(mutated(b"\x89PNG", b"", dice))


def _odd_names(folder: Path, dice: Random) -> None:
    for name in dice.sample(("-", "a]b.png", "x\n.png", "\u202egnp.exe", "con", "%2e%2e", "a" * 250, "\udcff.png"), 3):
        (folder / name).write_bytes(b"\x89PNG")


def _many(folder: Path, _dice: Random) -> None:
    for number in range(500):
        (folder / f"{number}.png").write_bytes(b"")


_FOLDER_CHANGES = (
    *(_html, _html, _html, _metadata, _metadata),
    *(_directory_for_file, _link, _pipe, _unreadable, _nested, _odd_names, _many),
)
