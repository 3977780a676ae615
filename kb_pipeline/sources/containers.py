"""Checks the ZIP container of an Office document before anything in it is unpacked.

A file of 200 KB can unpack to gigabytes, name files outside of any folder, or bring macros. All of this is in the
container's directory, which is read without unpacking.
"""

import io
import stat
import zipfile
from collections.abc import Sequence
from itertools import pairwise

from kb_pipeline.errors import UnreadableArticleError
from kb_pipeline.sources.first_bytes import kind_of

MOST_ENTRIES = 10_000
"""Files in a document; one with a picture on each of thousands of slides has fewer."""
MOST_BYTES = 500_000_000
"""Bytes of all entries, unpacked."""
MOST_XML_BYTES = 50_000_000
"""Bytes of one part of XML, unpacked; a book of 1,000 pages has some 10 million."""
_MAIN_PARTS = {
    "word/document.xml": "a Word document",
    "ppt/presentation.xml": "a PowerPoint presentation",
    "xl/workbook.xml": "a spreadsheet",
    "META-INF/container.xml": "an EPUB book",
    "content.xml": "an OpenDocument file",
}
_LARGEST_RATIO = 200
"""Unpacked bytes for each packed one, above a first megabyte. XML of real documents has up to 40."""
_FREE_BYTES = 1 << 20
"""Bytes that are unpacked whatever the ratio: they fit into memory, and blanks pack well."""
_ENCRYPTED = 0x1  # the lowest of a ZIP entry's flags
_ZIP = b"PK"
_ENTRY = b"PK\x01\x02"
"""Begins each entry of the directory."""
_LOCAL_HEADER = 30
"""Bytes before the name and the data of an entry, at least."""
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def check_container(name: str, data: bytes, part: str, *, with_macros: bool = False) -> None:
    """Check that ``data`` is the ZIP of a document whose main part is the entry ``part``, and harmless to unpack.

    ``with_macros``: it may contain macros, because its reader does not look at them.

    Raises:
        UnreadableArticleError: it is not. The message says why and what to do.
    """
    if data.startswith(_OLE):
        raise UnreadableArticleError(
            f"{name} is encrypted, or an old Office document under a new name; save it without a password"
        )
    if not data.startswith(_ZIP) and (kind := kind_of(data)):
        raise UnreadableArticleError(f"{name} is {kind} under another name; rename it, or save it again")
    if (count := data.count(_ENTRY)) > MOST_ENTRIES:  # before zipfile makes objects of them
        raise UnreadableArticleError(f"{name} is refused: it holds {count:,} files, at most {MOST_ENTRIES:,} are read")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as container:
            entries = container.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as exc:
        raise UnreadableArticleError(f"{name} is damaged or no Office document ({exc}); save it again") from exc
    names = [entry.filename for entry in entries]
    if part not in names:
        other = next((f", but {kind}" for main, kind in _MAIN_PARTS.items() if main in names), "")
        raise UnreadableArticleError(
            f"{name} has no {part}, so it is another kind of file{other}; rename it, or save it again"
        )
    if problem := problem_of(entries, with_macros=with_macros):
        raise UnreadableArticleError(f"{name} is refused: {problem}")


def problem_of(entries: Sequence[zipfile.ZipInfo], most_bytes: int = MOST_BYTES, *, with_macros: bool = False) -> str:
    """Return why a ZIP with these entries is not unpacked; "" if it is harmless. ``most_bytes`` are those of all."""
    seen: set[str] = set()
    total = 0
    for entry in entries:
        shown = ascii(entry.filename[:80])
        lowered = entry.filename.lower()
        total += entry.file_size
        if entry.flag_bits & _ENCRYPTED:
            return f"{shown} in it is encrypted"
        if lowered.endswith("vbaproject.bin") and not with_macros:
            return "it contains macros; save it as a document without macros"
        if ".." in entry.filename.split("/") or entry.filename.startswith("/") or "\\" in entry.filename:
            return f"it names a file outside of itself, {shown}"
        if stat.S_ISLNK(entry.external_attr >> 16):
            return f"{shown} in it is a link to another file"
        if lowered in seen:
            return f"it holds {shown} twice"
        seen.add(lowered)
        if lowered.endswith((".xml", ".rels")) and entry.file_size > MOST_XML_BYTES:
            return f"{shown} in it unpacks to {entry.file_size:,} bytes, at most {MOST_XML_BYTES:,} are read"
        if entry.file_size > _FREE_BYTES and entry.file_size > _LARGEST_RATIO * max(1, entry.compress_size):
            return f"{shown} in it unpacks to {entry.file_size:,} bytes from {entry.compress_size:,}"
    if total > most_bytes:
        return f"it unpacks to {total:,} bytes, at most {most_bytes:,} are read"
    for entry, following in pairwise(sorted(entries, key=lambda entry: entry.header_offset)):
        if entry.header_offset + _LOCAL_HEADER + entry.compress_size > following.header_offset:
            return f"{entry.filename[:80]!a} and {following.filename[:80]!a} in it share their bytes"
    return ""
