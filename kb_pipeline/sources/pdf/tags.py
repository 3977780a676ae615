"""Reads the structure tree of a PDF, page by page, into one tree for the whole document.

PDFium gives the tree of each page by itself. An element has the same place among its siblings on all of its pages, so
the pieces of one that goes on over a page are joined by their places, and ids of marked content stay with their page.
"""

import ctypes
from collections.abc import Iterable
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from kb_pipeline.sources.pdf.file import load_page
from kb_pipeline.steps.pdf.tagged import Content, Element

MOST_CHILDREN = 200_000
"""Children of an element: bounds what hostile trees cost."""
_DEEPEST = 60
"""Elements in elements: many more than a text has, and Python's stack has room for them."""
_NUMBERS, _TEXTS = ("ColSpan", "RowSpan"), ("ListNumbering", "Scope")


def is_tagged(document: pdfium.PdfDocument) -> bool:
    """Whether the document says that it has a structure tree."""
    return bool(pdfium_c.FPDFCatalog_IsTagged(document.raw))


def read_tags(document: pdfium.PdfDocument, numbers: Iterable[int]) -> list[Element]:
    """Return the elements at the top of the tree, with their content on the pages ``numbers``, counted from 1."""
    top = Element("Document")
    for number in numbers:
        try:
            page = load_page(document, number)
        except pdfium.PdfiumError:
            continue
        tree = pdfium_c.FPDF_StructTree_GetForPage(page.raw)
        if not tree:
            page.close()
            continue
        try:
            for place in range(min(pdfium_c.FPDF_StructTree_CountChildren(tree), MOST_CHILDREN)):
                if child := pdfium_c.FPDF_StructTree_GetChildAtIndex(tree, place):
                    _read(child, top, place, number, 0)
        finally:
            pdfium_c.FPDF_StructTree_Close(tree)
            page.close()
    return [child for child in top.ordered() if isinstance(child, Element)]


def _read(found: Any, parent: Element, place: int, page: int, depth: int) -> None:  # noqa: ANN401 - ctypes
    """Add an element to its parent's children, or to what an earlier page has of it."""
    element = parent.children.get(place)
    if not isinstance(element, Element):
        element = parent.children[place] = Element(
            _text(pdfium_c.FPDF_StructElement_GetType, found) or "NonStruct",
            _text(pdfium_c.FPDF_StructElement_GetAltText, found),
            _text(pdfium_c.FPDF_StructElement_GetActualText, found),
            _attributes(found),
        )
    if depth >= _DEEPEST:
        return
    for index in range(min(pdfium_c.FPDF_StructElement_CountChildren(found), MOST_CHILDREN)):
        child = pdfium_c.FPDF_StructElement_GetChildAtIndex(found, index)
        if child:
            _read(child, element, index, page, depth + 1)
            continue
        mcid = pdfium_c.FPDF_StructElement_GetChildMarkedContentID(found, index)
        if mcid >= 0:
            element.children.setdefault(index, Content(page, mcid))


def _text(function: Any, element: Any) -> str:  # noqa: ANN401 - ctypes
    length = function(element, None, 0)
    if length <= 2:
        return ""
    buffer = ctypes.create_string_buffer(length)
    function(element, buffer, length)
    return " ".join(buffer.raw[: length - 2].decode("utf-16-le", "replace").replace("\0", "").split())


def _attributes(element: Any) -> dict[str, str | float]:  # noqa: ANN401 - ctypes
    """The attributes that matter here: the spans of a cell, and how a list is numbered."""
    attributes: dict[str, str | float] = {}
    count = pdfium_c.FPDF_StructElement_GetAttributeCount(element)
    number = ctypes.c_float()
    for index in range(max(0, min(count, 20))):
        found = pdfium_c.FPDF_StructElement_GetAttributeAtIndex(element, index)
        if not found:
            continue
        for name in _NUMBERS:
            value = pdfium_c.FPDF_StructElement_Attr_GetValue(found, name.encode())
            if value and pdfium_c.FPDF_StructElement_Attr_GetNumberValue(value, number):
                attributes[name] = number.value
    if count > 0:
        for name in _TEXTS:
            length = pdfium_c.FPDF_StructElement_GetStringAttribute(element, name.encode(), None, 0)
            if length > 2:
                buffer = ctypes.create_string_buffer(length)
                pdfium_c.FPDF_StructElement_GetStringAttribute(element, name.encode(), buffer, length)
                attributes[name] = buffer.raw[: length - 2].decode("utf-16-le", "replace")
    return attributes
