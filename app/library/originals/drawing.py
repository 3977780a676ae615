"""Draws a page of a PDF with sentences marked. Runs in a limited process, because PDFs are not to be trusted.

Nothing of a PDF is executed here: forms are not initialised, and PDFium is built without JavaScript.
"""

import ctypes
import struct
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import pypdfium2
import pypdfium2.raw as pdfium
from PIL import Image, ImageChops

from app.library.originals.marking import Quote, SearchablePage, Span
from app.library.originals.page import LONGEST_SIDE, Box, DrawnPage, PageMissingError, PageUnreadableError
from kb_pipeline.records import PageLine
from kb_pipeline.sources.pdf.file import load_page

_MARK = (255, 236, 150)
"""The colour of marks, a light yellow: black letters on it stay legible, and others keep their hue."""
_PADDING = 0.05
"""Share of a line's height by which a mark reaches a little over the letters."""
_OPEN_DOCUMENTS = 4
"""PDFs that a process keeps open, for readers who turn pages."""
_COLUMN_GAP = 3.0
"""Line heights between two words that do not belong to the same line of a mark."""
_COMPRESSION = 1
"""Level of compression, of 9: a page becomes hardly larger, in half of the time."""

_open: "OrderedDict[tuple[str, int, int, int], pypdfium2.PdfDocument]" = OrderedDict()
"""Documents by path, inode, time and size, the least recently used first: opening one may take longer than drawing."""


def draw_page(
    path: str, number: int, width: int, quotes: Sequence[Quote], lines: Sequence[PageLine] = (), password: str = ""
) -> DrawnPage:
    """Draw a page ``width`` pixels wide, or less if it would be higher than :data:`LONGEST_SIDE`.

    ``number`` counts from 1. The quotes are looked for in the ``lines`` that OCR read on it, or else in its own text.

    Raises:
        PageMissingError: there is no such page.
        PageUnreadableError: the file is damaged, not a PDF, or has another password.
    """
    document = _document(path, password)
    if not 1 <= number <= len(document):
        raise PageMissingError(f"the document has {len(document)} pages")
    try:
        page = load_page(document, number)
    except pypdfium2.PdfiumError as exc:
        raise PageUnreadableError(f"page {number} is damaged") from exc
    try:
        return _drawn(page, width, quotes, lines)
    finally:
        page.close()


def _document(path: str, password: str) -> pypdfium2.PdfDocument:
    try:
        status = Path(path).stat()
    except OSError as exc:
        raise PageUnreadableError("the file is not there any more") from exc
    key = path, status.st_ino, status.st_mtime_ns, status.st_size
    if key not in _open:
        _open[key] = _opened(path, password)
    _open.move_to_end(key)
    while len(_open) > _OPEN_DOCUMENTS:
        _open.popitem(last=False)[1].close()
    return _open[key]


def _opened(path: str, password: str) -> pypdfium2.PdfDocument:
    try:
        return pypdfium2.PdfDocument(path, password=password or None)
    except pypdfium2.PdfiumError as exc:
        is_locked = pdfium.FPDF_GetLastError() == pdfium.FPDF_ERR_PASSWORD
        locked = "its password in KB_DOCUMENT_PASSWORDS is wrong" if password else "the file needs a password"
        problem = locked if is_locked else "the file is not a PDF, or it is damaged"
        raise PageUnreadableError(problem) from exc


def _drawn(page: pypdfium2.PdfPage, width: int, quotes: Sequence[Quote], lines: Sequence[PageLine]) -> DrawnPage:
    page_width, page_height = (max(side, 1.0) for side in page.get_size())
    scale = min(width, LONGEST_SIDE) / page_width
    scale = min(scale, LONGEST_SIDE / page_height)
    bitmap = page.render(scale=scale, rev_byteorder=True, draw_annots=True, may_draw_forms=False)
    # a page that is very long and narrow is drawn at least a pixel wide, but never larger than the limit
    picture = (
        bitmap.to_pil().convert("RGB").crop((0, 0, min(bitmap.width, LONGEST_SIDE), min(bitmap.height, LONGEST_SIDE)))
    )
    places = bitmap.get_posconv(page)
    marks = _marks_on_scan(lines, quotes, scale, places.to_page) if lines else _marks(page, quotes)
    to_bitmap = places.to_bitmap
    for box in (box for boxes in marks for box in boxes):
        (x0, y0), (x1, y1) = to_bitmap(box[0], box[1]), to_bitmap(box[2], box[3])
        _tint(picture, (min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)))
    found, boxes = tuple(map(bool, marks)), tuple(box for boxes in marks for box in boxes)
    return DrawnPage(_png(picture), picture.width, picture.height, found, boxes)


def _png(picture: Image.Image) -> bytes:
    """Return an RGB picture as a PNG. Pillow tries five filters for each line, which takes most of the whole time."""
    pixels, stride = picture.tobytes(), picture.width * 3
    lines = b"".join(b"\0" + pixels[start : start + stride] for start in range(0, len(pixels), stride))
    header = struct.pack(">IIBBBBB", picture.width, picture.height, 8, 2, 0, 0, 0)
    chunks = (b"IHDR", header), (b"IDAT", zlib.compress(lines, _COMPRESSION)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )


def _tint(picture: Image.Image, box: tuple[int, int, int, int]) -> None:
    """Colour a part of the picture as a highlighter does: what is dark stays dark."""
    left, top, right, bottom = max(0, box[0]), max(0, box[1]), min(picture.width, box[2]), min(picture.height, box[3])
    if left < right and top < bottom:
        part = picture.crop((left, top, right, bottom))
        picture.paste(ImageChops.multiply(part, Image.new("RGB", part.size, _MARK)), (left, top))


def _marks(page: pypdfium2.PdfPage, quotes: Sequence[Quote]) -> list[tuple[Box, ...]]:
    """Return the boxes of each quote, one for each line; none if it was not found."""
    if not quotes:
        return []
    text_page = page.get_textpage()
    try:
        text = SearchablePage("".join(_characters(text_page)))
        return [
            tuple(line for span in text.find(quote) for line in _lines(_boxes(text_page, span))) for quote in quotes
        ]
    finally:
        text_page.close()


def _marks_on_scan(
    lines: Sequence[PageLine],
    quotes: Sequence[Quote],
    scale: float,
    to_page: Callable[[int, int], tuple[float, float]],
) -> list[tuple[Box, ...]]:
    """The same for a page of which only OCR knows what stands where; its places are those of a picture of the page."""
    words = [(text, (left, -line.bottom, right, -line.top)) for line in lines for text, left, right in line.words]
    boxes = [box for text, word in words for box in _letters(text, word)]
    page = SearchablePage(" ".join(text for text, _ in words))
    marks = []
    for quote in quotes:
        parts = [line for span in page.find(quote) for line in _lines(filter(None, boxes[slice(*span)]))]
        corners = (
            (*to_page(round(left * scale), round(-top * scale)), *to_page(round(right * scale), round(-bottom * scale)))
            for left, bottom, right, top in parts
        )
        marks.append(tuple((min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)) for x1, y1, x2, y2 in corners))
    return marks


def _letters(text: str, word: Box) -> Iterator[Box | None]:
    """Yield the boxes of a word's letters, which share its width, and nothing for the space after it."""
    left, bottom, right, top = word
    width = (right - left) / max(len(text), 1)
    for at in range(len(text)):
        yield left + at * width, bottom, left + (at + 1) * width, top
    yield None


def _characters(text_page: pypdfium2.PdfTextPage) -> Iterator[str]:
    """Yield the characters of a page by their index there; invalid ones as a space."""
    for index in range(text_page.count_chars()):
        code = pdfium.FPDFText_GetUnicode(text_page, index)
        yield chr(code) if 0 < code < 0xD800 or 0xDFFF < code < 0x110000 else " "


def _boxes(text_page: pypdfium2.PdfTextPage, span: Span) -> Iterator[Box]:
    """Yield the boxes of the characters that have one; spaces that PDFium adds have none."""
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))
    for index in range(*span):
        if pdfium.FPDFText_GetCharBox(text_page, index, left, right, bottom, top):
            box = left.value, bottom.value, right.value, top.value
            if box[2] > box[0] and box[3] > box[1]:
                yield box


def _lines(boxes: Iterable[Box]) -> list[Box]:
    """Join the boxes of characters that stand on one line, and widen each line a little."""
    lines: list[Box] = []
    for box in boxes:
        if lines and _is_beside(lines[-1], box):
            left, bottom, right, top = lines[-1]
            lines[-1] = min(left, box[0]), min(bottom, box[1]), max(right, box[2]), max(top, box[3])
        else:
            lines.append(box)
    return [_widened(line) for line in lines]


def _is_beside(line: Box, box: Box) -> bool:
    """Return whether a character goes on with the line: at its height, and not far to its right or left."""
    height = max(line[3] - line[1], box[3] - box[1])
    middle = (box[1] + box[3]) / 2
    apart = max(box[0] - line[2], line[0] - box[2])
    # signs such as a full stop or a quotation mark stand at the foot or the head of the line
    return line[1] - 0.4 * height < middle < line[3] + 0.4 * height and apart < _COLUMN_GAP * height


def _widened(line: Box) -> Box:
    by = _PADDING * (line[3] - line[1])
    return line[0] - by, line[1] - by, line[2] + by, line[3] + by
