"""Reads the images of a PDF's page, and draws parts of pages and whole pages as PNG."""

import ctypes
import io

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c
from PIL import Image

from kb_pipeline.sources.pdf.coordinates import box_of, matrix_of, view_inside, view_of
from kb_pipeline.sources.pdf.painted import MOST_FORM_DEPTH
from kb_pipeline.steps.pdf.figures import Raster
from kb_pipeline.steps.pdf.model import Box

LONGEST_SIDE = 2_000
"""Pixels of a figure."""
OCR_DPI = 150
"""Letters of 8 points are then 17 pixels high, which OCR reads; more takes longer."""
_OCR_PIXELS = 8_000_000
"""A page of A3 at that resolution has four million, a poster is read coarser."""
_MOST_OBJECTS = 20_000
"""Objects of a form, and images of a page: bounds what hostile pages cost."""


def rasters_of(page: pdfium.PdfPage) -> list[Raster]:
    """Return the images of a loaded page, also those inside of forms."""
    rasters: list[Raster] = []
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    width, height = ctypes.c_uint(), ctypes.c_uint()
    view, _, _ = view_of(page)
    stack = [(pdfium_c.FPDFPage_GetObject(page.raw, place), view, 0) for place in range(_count(page))]
    while stack:
        item, to_view, depth = stack.pop()
        kind = pdfium_c.FPDFPageObj_GetType(item)
        if kind == pdfium_c.FPDF_PAGEOBJ_FORM and depth < MOST_FORM_DEPTH:
            within = view_inside(to_view, matrix_of(item))
            inner = range(min(pdfium_c.FPDFFormObj_CountObjects(item), _MOST_OBJECTS))
            stack += ((pdfium_c.FPDFFormObj_GetObject(item, place), within, depth + 1) for place in inner)
        elif kind == pdfium_c.FPDF_PAGEOBJ_IMAGE and len(rasters) < _MOST_OBJECTS:
            if not pdfium_c.FPDFPageObj_GetBounds(item, left, bottom, right, top):
                continue
            if not pdfium_c.FPDFImageObj_GetImagePixelSize(item, width, height):
                continue
            box = box_of(to_view, left.value, bottom.value, right.value, top.value)
            stored = pdfium_c.FPDFImageObj_GetImageDataRaw(item, None, 0)
            mcid = pdfium_c.FPDFPageObj_GetMarkedContentID(item)
            rasters.append(
                Raster(box, width.value, height.value, mcid, (width.value, height.value, stored)),
            )
    return rasters


def painted_boxes(page: pdfium.PdfPage) -> dict[int, Box]:
    """Return the box of all that a loaded page paints besides text and images, by the id of its marked content."""
    to_view, _, _ = view_of(page)
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    boxes: dict[int, Box] = {}
    for place in range(_count(page)):
        item = pdfium_c.FPDFPage_GetObject(page.raw, place)
        mcid = pdfium_c.FPDFPageObj_GetMarkedContentID(item)
        kind = pdfium_c.FPDFPageObj_GetType(item)
        if mcid < 0 or kind in (pdfium_c.FPDF_PAGEOBJ_TEXT, pdfium_c.FPDF_PAGEOBJ_IMAGE):
            continue
        if pdfium_c.FPDFPageObj_GetBounds(item, left, bottom, right, top):
            box = box_of(to_view, left.value, bottom.value, right.value, top.value)
            boxes[mcid] = boxes[mcid].union(box) if mcid in boxes else box
    return boxes


def _count(page: pdfium.PdfPage) -> int:
    return int(min(pdfium_c.FPDFPage_CountObjects(page.raw), _MOST_OBJECTS))


def draw_region(page: pdfium.PdfPage, box: Box, scale: float) -> bytes:
    """Draw a part of a page as PNG with ``scale`` pixels a point, at most 2,000 pixels on a side."""
    _, width, height = view_of(page)
    scale = min(scale, LONGEST_SIDE / max(box.width, box.height, 1))
    crop = (box.left, height - box.bottom, width - box.right, box.top)
    return _png(page.render(scale=scale, crop=tuple(max(0.0, side) for side in crop)))


def draw_page(page: pdfium.PdfPage) -> tuple[bytes, float]:
    """Draw a whole page as PNG for OCR, at 150 dpi unless it is huge; return also its pixels a point."""
    _, width, height = view_of(page)
    scale = min(OCR_DPI / 72, (_OCR_PIXELS / max(width * height, 1)) ** 0.5)
    return _png(page.render(scale=scale)), scale


def turned(picture: bytes, degrees: int) -> bytes:
    """The picture (PNG) turned against the clock."""
    with Image.open(io.BytesIO(picture)) as image:
        data = io.BytesIO()
        image.rotate(degrees, expand=True).save(data, "PNG")
        return data.getvalue()


def _png(bitmap: pdfium.PdfBitmap) -> bytes:
    image: Image.Image = bitmap.to_pil()
    data = io.BytesIO()
    (image if image.mode in ("RGB", "L") else image.convert("RGB")).save(data, "PNG")
    return data.getvalue()
