"""PDFs above the limits of Mistral Document AI are split at page borders. Not here: how they are read and joined."""

import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kb_pipeline.errors import ArticleError

if TYPE_CHECKING:
    from pypdf import PdfReader

MAX_PAGES = 30
MAX_BYTES = 30_000_000 * 3 // 4
"""30 MB, of a document as it is sent: in base64, four characters for three bytes."""


@dataclass(frozen=True)
class Part:
    """Some consecutive pages of a document, as a PDF of their own."""

    pdf: bytes
    pages: int

    def has_text(self, page: int) -> bool:
        """Whether there is any text on the page (from 0)."""
        return bool(_reader(self.pdf).pages[page].extract_text().strip())


def split_pdf(pdf: bytes, max_pages: int = MAX_PAGES, max_bytes: int = MAX_BYTES) -> list[Part]:
    """Split a document into parts within the limits; one that is within them is its only part.

    Raises:
        ArticleError: a single page is too large.
    """
    reader = _reader(pdf)
    count = len(reader.pages)
    if count <= max_pages and len(pdf) <= max_bytes:
        return [Part(pdf, count)]
    starts = range(0, count, max_pages)
    return [part for start in starts for part in _parts(reader, start, min(start + max_pages, count), max_bytes)]


def _parts(reader: "PdfReader", start: int, stop: int, max_bytes: int) -> Iterator[Part]:
    """Halve what has too many bytes."""
    pdf = _pages(reader, start, stop)
    if len(pdf) <= max_bytes:
        yield Part(pdf, stop - start)
    elif stop - start == 1:
        raise ArticleError(f"page {start + 1} of its PDF has {len(pdf):,} bytes, more than {max_bytes:,}")
    else:
        middle = (start + stop) // 2
        yield from _parts(reader, start, middle, max_bytes)
        yield from _parts(reader, middle, stop, max_bytes)


def _reader(pdf: bytes) -> "PdfReader":
    from pypdf import PdfReader

    return PdfReader(io.BytesIO(pdf))


def _pages(reader: "PdfReader", start: int, stop: int) -> bytes:
    from pypdf import PdfWriter

    written = io.BytesIO()
    with PdfWriter() as writer:
        writer.append(reader, pages=(start, stop), import_outline=False)
        writer.write(written)
    return written.getvalue()
