"""Finds the letters of a PDF's page that no reader sees: below something opaque, in the ground's colour, cut off, off.

What is painted decides, not how it is hidden: letters are unseen if the page looks the same without them. A first look
at the whole page without its text finds words that leave no trace. A second one, letter by letter, is for these and for
words over which something was painted later, as other words may stand in their place.
"""

import ctypes
from collections.abc import Collection, Iterable, Sequence
from functools import reduce
from math import ceil, floor, hypot
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pypdfium2
import pypdfium2.raw as pdfium

from kb_pipeline.sources.pdf.coordinates import ToView, box_of
from kb_pipeline.sources.pdf.painted import Cover, Painted, address_of, fast
from kb_pipeline.steps.pdf.model import Box, Word

Pixels = npt.NDArray[Any]

_MOST_PIXELS = 6_000_000
"""Pixels of a page that is drawn, at 72 dpi; only posters have more."""
_CLOSE = 3.0
"""Pixels a point of the second look: a letter of 8 points is 12 wide."""
_TRACE, _CONTRAST = 24, 8
"""Levels, of 255, by which a pixel changes without the text: in the first look, and so that a reader notices it."""
_TOUCHED = 0.05
"""Share of a word's place: what letters of tight lines above and below it change. Letters that are seen change a
fifth."""
_DARK = 128
"""Level of a pixel that is mostly ink."""
_SHARE = 0.15
"""Share of a letter's ink. A bar drawn by hand leaves less of what is below it; more is seen of letters that can be
read."""
_ALIKE = 0.6
"""Correlation of the page with letters that are painted a second time. On 4,998 pages: from .74, others up to .35."""
_WHOLE_PAGE = 0.6
"""Share of a page that the picture of a scan covers."""
_SHOWN = 24
"""Levels between the darkest and the brightest pixel where the picture of a scan shows a word."""
_LEAST_HEIGHT, _LEAST_WIDTH = 1.0, 0.25
"""Points of a letter below which nobody reads it."""
_COVERING = {
    *(pdfium.FPDF_ANNOT_SQUARE, pdfium.FPDF_ANNOT_CIRCLE, pdfium.FPDF_ANNOT_POLYGON, pdfium.FPDF_ANNOT_INK),
    *(pdfium.FPDF_ANNOT_FREETEXT, pdfium.FPDF_ANNOT_STAMP, pdfium.FPDF_ANNOT_REDACT),
}
"""Annotations that stay on the page, unlike notes, links and the fields of a form."""

_text_object = fast(pdfium.FPDFText_GetTextObject, ctypes.c_void_p)


class PlacedWord(NamedTuple):
    """A word, and the places of its letters in PDFium's text, from ``first`` up to ``end``."""

    word: Word
    first: int
    end: int

    @property
    def places(self) -> range:
        return range(self.first, self.end)


class Unseen(NamedTuple):
    """Places of letters that no reader sees; ``blank`` are the first ones of hidden words where nothing is shown."""

    letters: frozenset[int] = frozenset()
    blank: frozenset[int] = frozenset()


def unseen_on(
    page: pypdfium2.PdfPage, text_page: pypdfium2.PdfTextPage, view: ToView, words: Sequence[PlacedWord]
) -> Unseen:
    """Find what no reader sees of these words; it is known of those in a hidden style.

    The loaded page cannot be drawn any more afterwards.
    """
    if not words:
        return Unseen()
    look = _Look(page, text_page, view)
    letters = {at for placed in words if look.is_too_small(placed) for at in placed.places}
    if shown := [placed for placed in words if not placed.word.style.hidden and placed.first not in letters]:
        letters |= look.unseen(shown)
    hidden = [placed for placed in words if placed.word.style.hidden or placed.first in letters]
    return Unseen(frozenset(letters), frozenset(placed.first for placed in hidden if look.is_blank(placed.word)))


class _Look:
    """A page that is looked at, with and without its texts."""

    def __init__(self, page: pypdfium2.PdfPage, text_page: pypdfium2.PdfTextPage, view: ToView) -> None:
        self._page, self._text_page, self._view = page, text_page, view
        self._text_address = address_of(ctypes.cast(text_page.raw, ctypes.c_void_p).value)
        self._size = page.get_width(), page.get_height()
        self._largest = float((_MOST_PIXELS / max(self._size[0] * self._size[1], 1)) ** 0.5)
        self._has_covering = _has_covering(page.raw)
        self._scale = min(1.0, self._largest)
        self._whole = self._drawn(self._scale, gray=True)

    def is_blank(self, word: Word) -> bool:
        """Whether the page shows nothing in the place of the word."""
        pixels = self._whole[_pixels(_core(word), self._scale)]
        return not pixels.size or int(pixels.max()) - int(pixels.min()) < _SHOWN

    def is_too_small(self, placed: PlacedWord) -> bool:
        """Whether a word is too small to be read: fonts that are wrong about their height or their widths are not."""
        box, turned = placed.word.box, placed.word.style.rotation in (90, 270)
        height, width = (box.width, box.height) if turned else (box.height, box.width)
        if height >= _LEAST_HEIGHT and width >= _LEAST_WIDTH * len(placed.word.text):
            return False
        matrix = pdfium.FS_MATRIX()
        pdfium.FPDFText_GetMatrix(self._text_page.raw, placed.first, matrix)
        size = pdfium.FPDFText_GetFontSize(self._text_page.raw, placed.first)
        return bool(size * min(hypot(matrix.a, matrix.b), hypot(matrix.c, matrix.d)) < _LEAST_HEIGHT)

    def unseen(self, words: Sequence[PlacedWord]) -> set[int]:
        """The places of letters of these words without which the page looks the same."""
        painted = Painted(self._page.raw, self._view)
        words = [one for one in words if self._text_of(one.first) in painted.texts]
        # the first look, at the whole page: which words leave no trace, or lie below what is painted after them?
        painted.show(())
        changed = _distance(self._whole, self._drawn(self._scale, gray=True)) > _TRACE
        painted.show(painted.texts)
        cores = [_core(one.word) for one in words]
        traces = [_leaves_trace(changed[_pixels(core, self._scale)]) for core in cores]
        covered = _covered(cores, [painted.texts[self._text_of(one.first)] for one in words], painted.covers)
        looks = list(zip(words, traces, covered, strict=True))
        suspects = [one for one, trace, is_covered in looks if is_covered or not trace]
        if not suspects:
            return set()
        # the second look, at each of their letters: how much of its ink is seen of it?
        text_of = {at: text for one in suspects for at in one.places if (text := self._text_of(at)) in painted.texts}
        boxes = {at: self._box_of(at) for at in text_of}
        close = self._closely(painted, set(text_of.values()), boxes.values())
        ink = {at: close.ink(box) for at, box in boxes.items()}
        seen = {at: close.seen(box) for at, box in boxes.items()}
        texts = {self._text_of(one.first) for one, trace, _ in looks if trace}
        texts |= {text for at, text in text_of.items() if ink[at] or seen[at]}
        # a text that can be drawn, and leaves no ink anywhere, is switched off
        with_letters = {text for at, text in text_of.items() if boxes[at].height > 0}
        off = {text for text in with_letters - texts if painted.can_be_drawn(self._page, text)}
        gone = {at: seen[at] <= _SHARE * ink[at] for at, text in text_of.items() if ink[at] or text in off}
        # letters that are gone are unseen, unless the page shows the same ones in their place
        others = [one.word.box for one, trace, is_covered in looks if trace and not is_covered]
        is_scan = painted.area_of_images > _WHOLE_PAGE * self._size[0] * self._size[1]
        letters: set[int] = set()
        for one in suspects:
            judged = [at for at in one.places if at in gone]
            unseen = [at for at in judged if gone[at]]
            if not unseen:
                continue
            box = reduce(Box.union, (boxes[at] for at in unseen))
            is_shown = close.shows_letters(box) if any(ink[at] for at in unseen) else not self.is_blank(one.word)
            is_again = is_shown and not any(other.holds(*box.middle) for other in others)
            if is_scan or not is_again:  # the same letters as shapes, or as a text that PDFium does not read twice
                letters.update(one.places if len(unseen) == len(judged) else _beside_each_other(unseen))
        return letters

    def _closely(self, painted: Painted, texts: Collection[int], boxes: Iterable[Box]) -> "_CloseUp":
        """What the page shows around these boxes with and without the texts, and these alone in black."""
        left, top, right, bottom = zip(*boxes, strict=True)
        width, height = self._size
        x, y = min(max(floor(min(left)), 0), floor(width)), min(max(floor(min(top)), 0), floor(height))
        part = Box(x, y, max(min(max(right) + 1, width), x + 1), max(min(max(bottom) + 1, height), y + 1))
        scale = min(_CLOSE, self._largest)
        whole = self._drawn(scale, part)
        painted.show(painted.texts.keys() - texts)
        without = self._drawn(scale, part)
        painted.show(texts, others=False)
        painted.lay_bare(texts)
        self._has_covering = False
        return _CloseUp(part, scale, whole, without, self._drawn(scale, part, gray=True))

    def _text_of(self, at: int) -> int:
        """The address of the text to which the letter in this place belongs."""
        return _text_object(self._text_address, at) or 0

    def _box_of(self, at: int) -> Box:
        left, right, bottom, top = (ctypes.c_double() for _ in range(4))
        pdfium.FPDFText_GetCharBox(self._text_page.raw, at, left, right, bottom, top)
        return box_of(self._view, left.value, bottom.value, right.value, top.value)

    def _drawn(self, scale: float, part: Box | None = None, *, gray: bool = False) -> Pixels:
        """The pixels of the page, or of a part of it."""
        width, height = self._size
        crop = (part.left, height - part.bottom, width - part.right, part.top) if part else (0.0, 0.0, 0.0, 0.0)
        bitmap = self._page.render(scale=scale, crop=crop, draw_annots=self._has_covering, grayscale=gray)
        try:
            return np.array(bitmap.to_numpy())
        finally:
            bitmap.close()


class _CloseUp(NamedTuple):
    """A part of a page with and without some texts, and these alone in black."""

    part: Box
    scale: float
    whole: Pixels
    without: Pixels
    bare: Pixels

    def ink(self, box: Box) -> int:
        """Pixels that the letter in this box has."""
        return int(np.count_nonzero(self.bare[self._pixels(box)] < _DARK))

    def seen(self, box: Box) -> int:
        """Pixels that change without the texts."""
        place = self._pixels(box)
        change = _distance(self.whole[place], self.without[place]) > _CONTRAST
        return int(np.count_nonzero(change.any(axis=2)))

    def shows_letters(self, box: Box) -> bool:
        """Whether the page looks like the letters in this box, whatever it is that paints them, dark or bright."""
        place = self._pixels(box)
        page, letters = self.whole[place].mean(axis=2).ravel(), self.bare[place].ravel()
        if not page.size or np.ptp(page) <= _CONTRAST or np.ptp(letters) <= _CONTRAST:
            return False
        return bool(abs(np.corrcoef(page, letters)[0, 1]) > _ALIKE)

    def _pixels(self, box: Box) -> tuple[slice, slice]:
        return _pixels(box, self.scale, ceil(self.part.left * self.scale), ceil(self.part.top * self.scale))


def _has_covering(page: pdfium.FPDF_PAGE) -> bool:
    for index in range(pdfium.FPDFPage_GetAnnotCount(page)):
        if annotation := pdfium.FPDFPage_GetAnnot(page, index):
            kind = pdfium.FPDFAnnot_GetSubtype(annotation)
            pdfium.FPDFPage_CloseAnnot(annotation)
            if kind in _COVERING:
                return True
    return False


def _core(word: Word) -> Box:
    """Where each letter of the word has ink, which neighbouring lines have not; of signs the whole box."""
    left, top, right, bottom = word.box
    if not word.text.isalnum() and not any(map(str.isalnum, word.text)):
        return word.box
    across, down = (right - left) / 4, (bottom - top) / 4
    if word.style.rotation in (0, 180):
        return Box(left, top + down, right, bottom - down)
    return Box(left + across, top, right - across, bottom) if word.style.rotation in (90, 270) else word.box


def _covered(cores: Sequence[Box], orders: Sequence[int], covers: Sequence[Cover]) -> list[bool]:
    """Which of the words have something on them that was painted later."""
    left, top, right, bottom = np.array(cores).reshape(-1, 4).T
    order, covered = np.array(orders), np.zeros(len(cores), bool)
    for cover, box in covers:
        on = (left < box.right) & (right > box.left) & (top < box.bottom) & (bottom > box.top)
        covered |= on & (order < cover)
    return [bool(one) for one in covered]


def _beside_each_other(places: Sequence[int]) -> list[int]:
    """Places with another one beside them: what covers a single letter is a stroke, not a bar."""
    return [at for at in places if at - 1 in places or at + 1 in places]


def _leaves_trace(changed: Pixels) -> bool:
    """Whether more of a word's place changes than letters of neighbouring lines reach into."""
    return bool(np.count_nonzero(changed) > _TOUCHED * changed.size)


def _distance(one: Pixels, other: Pixels) -> Pixels:
    return np.maximum(one, other) - np.minimum(one, other)


def _pixels(box: Box, scale: float, x: int = 0, y: int = 0) -> tuple[slice, slice]:
    """The rows and columns of pixels that a box touches, counted from ``x`` and ``y``."""
    left, top = max(int(box.left * scale) - x, 0), max(int(box.top * scale) - y, 0)
    return slice(top, max(ceil(box.bottom * scale) - y, 0)), slice(left, max(ceil(box.right * scale) - x, 0))
