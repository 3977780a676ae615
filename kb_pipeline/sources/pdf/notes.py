"""Reads what PDFium's text of a page has not: notes in boxes, and what is filled into a form. Nothing is changed."""

import ctypes
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from kb_pipeline.sources.pdf.coordinates import ToView, box_of, view_of
from kb_pipeline.steps.pdf.notes import Note, sorted_notes

_UNSEEN = pdfium.FPDF_ANNOT_FLAG_HIDDEN | pdfium.FPDF_ANNOT_FLAG_NOVIEW
_PASSWORD = 1 << 13  # ISO 32000-2, table 231: bit 14 of a text field's flags
_MOST = 2_000
"""Annotations of a page that are looked at."""
_LONGEST = 20_000
"""Bytes of a note: pages of text."""
_COMMENTS = {
    *(pdfium.FPDF_ANNOT_TEXT, pdfium.FPDF_ANNOT_HIGHLIGHT, pdfium.FPDF_ANNOT_UNDERLINE),
    *(pdfium.FPDF_ANNOT_SQUIGGLY, pdfium.FPDF_ANNOT_STRIKEOUT, pdfium.FPDF_ANNOT_CARET),
}
"""What opens only on a click."""


def notes_of(page: pypdfium2.PdfPage) -> tuple[list[Note], int]:
    """Return the notes that a loaded page shows, and the number of comments that open on a click."""
    to_view, _, _ = view_of(page)
    notes, comments = [], 0
    for annotation in _annotations(page):
        kind = pdfium.FPDFAnnot_GetSubtype(annotation)
        if kind == pdfium.FPDF_ANNOT_FREETEXT and (
            text := _value(pdfium.FPDFAnnot_GetStringValue, annotation, b"Contents")
        ):
            notes.append(Note(_box(annotation, to_view), text))
        elif kind in _COMMENTS:
            comments += bool(_value(pdfium.FPDFAnnot_GetStringValue, annotation, b"Contents"))
    return sorted_notes(notes), comments


def fields_of(document: pypdfium2.PdfDocument) -> Mapping[int, list[Note]]:
    """Return what is filled into the form of a document, by page, counted from 1."""
    if document.get_formtype() not in (pdfium.FORMTYPE_ACRO_FORM, pdfium.FORMTYPE_XFA_FOREGROUND):
        return {}
    document.init_forms()
    form = document.formenv
    if form is None:
        return {}
    notes: dict[int, list[Note]] = {}
    try:
        for index in range(len(document)):
            try:
                page = document[index]
            except pypdfium2.PdfiumError:
                continue
            to_view, _, _ = view_of(page)
            fields = [
                Note(_box(annotation, to_view), text, is_field=True)
                for annotation in _annotations(page)
                if pdfium.FPDFAnnot_GetSubtype(annotation) == pdfium.FPDF_ANNOT_WIDGET
                and (text := _of_field(form.raw, annotation))
            ]
            if fields:
                notes[index + 1] = sorted_notes(fields)
            page.close()
    finally:
        form.close()
        document.formenv = None
    return notes


def _of_field(form: Any, annotation: Any) -> str:  # noqa: ANN401 - ctypes
    kind = pdfium.FPDFAnnot_GetFormFieldType(form, annotation)
    if kind in (pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON):
        return "☑" if pdfium.FPDFAnnot_IsChecked(form, annotation) else "☐"
    if kind not in (pdfium.FPDF_FORMFIELD_TEXTFIELD, pdfium.FPDF_FORMFIELD_COMBOBOX, pdfium.FPDF_FORMFIELD_LISTBOX):
        return ""
    if kind == pdfium.FPDF_FORMFIELD_TEXTFIELD and pdfium.FPDFAnnot_GetFormFieldFlags(form, annotation) & _PASSWORD:
        return ""
    return _value(pdfium.FPDFAnnot_GetFormFieldValue, form, annotation)


def _annotations(page: pypdfium2.PdfPage) -> Iterator[Any]:
    """The annotations of a page that are shown."""
    for index in range(min(pdfium.FPDFPage_GetAnnotCount(page.raw), _MOST)):
        with _closed(pdfium.FPDFPage_GetAnnot(page.raw, index)) as annotation:
            if annotation and not pdfium.FPDFAnnot_GetFlags(annotation) & _UNSEEN:
                yield annotation


@contextmanager
def _closed(annotation: Any) -> Iterator[Any]:  # noqa: ANN401 - ctypes
    try:
        yield annotation
    finally:
        if annotation:
            pdfium.FPDFPage_CloseAnnot(annotation)


def _box(annotation: Any, to_view: ToView) -> Any:  # noqa: ANN401 - ctypes
    bounds = pdfium.FS_RECTF()
    pdfium.FPDFAnnot_GetRect(annotation, bounds)
    return box_of(to_view, bounds.left, bounds.bottom, bounds.right, bounds.top)


def _value(function: Callable[..., int], *arguments: Any) -> str:
    """A text of an annotation, its lines apart."""
    length = min(function(*arguments, None, 0), _LONGEST)
    if length <= 2:
        return ""
    buffer = ctypes.create_string_buffer(length)
    function(*arguments, ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), length)
    text = buffer.raw[: length - 2].decode("utf-16-le", "replace").replace("\0", "")
    return "\n".join(" ".join(line.split()) for line in text.splitlines() if line.strip())
