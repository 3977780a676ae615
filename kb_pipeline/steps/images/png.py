"""PNG files as a sequence of chunks: validate them and remove metadata without decoding pixels.

Format: W3C PNG (Third Edition), sections 5 (datastream structure) and 11 (chunk specifications).
"""

import struct
import zlib
from collections.abc import Iterator
from typing import NamedTuple

from kb_pipeline.errors import ImageError

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_IHDR = struct.Struct(">IIBBBBB")
_CRITICAL = frozenset({b"IHDR", b"PLTE", b"IDAT", b"IEND"})
_COLOURS = frozenset({b"tRNS", b"gAMA", b"cHRM", b"sRGB", b"iCCP", b"cICP", b"sBIT", b"bKGD", b"pHYs"})
_KEPT = _CRITICAL | _COLOURS
"""The chunks that define how a still picture looks; all others are metadata or animation."""


class PngChunk(NamedTuple):
    """A chunk's type, and its encoded bytes with length and checksum."""

    kind: bytes
    encoded: memoryview

    @property
    def body(self) -> memoryview:
        return self.encoded[8:-4]


def read_chunks(data: bytes) -> list[PngChunk]:
    """Read all chunks up to ``IEND``; damaged chunks that the picture does not need are dropped.

    Raises:
        ImageError: the data is not a PNG or is truncated, or a checksum is wrong.
    """
    if not data.startswith(SIGNATURE):
        raise ImageError("the bytes are not a PNG")
    chunks = list(_chunks(memoryview(data)))
    kinds = [chunk.kind for chunk in chunks]
    if kinds[0] != b"IHDR" or len(chunks[0].body) != _IHDR.size or b"IDAT" not in kinds:
        raise ImageError("the PNG is damaged: it holds no picture data")
    return chunks


def size(chunks: list[PngChunk]) -> tuple[int, int]:
    """Return width and height."""
    width, height, *_ = _IHDR.unpack(chunks[0].body)
    return width, height


def is_plain(chunks: list[PngChunk]) -> bool:
    """Return whether dropping chunks makes the PNG plain: at most 8 bits per channel, and no EXIF data to rotate it."""
    bit_depth = _IHDR.unpack(chunks[0].body)[2]
    return bit_depth <= 8 and all(chunk.kind != b"eXIf" for chunk in chunks)


def without_metadata(chunks: list[PngChunk]) -> bytes:
    """Encode only the still picture; the result equals the input if there was nothing else."""
    return SIGNATURE + b"".join(chunk.encoded for chunk in chunks if chunk.kind in _KEPT)


def _chunks(view: memoryview) -> Iterator[PngChunk]:
    position = len(SIGNATURE)
    kind = b""
    while kind != b"IEND":
        if position + 12 > len(view):
            raise ImageError("the PNG is truncated")
        length, kind = struct.unpack_from(">I4s", view, position)
        end = position + 12 + length
        if end > len(view):
            raise ImageError("the PNG is truncated")
        (checksum,) = struct.unpack_from(">I", view, end - 4)
        if zlib.crc32(view[position + 4 : end - 4]) == checksum:
            yield PngChunk(kind, view[position:end])
        elif kind in _CRITICAL:
            raise ImageError(f"the PNG is damaged: wrong checksum in its {kind.decode()} chunk")
        position = end
