"""Reads the pages of an opened PDF into the model of ``steps/pdf``: words, links, lines and shapes, images' places.

PDFium's text page has the letters in the order of the text, right-to-left ones included, and tells the text object of
each letter. So every word knows its own font, also a word of code inside of prose.
"""

import ctypes
import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from string import ascii_letters
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from kb_pipeline.sources.pdf.coordinates import ToView, box_of, matrix_of, view_inside, view_of
from kb_pipeline.sources.pdf.painted import MOST_FORM_DEPTH, address_of, fast
from kb_pipeline.sources.pdf.unseen import PlacedWord, Unseen, unseen_on
from kb_pipeline.steps.pdf.mirrored import RIGHT_TO_LEFT, is_right_to_left
from kb_pipeline.steps.pdf.model import ARTIFACT, Box, Drawing, Page, PdfLink, Style, Word

MOST_DRAWINGS = 4_000
"""Lines and shapes of a page that are read. A page with more shows a drawing, whose lines are no table's."""
_FIXED_FLAG, _ITALIC_FLAG, _FORCE_BOLD_FLAG = 1, 1 << 6, 1 << 18
_WIDTHS_OF_FIXED_PITCH = 3
"""Widths of the letters of such a font: its own, none, and a default for those that it lacks."""
_HYPHENS = "\x02\ufffe"
_SECOND_PLACE = "\ufdd0"
"""Stands, until words are read, at the second place of a letter that has two."""
_LINE = re.compile(r"[^\r\n]+")
_WORD = re.compile(r"[^\s\x02\ufffe]*[\x02\ufffe]|[^\s\x02\ufffe]+")
_FIXED_NAMES = ("mono", "courier", "typewriter", "consol", "menlo", "inconsolata", "lettergothic", "lucidasanst")
_FIXED_TEX_NAMES = ("cmtt", "cmsltt", "cmitt", "cmtcsc", "xtt", "ctt", "sftt", "lmtt", "lmmono", "tctt", "zi4")
_BOLD_NAMES = ("bold", "black", "heavy", "cmbx", "cmssbx", "sfbx", "ecbx", "-medi", "demi")
_ITALIC_NAMES = ("italic", "oblique", "-ital", "cmti", "cmsl", "cmbxti", "sfti", "ecti", "-obli", "slant")


_text_object = fast(pdfium.FPDFText_GetTextObject, ctypes.c_void_p)
_font_of = fast(pdfium.FPDFTextObj_GetFont, ctypes.c_void_p)
_mode_of = fast(pdfium.FPDFTextObj_GetTextRenderMode, ctypes.c_int)
_mcid_of = fast(pdfium.FPDFPageObj_GetMarkedContentID, ctypes.c_int)
_marks_of = fast(pdfium.FPDFPageObj_CountMarks, ctypes.c_int)
_font_size = fast(pdfium.FPDFText_GetFontSize, ctypes.c_double)
_matrix_at = fast(pdfium.FPDFText_GetMatrix, ctypes.c_int)
_origin = fast(pdfium.FPDFText_GetCharOrigin, ctypes.c_int)
_fill_color = fast(pdfium.FPDFPageObj_GetFillColor, ctypes.c_int)
_loose_box = fast(pdfium.FPDFText_GetLooseCharBox, ctypes.c_int)
_tuple = tuple.__new__
"""Makes a named tuple of all its fields, in a third of the time that calling its class takes."""


def read_page(document: pypdfium2.PdfDocument, page: pypdfium2.PdfPage, number: int) -> Page:
    """Read one loaded page, which cannot be drawn any more afterwards."""
    to_view, width, height = view_of(page)
    drawings, images, dropped = _graphics(page.raw, to_view)
    text_page = page.get_textpage()
    try:
        placed, text = _words(text_page.raw, to_view, Box(0, 0, width, height))
        words = tuple(_told_apart(placed, unseen_on(page, text_page, to_view, placed)))
    finally:
        text_page.close()
    return Page(
        number=number,
        width=width,
        height=height,
        words=words,
        links=tuple(_links(document.raw, page.raw, to_view)),
        drawings=tuple(drawings),
        images=tuple(images),
        label=document.get_page_label(number - 1) or "",
        text=text,
        dropped_drawings=dropped,
    )


# Words


def _words(text_page: pdfium.FPDF_TEXTPAGE, to_view: ToView, sheet: Box) -> tuple[list[PlacedWord], str]:
    """The words on the sheet with their places in the text of the page, and the text of the sheet.

    It has a NUL for each letter that its font does not tell.
    """
    text = _text(text_page)
    styles = _Styles(text_page, to_view)
    loose = pdfium.FS_RECTF()
    loose_reference = ctypes.byref(loose)
    address = address_of(ctypes.cast(text_page, ctypes.c_void_p).value)
    across, down = 2 * sheet.right, 2 * sheet.bottom
    edge, straight = -to_view(0, 0)[0], to_view(1, 0)[0] > to_view(0, 0)[0] and to_view(0, 1)[1] < to_view(0, 0)[1]
    has_unknown = "\0" in text or _SECOND_PLACE in text
    has_right_to_left, is_page = RIGHT_TO_LEFT.search(text) is not None, is_right_to_left(text)
    words: list[PlacedWord] = []
    replaced: list[tuple[int, int, str]] = []
    for line in _LINE.finditer(text):
        end, begin = -1, len(words)
        for start, stop, style, baseline in styles.runs(*line.span()):
            run_is_measured, lowest, y1, y2 = False, 0.0, 0.0, 0.0
            for match in _WORD.finditer(text, start, stop):
                first, last = match.span()
                last -= 1
                _loose_box(address, first, loose_reference)
                left, right = loose.left, loose.right
                if straight and not style.rotation:
                    if not run_is_measured:
                        # all letters of a run have one height
                        (_, y1), (_, y2) = to_view(left, loose.top), to_view(right, loose.bottom)
                        lowest = loose.bottom
                        run_is_measured = True
                    if last > first:
                        _loose_box(address, last, loose_reference)
                        if loose.right > right:
                            right = loose.right
                        if loose.left < left:
                            left = loose.left
                        if loose.top <= lowest:  # letters below each other
                            y2 = to_view(left, loose.bottom)[1]
                            run_is_measured = False
                    x1, x2 = left - edge, right - edge
                else:
                    bottom, top = loose.bottom, loose.top
                    if last > first:
                        _loose_box(address, last, loose_reference)
                        left, bottom = min(left, loose.left), min(bottom, loose.bottom)
                        right, top = max(right, loose.right), max(top, loose.top)
                    (x1, y1), (x2, y2) = to_view(left, bottom), to_view(right, top)
                    x1, x2 = min(x1, x2), max(x1, x2)
                    y1, y2 = min(y1, y2), max(y1, y2)
                if not (0 <= x1 + x2 <= across and 0 <= y1 + y2 <= down):
                    replaced.append((first, last + 1, ""))
                    continue
                box = _tuple(Box, (x1, y1, x2, y2))
                glued, end = first == end, last + 1
                letters = match.group()
                soft = letters[-1] in _HYPHENS
                if soft or (has_unknown and ("\0" in letters or _SECOND_PLACE in letters)):
                    letters = letters.rstrip(_HYPHENS).replace("\0", "").replace(_SECOND_PLACE, "") + "-" * soft
                    if not letters:
                        continue
                word = _tuple(Word, (letters, box, baseline, style, glued, soft, ""))
                words.append(_tuple(PlacedWord, (word, first, last + 1)))
        if has_right_to_left and (is_right_to_left(line.group()) or (is_page and RIGHT_TO_LEFT.search(line.group()))):
            words[begin:] = _as_painted(text_page, to_view, words[begin:])
            said = "".join(
                placed.word.text if placed.word.glued else f" {placed.word.text}" for placed in words[begin:]
            )
            replaced = [part for part in replaced if part[0] < line.start()]
            replaced.append((*line.span(), said.strip()))
    for first, end, said in reversed(replaced):
        text = text[:first] + said + text[end:]
    return words, text.replace(_SECOND_PLACE, "")


def _as_painted(text_page: pdfium.FPDF_TEXTPAGE, to_view: ToView, line: Sequence[PlacedWord]) -> Iterator[PlacedWord]:
    """The words of a line from right to left, words of other letters in it from left to right, as they are painted.

    PDFium may begin at the other end, and takes a sign at the end of the line for a part of the word beside it.
    """
    if any(placed.word.style.rotation for placed in line):
        yield from line
        return
    parts: list[PlacedWord] = []
    for placed in line:
        parts += _letters_as_painted(text_page, to_view, placed)
    parts.sort(key=lambda placed: -placed.word.box.right)
    for of_script, group in groupby(parts, lambda placed: RIGHT_TO_LEFT.search(placed.word.text) is not None):
        run = list(group)
        yield from run if of_script else _left_to_right(run)


def _letters_as_painted(text_page: pdfium.FPDF_TEXTPAGE, to_view: ToView, placed: PlacedWord) -> list[PlacedWord]:
    """A word with its letters in their order on the page; signs on the left of a Latin one are a word by themselves."""
    word, places = placed.word, placed.places
    if len(word.text) != len(places):
        return [placed]
    loose = pdfium.FS_RECTF()
    letters = []
    for letter, place in zip(word.text, places, strict=True):
        pdfium.FPDFText_GetLooseCharBox(text_page, place, loose)
        box = box_of(to_view, loose.left, loose.bottom, loose.right, loose.top)
        letters.append((box.left, box.right, letter))
    if RIGHT_TO_LEFT.search(word.text):
        if 2 * sum(after > before for before, after in pairwise(letters)) > len(letters) - 1:  # painted backwards
            letters.reverse()
            letters.sort(key=lambda letter: -letter[1])
        return [_piece(placed, letters, 0)]
    letters.sort()
    signs = next((number for number, (_, _, letter) in enumerate(letters) if letter.isalnum()), 0)
    parts = ((letters[signs:], 0), (letters[:signs], len(letters) - signs))
    return [_piece(placed, part, start) for part, start in parts if part]


def _piece(placed: PlacedWord, letters: Sequence[tuple[float, float, str]], start: int) -> PlacedWord:
    """The part of a word that these letters make, each with where it begins and ends, from the place ``start`` on."""
    box = placed.word.box._replace(
        left=min(left for left, _, _ in letters), right=max(right for _, right, _ in letters)
    )
    text = "".join(letter for _, _, letter in letters)
    word = placed.word._replace(text=text, box=box, glued=placed.word.glued or start > 0)
    return PlacedWord(word, placed.first + start, placed.first + start + len(letters))


def _left_to_right(run: Sequence[PlacedWord]) -> Iterator[PlacedWord]:
    """Words that stand side by side, from left to right if there are letters among them; signs end the last one."""
    words = [placed for placed in run if any(map(str.isalnum, placed.word.text))]
    signs = [placed for placed in run if not any(map(str.isalnum, placed.word.text))]
    if len(words) > 1 and any(map(str.isalpha, "".join(placed.word.text for placed in words))):
        words.sort(key=lambda placed: placed.word.box.left)
        words = [placed._replace(word=placed.word._replace(glued=False)) for placed in words]
    if words and signs and signs[0].word.glued:
        last = words[-1].word
        words[-1] = words[-1]._replace(word=last._replace(text=last.text + signs.pop(0).word.text))
    yield from words
    yield from signs


def _told_apart(placed: Sequence[PlacedWord], unseen: Unseen) -> Iterator[Word]:
    """The words, hidden if no reader sees them; one that is seen in part becomes its pieces."""
    hidden: dict[tuple[Style, bool], Style] = {}
    is_apart = False
    for word, first, end in placed:
        gone = [word.style.hidden or at in unseen.letters for at in range(first, end)]
        for piece, is_gone in _pieces(word, gone) if any(gone) else ((word, False),):
            if is_gone:
                look = word.style, first in unseen.blank
                style = hidden.setdefault(look, replace(word.style, hidden=True, blank=look[1]))
                yield piece._replace(style=style)
            else:
                yield piece._replace(glued=False) if is_apart and piece.glued else piece
            is_apart = is_gone  # what stands on both sides of it is not one word


def _pieces(word: Word, gone: Sequence[bool]) -> Iterator[tuple[Word, bool]]:
    """The pieces of a word whose letters are seen, and those whose letters are not."""
    if all(gone) or len(word.text) != len(gone):  # with a hyphen, or a letter that the font does not tell
        yield word, all(gone)
        return
    width = word.box.width / len(gone) if word.style.rotation == 0 else 0.0
    for is_gone, group in groupby(range(len(gone)), gone.__getitem__):
        places = list(group)
        start, rest = places[0], len(gone) - 1 - places[-1]
        box = word.box._replace(left=word.box.left + width * start, right=word.box.right - width * rest)
        text = word.text[start : len(gone) - rest]
        yield word._replace(text=text, box=box, glued=word.glued or start > 0, soft_hyphen=False), is_gone


def _text(text_page: pdfium.FPDF_TEXTPAGE) -> str:
    """One character for each index of the text page."""
    count = pdfium.FPDFText_CountChars(text_page)
    if count <= 0:
        return ""
    buffer = (ctypes.c_ushort * (count * 2 + 1))()
    written = pdfium.FPDFText_GetText(text_page, 0, count, buffer)
    text = bytes(buffer)[: max(written - 1, 0) * 2].decode("utf-16-le", "replace")
    if len(text) == count:
        return text
    codes = [pdfium.FPDFText_GetUnicode(text_page, index) for index in range(count)]
    letters = ["\0" if 0xD800 <= code < 0xE000 or code > 0x10FFFF else chr(code) for code in codes]
    for place, (code, after) in enumerate(pairwise(codes)):
        if 0xD800 <= code < 0xDC00 <= after < 0xE000:  # a letter that has two places, such as one of a formula
            letter = chr(0x10000 + ((code - 0xD800) << 10) + after - 0xDC00)
            letters[place : place + 2] = [_plain(letter), _SECOND_PLACE]
    return "".join(letters)


def _plain(letter: str) -> str:
    """A letter of a formula as people type it; letters of scripts stay as they are."""
    return unicodedata.normalize("NFKC", letter) if 0x1D400 <= ord(letter) < 0x1D800 else letter


def _mcid(address: Any, text_object: int) -> int:  # noqa: ANN401 (ctypes has no types)
    """The id of its marked content; what is marked as an artifact has none."""
    mcid, count = int(_mcid_of(address)), _marks_of(address)
    if mcid >= 0 or count <= 0:
        return mcid
    item, length = ctypes.cast(text_object, pdfium.FPDF_PAGEOBJECT), ctypes.c_ulong()
    name = (pdfium.FPDF_WCHAR * 10)()
    for place in range(count):
        pdfium.FPDFPageObjMark_GetName(pdfium.FPDFPageObj_GetMark(item, place), name, ctypes.sizeof(name), length)
        if bytes(name).decode("utf-16-le", "replace").partition("\0")[0] == "Artifact":
            return ARTIFACT
    return mcid


class _Styles:
    """The styles of a page's letters, one for all text objects that look alike."""

    def __init__(self, text_page: pdfium.FPDF_TEXTPAGE, to_view: ToView) -> None:
        self._address = address_of(ctypes.cast(text_page, ctypes.c_void_p).value)
        self._to_view = to_view
        self._by_object: dict[int | None, tuple[Style, float]] = {}
        self._by_look: dict[tuple[object, ...], Style] = {}
        self._fonts: dict[int, tuple[str, bool, bool, bool]] = {}
        self._upright = to_view(1, 0)[0] > to_view(0, 0)[0]
        self._matrix, self._x, self._y = pdfium.FS_MATRIX(), ctypes.c_double(), ctypes.c_double()
        self._matrix_reference = ctypes.byref(self._matrix)
        self._x_reference, self._y_reference = ctypes.byref(self._x), ctypes.byref(self._y)
        self._color = (ctypes.c_uint(), ctypes.c_uint(), ctypes.c_uint(), ctypes.c_uint())
        self._color_references = tuple(ctypes.byref(part) for part in self._color)

    def runs(self, start: int, stop: int) -> Iterator[tuple[int, int, Style, float]]:
        """The pieces of a line that look alike: start, stop, style and baseline.

        A piece that begins and ends in one text object is wholly in it, so that few letters are asked for theirs.
        """
        pieces: list[tuple[int, int, int | None]] = []

        def divide(first: int, first_object: int | None, last: int, last_object: int | None) -> None:
            if first == last or (first_object is not None and first_object == last_object):
                if pieces and pieces[-1][2] == first_object:
                    pieces[-1] = (pieces[-1][0], last + 1, first_object)
                else:
                    pieces.append((first, last + 1, first_object))
                return
            middle = (first + last) // 2
            middle_object = _text_object(self._address, middle)
            divide(first, first_object, middle, middle_object)
            after_object = last_object if middle + 1 == last else _text_object(self._address, middle + 1)
            divide(middle + 1, after_object, last, last_object)

        divide(start, _text_object(self._address, start), stop - 1, _text_object(self._address, stop - 1))
        begin, end, before = -1, -1, None
        for first, last, text_object in pieces:
            style = self._by_object.get(text_object)
            if style is None:
                style = self._by_object[text_object] = self._read(text_object, first)
            if style == before:
                end = last
                continue
            if before is not None:
                yield begin, end, *before
            begin, end, before = first, last, style
        if before is not None:
            yield begin, end, *before

    def _read(self, text_object: int | None, index: int) -> tuple[Style, float]:
        """The style of a text object, one of whose letters has this index, and its baseline."""
        if text_object is None:
            return Style(), 0.0
        address = address_of(text_object)
        matrix, x, y = self._matrix, self._x, self._y
        _matrix_at(self._address, index, self._matrix_reference)
        _origin(self._address, index, self._x_reference, self._y_reference)
        size = round(_font_size(self._address, index) * math.hypot(matrix.c, matrix.d), 2)
        if matrix.b == 0 and matrix.a > 0 and self._upright:
            rotation = 0
        else:
            x0, y0 = self._to_view(0, 0)
            x1, y1 = self._to_view(matrix.a, matrix.b)
            rotation = round(math.degrees(math.atan2(y1 - y0, x1 - x0))) % 360
        mode = _mode_of(address)
        filled = mode in (0, 4) and bool(_fill_color(address, *self._color_references))
        hidden = mode == 3 or (filled and self._color[3].value == 0)
        font, bold, italic, fixed = self._font(_font_of(address))
        look = (font, size, bold or mode in (2, 6), italic, fixed, hidden, rotation, _mcid(address, text_object))
        style = self._by_look.get(look)
        if style is None:
            style = self._by_look[look] = Style(*look)
        return style, round(self._to_view(x.value, y.value)[1], 2)

    def _font(self, address: int | None) -> tuple[str, bool, bool, bool]:
        """The name of the font, and whether it is bold, italic, of fixed pitch."""
        if address is None:
            return "", False, False, False
        if address not in self._fonts:
            font = ctypes.cast(address, pdfium.FPDF_FONT)
            buffer = ctypes.create_string_buffer(256)
            written = pdfium.FPDFFont_GetBaseFontName(font, buffer, 256)
            name = buffer.raw[: max(min(written, 256) - 1, 0)].decode("utf-8", "replace")
            if len(name) > 7 and name[6] == "+":
                name = name[7:]
            flags = max(pdfium.FPDFFont_GetFlags(font), 0)
            self._fonts[address] = (
                name,
                bool(flags & _FORCE_BOLD_FLAG) or is_bold_name(name),
                bool(flags & _ITALIC_FLAG) or any(part in name.lower() for part in _ITALIC_NAMES),
                (bool(flags & _FIXED_FLAG) and not _has_various_widths(font)) or is_fixed_name(name),
            )
        return self._fonts[address]


def _has_various_widths(font: pdfium.FPDF_FONT) -> bool:
    """Whether the widths of letters deny that the font has a fixed pitch: some programs say so of each that they embed.

    A font of fixed pitch has one width, and nothing or a default for letters that it lacks.
    """
    width, widths = ctypes.c_float(), set()
    for letter in ascii_letters:
        if pdfium.FPDFFont_GetGlyphWidth(font, ord(letter), 1000.0, width):
            widths.add(round(width.value))
    return len(widths) > _WIDTHS_OF_FIXED_PITCH


def is_bold_name(font: str) -> bool:
    """Whether the name of a font says that it is bold."""
    return any(part in font.lower() for part in _BOLD_NAMES)


def is_fixed_name(font: str) -> bool:
    """Whether the name of a font says that all its letters have one width."""
    lower = font.lower()
    return any(part in lower for part in _FIXED_NAMES) or any(part in lower for part in _FIXED_TEX_NAMES)


# Lines, shapes, images


def _graphics(page: pdfium.FPDF_PAGE, to_view: ToView) -> tuple[list[Drawing], list[Box], int]:
    """The drawings and the images' boxes, and the number of drawings beyond those that are read."""
    drawings: list[Drawing] = []
    images: list[Box] = []
    dropped = 0
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))

    def visit(item: pdfium.FPDF_PAGEOBJECT, view: ToView, depth: int) -> None:
        nonlocal dropped
        kind = pdfium.FPDFPageObj_GetType(item)
        if kind == pdfium.FPDF_PAGEOBJ_FORM and depth < MOST_FORM_DEPTH:
            inner = view_inside(view, matrix_of(item))
            for index in range(pdfium.FPDFFormObj_CountObjects(item)):
                visit(pdfium.FPDFFormObj_GetObject(item, index), inner, depth + 1)
        elif kind == pdfium.FPDF_PAGEOBJ_IMAGE:
            if pdfium.FPDFPageObj_GetBounds(item, left, bottom, right, top):
                images.append(box_of(view, left.value, bottom.value, right.value, top.value))
        elif kind == pdfium.FPDF_PAGEOBJ_PATH:
            if len(drawings) >= MOST_DRAWINGS:
                dropped += 1
            else:
                drawings.extend(_drawings(item, view))

    for index in range(pdfium.FPDFPage_CountObjects(page)):
        visit(pdfium.FPDFPage_GetObject(page, index), to_view, 0)
    return drawings, images, dropped


def _drawings(path: pdfium.FPDF_PAGEOBJECT, view: ToView) -> Iterator[Drawing]:
    """The lines of a path that is stroked, or the box of one that is filled."""
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    pdfium.FPDFPath_GetDrawMode(path, fill, stroke)
    if not fill.value and not stroke.value:
        return
    bounds = tuple(ctypes.c_float() for _ in range(4))
    if not pdfium.FPDFPageObj_GetBounds(path, *bounds):
        return
    box = box_of(view, *(side.value for side in bounds))
    count = pdfium.FPDFPath_CountSegments(path)
    if min(box.width, box.height) < 3 or count > 500 or not stroke.value:
        yield Drawing(box, bool(fill.value), curved=count > 500)
        return
    place = view_inside(view, matrix_of(path))
    x, y = ctypes.c_float(), ctypes.c_float()
    corner = begin = (0.0, 0.0)
    lines: list[Box] = []
    for index in range(count):
        segment = pdfium.FPDFPath_GetPathSegment(path, index)
        kind = pdfium.FPDFPathSegment_GetType(segment)
        if kind == pdfium.FPDF_SEGMENT_BEZIERTO:
            yield Drawing(box, bool(fill.value), curved=True)
            return
        pdfium.FPDFPathSegment_GetPoint(segment, x, y)
        point = place(x.value, y.value)
        if kind == pdfium.FPDF_SEGMENT_MOVETO:
            begin = point
        else:
            lines.append(_segment(corner, point))
        corner = point
        if pdfium.FPDFPathSegment_GetClose(segment) and corner != begin:
            lines.append(_segment(corner, begin))
    if fill.value:
        yield Drawing(box, filled=True)
    if any(line.width > 2 and line.height > 2 for line in lines):
        if not fill.value:
            yield Drawing(box, curved=True)
        return
    yield from (Drawing(line) for line in lines)


def _segment(start: tuple[float, float], end: tuple[float, float]) -> Box:
    return Box(min(start[0], end[0]), min(start[1], end[1]), max(start[0], end[0]), max(start[1], end[1]))


# Links


def _links(document: pdfium.FPDF_DOCUMENT, page: pdfium.FPDF_PAGE, to_view: ToView) -> Iterator[PdfLink]:
    position, link, bounds = ctypes.c_int(0), pdfium.FPDF_LINK(), pdfium.FS_RECTF()
    while pdfium.FPDFLink_Enumerate(page, position, link):
        if not pdfium.FPDFLink_GetAnnotRect(link, bounds):
            continue
        box = box_of(to_view, bounds.left, bounds.bottom, bounds.right, bounds.top)
        action = pdfium.FPDFLink_GetAction(link)
        if action and pdfium.FPDFAction_GetType(action) == pdfium.PDFACTION_URI:
            length = pdfium.FPDFAction_GetURIPath(document, action, None, 0)
            buffer = ctypes.create_string_buffer(max(length, 1))
            pdfium.FPDFAction_GetURIPath(document, action, buffer, length)
            yield PdfLink(box, uri=buffer.value.decode("utf-8", "replace"))
            continue
        target = pdfium.FPDFLink_GetDest(document, link)
        if not target and action:
            target = pdfium.FPDFAction_GetDest(document, action)
        yield PdfLink(box, page=pdfium.FPDFDest_GetDestPageIndex(document, target) + 1 if target else 0)
