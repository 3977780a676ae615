"""Damaged and hostile documents for :mod:`benchmarks.fuzz`: random changes to real files, reproducible by seed.

Not here: building and checking them.
"""

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from warnings import catch_warnings, simplefilter

from benchmarks.mutations import mutated

ENDINGS = (".pdf", ".docx", ".pptx", ".md")
_REFERENCE = re.compile(rb"\b(\d{1,6}) 0 R\b")
_STREAM = re.compile(rb"stream\r?\n(.*?)\r?\nendstream", re.S)
_LENGTH = re.compile(rb"/Length \d+")
_OBJECT = re.compile(rb"\b\d{1,6} 0 obj\b.*?\bendobj\b", re.S)
_HOSTILE_TEXT = (
    b"[[PAGE:7]]", b"[[IMG:a.png]]", b"<!-- page 9 -->", b"<script>alert(1)</script>", b"\x00", b"\xff\xfe", b"---\n",
    b"> " * 3000, b"- " * 3000, b"[" * 5000, b"| a " * 4000 + b"\n|-\n", b"`" * 4999, b"\xe2\x80\xae",
)  # fmt: skip
_NAMES = ("../../x", "/etc/x", "word/document.xml", "a" * 300, "é\\x", "C:\\x", "")
_HOSTILE_XML = (
    b'<!DOCTYPE a [<!ENTITY b "bbbbbbbbbb"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]><a>&c;</a>',
    b'<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>',
    b"<w:p>" * 5000,
    b"",
)


def real_documents(folders: Sequence[Path], most_bytes: int) -> list[Path]:
    """The documents of the folders that are not larger than this, in an order that does not depend on the machine."""
    files = (path for folder in folders for path in folder.rglob("*") if path.is_file())
    return sorted(path for path in files if path.suffix.lower() in ENDINGS and path.stat().st_size <= most_bytes)


def mutated_document(path: Path, other: Path, dice: Random) -> bytes:
    """A document with one to three random changes, some with parts of an ``other`` one of any format."""
    data, others = path.read_bytes(), other.read_bytes()
    changes = _CHANGES[path.suffix.lower()]
    for _ in range(dice.randrange(1, 4)):
        data = dice.choice(changes)(data, others, dice)
    return data


_Change = Callable[[bytes, bytes, Random], bytes]


def _swap_references(data: bytes, _other: bytes, dice: Random) -> bytes:
    """Let objects refer to others of the file: circles, fonts for pages, and pages for fonts."""
    places = list(_REFERENCE.finditer(data))
    if not places:
        return data
    for place in sorted(dice.sample(places, min(len(places), 3)), key=lambda each: -each.start()):
        data = data[: place.start()] + dice.choice(places)[0] + data[place.end() :]
    return data


def _swap_objects(data: bytes, _other: bytes, dice: Random) -> bytes:
    objects = list(_OBJECT.finditer(data))
    if len(objects) < 2:
        return data
    one, two = sorted(dice.sample(objects, 2), key=lambda each: each.start())
    return data[: one.start()] + two[0] + data[one.end() : two.start()] + one[0] + data[two.end() :]


def _change_content(data: bytes, other: bytes, dice: Random) -> bytes:
    """Change what a stream holds after it was unpacked, so that the damage reaches what is behind the compression."""
    streams = [stream for stream in _STREAM.finditer(data) if stream[1][:1] == b"x"]
    if not streams:
        return data
    stream = dice.choice(streams)
    try:
        content = mutated(zlib.decompress(stream[1]), other, dice)
    except zlib.error:
        return data
    packed = zlib.compress(content)
    head = data[: stream.start(1)]
    length = next(reversed(list(_LENGTH.finditer(head[-400:]))), None)
    if length and dice.random() < 0.8:
        at = len(head) - min(400, len(head))
        head = head[: at + length.start()] + b"/Length %d" % len(packed) + head[at + length.end() :]
    return head + packed + data[stream.end(1) :]


def _change_bytes(data: bytes, other: bytes, dice: Random) -> bytes:
    return mutated(data, other, dice)


def _change_part(data: bytes, other: bytes, dice: Random) -> bytes:
    """Change one file of an archive, which then has right sizes and checksums again."""

    def change(files: list[tuple[str, bytes]]) -> None:
        at = dice.randrange(len(files))
        name, content = files[at]
        if content.lstrip().startswith(b"<") and dice.random() < 0.3:
            middle = dice.randrange(len(content) + 1)
            files[at] = name, content[:middle] + dice.choice(_HOSTILE_XML) + content[middle:]
        else:
            files[at] = name, mutated(content, other, dice)

    return _repacked(data, change)


def _swap_parts(data: bytes, _other: bytes, dice: Random) -> bytes:
    def swap(files: list[tuple[str, bytes]]) -> None:
        one, two = dice.randrange(len(files)), dice.randrange(len(files))
        files[one], files[two] = (files[one][0], files[two][1]), (files[two][0], files[one][1])

    return _repacked(data, swap)


def _odd_entries(data: bytes, other: bytes, dice: Random) -> bytes:
    """Leave out a file of an archive, have one twice, or add one with a name that leads elsewhere."""

    def change(files: list[tuple[str, bytes]]) -> None:
        at = dice.randrange(len(files))
        match dice.randrange(3):
            case 0 if len(files) > 1:
                del files[at]
            case 1:
                files.append((files[at][0], other[:1000]))
            case _:
                files.insert(at, (dice.choice(_NAMES), other[:1000]))

    return _repacked(data, change)


def _repacked(data: bytes, change: Callable[[list[tuple[str, bytes]]], None]) -> bytes:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            files = [(name, archive.read(name)) for name in archive.namelist()]
    except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError, RuntimeError, EOFError, zlib.error, KeyError,
            struct.error):  # fmt: skip
        return data  # an earlier change has damaged it
    if not files:
        return data
    change(files)
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive, catch_warnings():
        simplefilter("ignore")  # names that come twice are meant
        for name, content in files:
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return sink.getvalue()


def _change_text(data: bytes, _other: bytes, dice: Random) -> bytes:
    at = dice.randrange(len(data) + 1)
    return data[:at] + dice.choice(_HOSTILE_TEXT) + data[at:]


_OF_ARCHIVES: tuple[_Change, ...] = (_change_part, _change_part, _swap_parts, _odd_entries, _change_bytes)
_CHANGES: dict[str, tuple[_Change, ...]] = {
    ".pdf": (_swap_references, _swap_objects, _change_content, _change_content, _change_bytes),
    ".docx": _OF_ARCHIVES,
    ".pptx": _OF_ARCHIVES,
    ".md": (_change_text, _change_text, _change_bytes),
}
