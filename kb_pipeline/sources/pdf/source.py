"""PDF files, read by PDFium: by their structure tags, else by the layout of their pages, else by OCR."""

import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import ClassVar, TypeVar

from kb_pipeline.errors import EmptyArticleError, UnreadableArticleError
from kb_pipeline.limited import doing, waiting
from kb_pipeline.limited.process import LimitedProcess
from kb_pipeline.records import OutlineEntry, PageInfo, PageLine
from kb_pipeline.sources.base import Source, SourceDocument, SourceTools
from kb_pipeline.sources.own_process import call_in, check_size
from kb_pipeline.sources.pdf.figures import turned
from kb_pipeline.sources.pdf.file import check_is_pdf
from kb_pipeline.sources.pdf.reading import Lines, PdfReading, draw, read
from kb_pipeline.steps.describe.lines import OcrLine
from kb_pipeline.steps.pdf.scanned import is_sure, lines_on_page, turn_of

T = TypeVar("T")

_ADVICE = (
    "raise KB_DOCUMENT_SECONDS or KB_DOCUMENT_MEMORY_MB, or print it to a simpler PDF",
    "print it to a PDF again",
)
_TEXT = re.compile(r"[^\W_]")


class PdfSource(Source):
    """Reads PDF files in a process of its own, which is killed when a file takes too long or needs too much memory."""

    version: ClassVar[str] = f"pdf-11+pdfium-{version('pypdfium2')}"

    def __init__(self, tools: SourceTools | None = None, process: LimitedProcess | None = None) -> None:
        self._tools = tools or SourceTools()
        self._process = process or LimitedProcess(quiet=True)

    def equipped(self, tools: SourceTools) -> Source:
        return PdfSource(tools, self._process)

    def read(self, article_id: str, name: str, data: bytes) -> SourceDocument:
        try:
            check_size(name, data, self._tools.limits)
            check_is_pdf(name, data)
            with tempfile.TemporaryDirectory(prefix="kb-pdf-") as folder:
                path = Path(folder) / "document.pdf"
                path.write_bytes(data)
                reading, ocr = self._read(path, name)
        except UnreadableArticleError as exc:
            raise UnreadableArticleError(f"{article_id}: {exc}") from exc
        self._check_is_something(article_id, name, reading)
        return SourceDocument(
            reading.html,
            reading.title,
            reading.images,
            reading.warnings,
            reading.pages,
            reading.facts,
            reading.control,
            reading.left_out,
            tuple(OutlineEntry(title=entry.title, level=entry.level, page=entry.page) for entry in reading.outline),
            _places(reading.pages, ocr),
            reading.beside_text,
        )

    def _read(self, path: Path, name: str) -> tuple[PdfReading, Mapping[int, Lines]]:
        """Read the document, and return also what OCR read on its pages, by number."""
        password, limits = self._tools.password, self._tools.limits
        reading = self._call(name, read, path, name, password, limits.most_pages, None)
        if not reading.unread:
            return reading, {}
        if len(reading.unread) > limits.most_ocr_pages:
            raise UnreadableArticleError(
                f"{name} has {len(reading.unread):,} pages without usable text, which OCR would have to read; at most "
                f"{limits.most_ocr_pages:,} are: scan it with text recognition, or raise KB_OCR_PAGES"
            )
        lines: dict[int, Lines] = {}
        if self._tools.read_picture:
            for number in reading.unread:
                picture, scale = self._call(name, draw, path, name, password, number)
                doing(f"reading page {number} of {name} by OCR")
                with waiting():  # the number of such pages is limited, not their time
                    lines[number] = _recognised(self._tools.read_picture, picture, scale)
        read_again = self._call(name, read, path, name, password, limits.most_pages, lines)
        if self._tools.read_picture:
            return read_again, lines
        pages = tuple(_as_unread(page) if page.number in reading.unread else page for page in read_again.pages)
        return replace(read_again, pages=pages), lines

    def _call(self, name: str, function: Callable[..., T], *arguments: object) -> T:
        return call_in(self._process, self._tools.limits, name, _ADVICE, function, *arguments)

    def _check_is_something(self, article_id: str, name: str, reading: PdfReading) -> None:
        body = re.sub(r"<[^>]*>", "", reading.html.partition("<body>")[2])
        if _TEXT.search(body) or reading.images:
            return
        pages = len(reading.pages)
        if any(page.read_by == "ocr" for page in reading.pages):  # without OCR, nobody knows
            return
        counted = f"{pages} pages, none holds" if pages > 1 else "1 page, which holds no"
        raise EmptyArticleError(f"{article_id}: {name} has {counted} text, and OCR finds none")


def _recognised(read_picture: Callable[[bytes], Sequence[OcrLine]], picture: bytes, scale: float) -> Lines:
    """What OCR reads on a picture, which is turned if its lines are; nothing if it is not sure of it then either."""
    lines = read_picture(picture)
    if turn := turn_of(lines):
        upright = read_picture(turned(picture, turn))
        if turn_of(upright):
            return Lines((), scale, unsure=True) if not is_sure(lines) else Lines(tuple(lines), scale)
        lines = upright
    return Lines(tuple(lines), scale, turn)


def _places(pages: Sequence[PageInfo], ocr: Mapping[int, Lines]) -> dict[int, tuple[PageLine, ...]]:
    """Where the lines that OCR read stand on their pages, by number."""
    sizes = {page.number: (page.width, page.height) for page in pages}
    places = {
        number: lines_on_page(found.lines, found.scale, found.turn, *sizes[number]) for number, found in ocr.items()
    }
    return {number: lines for number, lines in places.items() if lines}


def _as_unread(page: PageInfo) -> PageInfo:
    return page.model_copy(update={"read_by": "ocr"})
