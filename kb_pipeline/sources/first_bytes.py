"""What a file is by its first bytes, whatever its name says."""

from collections.abc import Mapping

_FORMATS: Mapping[bytes, str] = {
    b"%PDF-": "a PDF file",
    b"PK\x03\x04": "a ZIP archive or an Office document",
    b"\xd0\xcf\x11\xe0": "an old or encrypted Office document",
    b"{\\rtf": "an RTF document",
    b"%!PS": "a PostScript file",
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"\x1f\x8b": "a compressed file",
    b"7z\xbc\xaf": "a 7-Zip archive",
    b"\x7fELF": "a program",
}
_PAGE = "a page of HTML or XML"
_LOOKED_AT = 1024
"""Bytes: browsers look at as many to tell what a file is."""


def binary_kind_of(data: bytes) -> str:
    """Return what a file that begins so is, with its article, if it is known and cannot be text; else ""."""
    beginning = _beginning(data)
    return next((kind for start, kind in _FORMATS.items() if beginning.startswith(start)), "")


def kind_of(data: bytes) -> str:
    """Return what a file that begins so is, with its article; "" if nobody knows."""
    beginning = _beginning(data)
    if not beginning:
        return "an empty file"
    return _PAGE if beginning.startswith(b"<") else binary_kind_of(data)


def _beginning(data: bytes) -> bytes:
    return data[:_LOOKED_AT].removeprefix(b"\xef\xbb\xbf").lstrip()
