"""Coordinates: from those of a PDF's page, or of a form on it, to those of a reader, in points from the top left."""

from collections.abc import Callable
from typing import TypeAlias

import pypdfium2
import pypdfium2.raw as pdfium

from kb_pipeline.steps.pdf.model import Box

ToView: TypeAlias = Callable[[float, float], tuple[float, float]]
"""From a place in the coordinates of a page or a form to that of a reader."""


def view_of(page: pypdfium2.PdfPage) -> tuple[ToView, float, float]:
    """The function from the page's own coordinates to those of a reader, and the page's width and height."""
    bounds = pdfium.FS_RECTF()
    pdfium.FPDF_GetPageBoundingBox(page.raw, bounds)
    left, bottom = min(bounds.left, bounds.right), min(bounds.bottom, bounds.top)
    right, top = max(bounds.left, bounds.right), max(bounds.bottom, bounds.top)
    turns: tuple[tuple[ToView, float, float], ...] = (
        (lambda x, y: (x - left, top - y), right - left, top - bottom),
        (lambda x, y: (y - bottom, x - left), top - bottom, right - left),
        (lambda x, y: (right - x, y - bottom), right - left, top - bottom),
        (lambda x, y: (top - y, right - x), top - bottom, right - left),
    )
    return turns[pdfium.FPDFPage_GetRotation(page.raw) % 4]


def box_of(to_view: ToView, left: float, bottom: float, right: float, top: float) -> Box:
    """The box of a reader with these two corners."""
    x1, y1 = to_view(left, bottom)
    x2, y2 = to_view(right, top)
    return Box(min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2))


def matrix_of(item: pdfium.FPDF_PAGEOBJECT) -> pdfium.FS_MATRIX:
    """How the coordinates of an object, such as a form, are placed on those around it."""
    matrix = pdfium.FS_MATRIX(1, 0, 0, 1, 0, 0)
    pdfium.FPDFPageObj_GetMatrix(item, matrix)
    return matrix


def view_inside(view: ToView, matrix: pdfium.FS_MATRIX) -> ToView:
    """The same for what is inside of an object with this matrix."""
    a, b, c, d, e, f = matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f
    return lambda x, y: view(a * x + c * y + e, b * x + d * y + f)
