"""Opens a PDF by PDFium and reads what it says about itself: facts, outline, page labels, and what is refused by name.

PDFium runs no JavaScript here, fills in no form, and fetches nothing.
"""

import ctypes
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from kb_pipeline.errors import UnreadableArticleError
from kb_pipeline.records import DocumentFacts
from kb_pipeline.sources.first_bytes import kind_of
from kb_pipeline.steps.pdf.model import PdfOutlineEntry

MOST_OUTLINE_ENTRIES = 20_000
"""Entries: several for each of thousands of pages. An outline may lead back to itself."""
_MOST_LEVELS = 12
"""Levels of an outline; numbered headings have six or so."""
_LONGEST_LABEL = 40
"""Characters of a printed page number; the file chooses it."""
_SIGNATURE_WITHIN = 1024
"""Bytes in which "%PDF-" stands, as Acrobat reads files that something else precedes."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ufeff\ufffe\uffff]+")
_DATE = re.compile(r"(?:D:)?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:(Z)|([+-])(\d\d)'?(\d\d)?)?")


class Outline(NamedTuple):
    """A document's outline, whose entries lead to page 0 if to none, and what is wrong with it."""

    entries: tuple[PdfOutlineEntry, ...]
    warnings: tuple[str, ...]


def check_is_pdf(name: str, beginning: bytes) -> None:
    """Check that a file that begins with these bytes is a PDF.

    Raises:
        UnreadableArticleError: it is not. The message says what it is, if that is known.
    """
    if b"%PDF-" in beginning[:_SIGNATURE_WITHIN]:
        return
    kind = kind_of(beginning)
    problem = f"it is {kind}" if kind else "it does not begin with %PDF-"
    raise UnreadableArticleError(f"{name} is no PDF: {problem}; export it as PDF again, or rename it")


@contextmanager
def opened(path: Path, name: str, *, password: str = "", most_pages: int = 5_000) -> Iterator[pdfium.PdfDocument]:
    """Open the PDF at ``path``, which is called ``name`` in messages, and close it at the end.

    Raises:
        UnreadableArticleError: it is not a PDF, is damaged, needs a password, is a form without pages of its own, or
            has more than ``most_pages`` pages. The message says what to do.
    """
    with path.open("rb") as file:
        check_is_pdf(name, file.read(_SIGNATURE_WITHIN))
    document = _open(path, name, password)
    try:
        pages = len(document)
        if pages > most_pages:
            raise UnreadableArticleError(
                f"{name} has {pages:,} pages, at most {most_pages:,} are read; split it, or raise KB_DOCUMENT_PAGES"
            )
        if pages == 0:
            raise UnreadableArticleError(f"{name} is damaged: it has no pages; print or export it again")
        if document.get_formtype() == pdfium_c.FORMTYPE_XFA_FULL and _only_asks_to_wait(document):
            raise UnreadableArticleError(
                f"{name} is an XFA form, whose text only Adobe's programs can draw; print it to a PDF there"
            )
        yield document
    finally:
        document.close()


def _open(path: Path, name: str, password: str) -> pdfium.PdfDocument:
    try:
        document = pdfium.PdfDocument(path, password=password or None)
        len(document)
        return document
    except pdfium.PdfiumError as exc:
        code = getattr(exc, "err_code", None)
        if code == pdfium_c.FPDF_ERR_PASSWORD:
            problem = "the password in KB_DOCUMENT_PASSWORDS is wrong" if password else "it needs a password"
            advice = "set the right one there" if password else "set it in KB_DOCUMENT_PASSWORDS, or save it without"
            raise UnreadableArticleError(f"{name} is encrypted: {problem}; {advice}") from exc
        if code == pdfium_c.FPDF_ERR_SECURITY:
            raise UnreadableArticleError(
                f"{name} is encrypted by a method that is not supported (certificates, or a rights server); save it "
                "without protection"
            ) from exc
        raise UnreadableArticleError(
            f"{name} is damaged: no PDF reader can find its pages; print or export it again"
        ) from exc


def _only_asks_to_wait(document: pdfium.PdfDocument) -> bool:
    """Whether the only page of a form is the notice that other readers show, or nothing."""
    if len(document) > 1:
        return False
    words = page_text(document, 0).casefold().split()
    return len(words) < 5 or words[:2] == ["please", "wait..."] or "adobe" in " ".join(words[:80])


def load_page(document: pdfium.PdfDocument, number: int) -> pdfium.PdfPage:
    """Load a page, counted from 1. One whose crop box lies beside it is shown whole, as by viewers.

    Raises:
        pdfium.PdfiumError: it cannot be loaded.
    """
    page = document[number - 1]
    if all(page.get_size()):
        return page
    page.set_cropbox(*page.get_mediabox())
    page.close()
    return document[number - 1]


def page_text(document: pdfium.PdfDocument, index: int) -> str:
    """Return the text of a page as PDFium reads it, without any rules of ours; "" if the page cannot be read."""
    try:
        page = load_page(document, index + 1)
        text = page.get_textpage()
        return str(text.get_text_range())
    except pdfium.PdfiumError:
        return ""


def facts_of(document: pdfium.PdfDocument) -> tuple[str, DocumentFacts]:
    """Return what the document calls its title, and its facts."""
    entries = {key: _shown(value) for key, value in document.get_metadata_dict().items()}
    facts = DocumentFacts(
        author=entries.get("Author", "")[:500],
        created=iso_date(entries.get("CreationDate", "")),
        changed=iso_date(entries.get("ModDate", "")),
        producer=(entries.get("Producer", "") or entries.get("Creator", ""))[:200],
    )
    return entries.get("Title", "")[:300], facts


def iso_date(written: str) -> str:
    """Return a date of a PDF (``D:20240131120000+01'00'``) as ISO 8601, as exact as it is; "" if it is none."""
    match = _DATE.match(written)
    if not match:
        return ""
    year, month, day, hour, minute, second, utc, sign, hours, minutes = match.groups()
    if not (year > "0000" and "01" <= (month or "01") <= "12" and "01" <= (day or "01") <= "31"):
        return ""
    date = "-".join(filter(None, (year, month, day if month else None)))
    if not (day and hour) or hour > "23" or (minute or "00") > "59" or (second or "00") > "59":
        return date
    zone = "Z" if utc else f"{sign}{hours}:{minutes or '00'}" if sign else ""
    return f"{date}T{hour}:{minute or '00'}:{second or '00'}{zone}"


def labels_of(document: pdfium.PdfDocument) -> tuple[str, ...]:
    """Return what is printed on each page as its number, "" where that is its position; long ones are cut."""
    labels = []
    for index in range(len(document)):
        length = pdfium_c.FPDF_GetPageLabel(document, index, None, 0)
        label = _shown(_utf16(pdfium_c.FPDF_GetPageLabel, length, document, index)) if length > 2 else ""
        labels.append("" if label == str(index + 1) else label[:_LONGEST_LABEL])
    return tuple(labels)


def outline_of(document: pdfium.PdfDocument) -> Outline:
    """Read the outline: each entry with a title once, and none if there are more than 20,000."""
    pages = len(document)
    entries: list[PdfOutlineEntry] = []
    outside, again = 0, 0
    seen: set[int] = set()
    stack = [(pdfium_c.FPDFBookmark_GetFirstChild(document, None), 1)]
    while stack:
        bookmark, level = stack.pop()
        if not bookmark:
            continue
        if (address := ctypes.addressof(bookmark.contents)) in seen:
            again += 1
            continue
        if len(seen) >= MOST_OUTLINE_ENTRIES:
            return Outline((), (f"the outline has more than {MOST_OUTLINE_ENTRIES:,} entries and was ignored",))
        seen.add(address)
        stack.append((pdfium_c.FPDFBookmark_GetNextSibling(document, bookmark), level))
        if level < _MOST_LEVELS:
            stack.append((pdfium_c.FPDFBookmark_GetFirstChild(document, bookmark), level + 1))
        length = pdfium_c.FPDFBookmark_GetTitle(bookmark, None, 0)
        title = _shown(_utf16(pdfium_c.FPDFBookmark_GetTitle, min(length, 4_000), bookmark)) if length > 2 else ""
        page, top = _target(document, bookmark, pages)
        if title:
            outside += page == 0
            entries.append(PdfOutlineEntry(title, level, page, top))
    warnings = [f"entries of the outline that lead to no page: {outside}"] if outside else []
    if again:
        warnings.append("the outline leads back to itself; each of its entries was read once")
    return Outline(tuple(entries), tuple(warnings))


def _target(document: pdfium.PdfDocument, bookmark: object, pages: int) -> tuple[int, float | None]:
    target = pdfium_c.FPDFBookmark_GetDest(document, bookmark)
    if not target or _leads_to_another_file(pdfium_c.FPDFBookmark_GetAction(bookmark)):
        return 0, None
    index = pdfium_c.FPDFDest_GetDestPageIndex(document, target)
    if not 0 <= index < pages:
        return 0, None
    has_x, has_y, has_zoom = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    x, y, zoom = ctypes.c_float(), ctypes.c_float(), ctypes.c_float()
    has_place = pdfium_c.FPDFDest_GetLocationInPage(target, has_x, has_y, has_zoom, x, y, zoom)
    if not (has_place and has_y.value):
        return index + 1, None
    size = pdfium_c.FS_SIZEF()
    pdfium_c.FPDF_GetPageSizeByIndexF(document, index, size)
    return index + 1, size.height - y.value


def _leads_to_another_file(action: object) -> bool:
    """Whether an action of PDFium goes to a page of another document, whose number it tells like one of this."""
    return bool(action) and pdfium_c.FPDFAction_GetType(action) == pdfium_c.PDFACTION_REMOTEGOTO


def warnings_of(document: pdfium.PdfDocument) -> tuple[str, ...]:
    """Say what the document contains that is left out: attached files and scripts."""
    warnings = []
    attached = document.count_attachments()
    if attached:
        names = ", ".join(_name_of_attachment(document, index) for index in range(min(3, attached)))
        warnings.append(f"{attached} attached files were not read: {names}" + (", ..." if attached > 3 else ""))
    if scripts := pdfium_c.FPDFDoc_GetJavaScriptActionCount(document):
        warnings.append(f"{max(scripts, 1)} scripts in the document were not run" if scripts > 0 else "a broken script")
    return tuple(warnings)


def _name_of_attachment(document: pdfium.PdfDocument, index: int) -> str:
    try:
        return ascii(document.get_attachment(index).get_name()[:80])
    except pdfium.PdfiumError:  # nothing but its entry in the list is there
        return "a damaged one"


def _utf16(function: object, length: int, *arguments: object) -> str:
    """Call a function of PDFium that writes ``length`` bytes of UTF-16, a zero at their end."""
    buffer = ctypes.create_string_buffer(length + 2)
    function(*arguments, buffer, length)  # type: ignore[operator]
    return buffer.raw[: length - 2].decode("utf-16-le", "replace")


def _shown(text: str) -> str:
    return " ".join(_CONTROL.sub(" ", text).split())
