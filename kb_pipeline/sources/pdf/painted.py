"""What a loaded page of a PDF paints, in its order, and drawing the page with some of it only."""

import ctypes
from collections.abc import Callable, Collection, Iterable
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium

from kb_pipeline.sources.pdf.coordinates import ToView, box_of, matrix_of, view_inside
from kb_pipeline.steps.pdf.model import Box

MOST_FORM_DEPTH = 8
"""Forms in forms: programs nest two or three, and a form may hold itself."""
_LARGE = 2_000
"""How many times larger the area becomes in which a text is painted, so that it is not cut off."""


def fast(function: Any, result: Any) -> Callable[..., Any]:  # noqa: ANN401 (ctypes has no types)
    """The same function of PDFium in a third of the time, for those called for each word or object of a page.

    It checks no argument: addresses are to be given as :func:`address_of` or ``byref`` makes them, never as numbers.
    """
    place = ctypes.cast(function, ctypes.c_void_p).value or 0
    return ctypes.PYFUNCTYPE(result)(place)


def address_of(pointer: Any) -> Any:  # noqa: ANN401 (ctypes has no types)
    """The argument of a :func:`fast` function for something of PDFium at this address."""
    return ctypes.c_void_p.from_param(pointer)


class Cover(NamedTuple):
    """Something that may hide what was painted before it, and its place in the order of painting."""

    order: int
    box: Box


class Painted:
    """The objects of a page. ``texts`` has the place of each text in the order of painting, by its address.

    ``covers`` are what was painted after a text, and ``area_of_images`` is that of images among them.
    """

    def __init__(self, page: pdfium.FPDF_PAGE, view: ToView) -> None:
        self.texts: dict[int, int] = {}
        self.covers: list[Cover] = []
        self.area_of_images = 0.0
        self._objects: list[pdfium.FPDF_PAGEOBJECT] = []
        self._sides = tuple(ctypes.c_float() for _ in range(4))
        self._modes = ctypes.c_int(), ctypes.c_int()
        for index in range(pdfium.FPDFPage_CountObjects(page)):
            self._add(pdfium.FPDFPage_GetObject(page, index), view, 0)

    def _add(self, item: pdfium.FPDF_PAGEOBJECT, view: ToView, depth: int) -> None:
        kind = pdfium.FPDFPageObj_GetType(item)
        if kind == pdfium.FPDF_PAGEOBJ_FORM:
            inner = view_inside(view, matrix_of(item))
            for index in range(pdfium.FPDFFormObj_CountObjects(item) if depth < MOST_FORM_DEPTH else 0):
                self._add(pdfium.FPDFFormObj_GetObject(item, index), inner, depth + 1)
            return
        if kind == pdfium.FPDF_PAGEOBJ_TEXT:
            self.texts[ctypes.cast(item, ctypes.c_void_p).value or 0] = len(self._objects)
        elif self.texts and self._fills(item, kind) and pdfium.FPDFPageObj_GetBounds(item, *self._sides):
            box = box_of(view, *(side.value for side in self._sides))
            self.covers.append(Cover(len(self._objects), box))
            self.area_of_images += box.width * box.height if kind == pdfium.FPDF_PAGEOBJ_IMAGE else 0
        self._objects.append(item)

    def _fills(self, item: pdfium.FPDF_PAGEOBJECT, kind: int) -> bool:
        if kind != pdfium.FPDF_PAGEOBJ_PATH:
            return True
        fill, stroke = self._modes
        pdfium.FPDFPath_GetDrawMode(item, fill, stroke)
        return bool(fill.value or stroke.value)

    def show(self, texts: Collection[int], *, others: bool = True) -> None:
        """Let only these texts be drawn from now on, by their addresses, with all that is no text or without."""
        is_shown = [others] * len(self._objects)
        for text, place in self.texts.items():
            is_shown[place] = text in texts
        for item, shown in zip(self._objects, is_shown, strict=True):
            pdfium.FPDFPageObj_SetIsActive(item, shown)

    def lay_bare(self, texts: Iterable[int]) -> None:
        """Let texts be black, opaque and not cut off from now on."""
        for text in texts:
            item = self._objects[self.texts[text]]
            pdfium.FPDFPageObj_SetFillColor(item, 0, 0, 0, 255)
            pdfium.FPDFTextObj_SetTextRenderMode(item, pdfium.FPDF_TEXTRENDERMODE_FILL)
            x, y = _middle_of_clip(item)
            pdfium.FPDFPageObj_TransformClipPath(item, _LARGE, 0, 0, _LARGE, x - x * _LARGE, y - y * _LARGE)

    def can_be_drawn(self, page: Any, text: int) -> bool:  # noqa: ANN401 - pypdfium2 has no types
        """Whether a text that was laid bare would be seen if its layer were on, and if it were not cut off wholly.

        A font may have no letters that can be drawn here: one that is not embedded, for Japanese.
        """
        item = self._objects[self.texts[text]]
        if pdfium.FPDFClipPath_CountPaths(pdfium.FPDFPageObj_GetClipPath(item)) > 0:
            return True
        bitmap = pdfium.FPDFTextObj_GetRenderedBitmap(page.pdf, page, item, 1.0)
        if not bitmap:
            return False
        try:
            size = pdfium.FPDFBitmap_GetStride(bitmap) * pdfium.FPDFBitmap_GetHeight(bitmap)
            return any(ctypes.string_at(pdfium.FPDFBitmap_GetBuffer(bitmap), size))
        finally:
            pdfium.FPDFBitmap_Destroy(bitmap)


def _middle_of_clip(item: pdfium.FPDF_PAGEOBJECT) -> tuple[float, float]:
    """The middle of the smallest path that cuts an object off."""
    clip = pdfium.FPDFPageObj_GetClipPath(item)
    x, y = ctypes.c_float(), ctypes.c_float()
    found: list[tuple[float, float, float]] = []
    for path in range(max(pdfium.FPDFClipPath_CountPaths(clip), 0)):
        points = []
        for place in range(max(pdfium.FPDFClipPath_CountPathSegments(clip, path), 0)):
            pdfium.FPDFPathSegment_GetPoint(pdfium.FPDFClipPath_GetPathSegment(clip, path, place), x, y)
            points.append((x.value, y.value))
        if points:
            (left, bottom), (right, top) = (tuple(map(end, zip(*points, strict=True))) for end in (min, max))
            found.append(((right - left) * (top - bottom), (left + right) / 2, (bottom + top) / 2))
    _, *middle = min(found, default=(0.0, 0.0, 0.0))
    return middle[0], middle[1]
