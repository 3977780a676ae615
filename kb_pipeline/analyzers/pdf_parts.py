"""Splits PDFs into parts that services accept."""

import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kb_pipeline.errors import ArticleError

if TYPE_CHECKING:
    from pypdf import PdfReader


@dataclass(frozen=True)
class PdfPart:
    """Some consecutive pages of a document, as a separate PDF."""

    pdf: bytes
    pages: int

    def has_text(self, page: int) -> bool:
        """Whether the page (counted from 0) has any text."""
        return bool(_reader(self.pdf).pages[page].extract_text().strip())


def split_pdf(pdf: bytes, max_pages: int, max_bytes: int) -> list[PdfPart]:
    """Split a document into parts within the limits; a document within the limits is the only part.

    Raises:
        ArticleError: a single page is too large, or the document is encrypted or damaged.
    """
    from pypdf.errors import PyPdfError

    try:
        reader = _reader(pdf)
        count = len(reader.pages)
        if count <= max_pages and len(pdf) <= max_bytes:
            return [PdfPart(pdf, count)]
        starts = range(0, count, max_pages)
        return [part for start in starts for part in _parts(reader, start, min(start + max_pages, count), max_bytes)]
    except PyPdfError as exc:
        raise ArticleError(
            f"its PDF cannot be sent to a service ({exc}): print it to a new PDF without a password, "
            "or choose KB_ANALYZER=local"
        ) from exc


def _parts(reader: "PdfReader", start: int, stop: int, max_bytes: int) -> Iterator[PdfPart]:
    """Split the pages in half until each part is within the limit of bytes."""
    pdf = _pages(reader, start, stop)
    if len(pdf) <= max_bytes:
        yield PdfPart(pdf, stop - start)
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

    output = io.BytesIO()
    with PdfWriter() as writer:
        writer.append(reader, pages=(start, stop), import_outline=False)
        writer.write(output)
    return output.getvalue()
