"""Which pages hold no text that can be used, and what OCR makes of them. Pure: the recognition itself is elsewhere."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import median

from kb_pipeline.records import PageLine
from kb_pipeline.steps.describe.lines import OcrLine
from kb_pipeline.steps.pdf.figures import Raster
from kb_pipeline.steps.pdf.model import Box, Page, Style, Word

_WHOLE_PAGE = 0.6
"""Share of a page that the picture of a scan covers."""
_FEW_WORDS = 15
"""On a scan: a stamp, or the number of the page."""
_FEW_OF_LAYER = 0.1
"""Share of the words below the picture of a scan: what an archive prints at the foot of each page."""
_OUTLINES = 40
"""Shapes on a page without text that may be letters drawn as outlines."""
_MOST_UNREADABLE = 0.3
"""Share of characters that are no text: above it the font's table of characters is broken."""
_LEAST_LETTERS = 0.45
"""Share of letters beside what may fill a page without any (``_FILLERS``); text has far more."""
_JUDGED_FROM = 40
"""Characters of a page from which on its text is judged."""
_UNREADABLE = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\ufffd\ue000-\uf8ff\U000f0000-\U0010ffff]")
_CONTROLS = re.compile(r"[\x01\x03-\x08\x0e-\x1f]")  # \x02 is PDFium's hyphen
_MOST_CONTROLS, _LEAST_VARIOUS = 0.01, 7
"""Share of control characters among those of a page, and how many different ones: where codes of a font are told
instead of its letters (often moved by 29, so that most look like other letters), digits and stops become these. On
3,206 pages of 983 files, all 19 with so many had such a font; fonts of formulas tell up to five different ones."""
_FILLERS = re.compile(r"[\s._\-=|*+~#\u2022\u2013\u2014/\\<>(){}\[\],;:'\"$%&0-9]+")
_LEAST_SCORE = 0.5
"""OCR's confidence below which a line is a picture's texture."""
_LEAST_SURE = 0.75
"""Mean confidence of OCR's lines, by their letters: pages that stand upright are read with .98, turned ones with .6 to
.67."""
_TALL = 1.5
"""Height of a line that is turned, in widths."""


def is_sure(lines: Sequence[OcrLine]) -> bool:
    """Whether OCR is sure of most of what it read; of nothing it is."""
    letters = sum(len(line.text) for line in lines)
    return sum(line.score * len(line.text) for line in lines) >= _LEAST_SURE * letters


def turn_of(lines: Sequence[OcrLine]) -> int:
    """By how many degrees a picture is to be turned, against the clock, so that its lines read upright; 0 if they do.

    OCR lays lines that are higher than wide down to the left, so of those that go up it is sure.
    """
    letters = sum(len(line.text) for line in lines)
    tall = sum(len(line.text) for line in lines if line.bottom - line.top > _TALL * (line.right - line.left))
    if 2 * tall > letters:
        return 90 if is_sure(lines) else 270
    return 0 if is_sure(lines) else 180


def turned_back(box: Box, turn: int, width: float, height: float) -> Box:
    """The place on a picture of this size of a box on the same picture turned."""
    left, top, right, bottom = box
    if turn == 90:
        return Box(width - bottom, left, width - top, right)
    if turn == 180:
        return Box(width - right, height - bottom, width - left, height - top)
    return Box(top, height - right, bottom, height - left) if turn == 270 else box


def needs_ocr(page: Page, rasters: Sequence[Raster]) -> bool:
    """Whether the page shows text that its own text does not tell: a scan, letters without meaning, or outlines."""
    shown = [word for word in page.words if not word.style.hidden]
    if shown and is_garbled("".join(word.text for word in shown) + page.text.replace("\r\n", "")):
        return True
    if is_scan(page, rasters):
        return not has_text_layer(page)
    return not shown and (bool(rasters) or len(page.drawings) + page.dropped_drawings >= _OUTLINES)


def is_scan(page: Page, rasters: Sequence[Raster]) -> bool:
    """Whether all that the page shows is on a picture, besides a few words."""
    area = max(page.width * page.height, 1.0)
    covered = [raster.box.width * raster.box.height for raster in rasters]
    is_picture = max(covered, default=0) > _WHOLE_PAGE * area or sum(covered) > 0.9 * area
    below = sum(word.style.hidden and not word.style.blank for word in page.words)
    shown = sum(not word.style.hidden for word in page.words)
    return is_picture and shown < max(_FEW_WORDS, _FEW_OF_LAYER * below)


def has_text_layer(page: Page) -> bool:
    """Whether a scanner has put readable text under what the page shows."""
    hidden = [word.text for word in page.words if word.style.hidden and not word.style.blank]
    if len(hidden) < _FEW_WORDS:
        return False
    text = "".join(hidden)
    short = sum(len(word) == 1 for word in hidden)
    return not is_garbled(text) and short < 0.4 * len(hidden)


def is_garbled(text: str) -> bool:
    """Whether characters without meaning, or hardly any letters, show that a font does not tell its letters."""
    if len(text) < _JUDGED_FROM:
        return bool(text.strip()) and len(_UNREADABLE.findall(text)) > 0.5 * len(text)
    if len(_UNREADABLE.findall(text)) > _MOST_UNREADABLE * len(text):
        return True
    controls = _CONTROLS.findall(text)
    if len(controls) >= _MOST_CONTROLS * len(text) and len(set(controls)) >= _LEAST_VARIOUS:
        return True
    rest = _FILLERS.sub("", text)
    if len(rest) <= 0.5 * len(text):
        return False
    letters = sum(rest.count(character) for character in set(rest) if character.isalpha())
    return letters < _LEAST_LETTERS * len(rest)


def with_text_layer(page: Page) -> Page:
    """The page with the words that a scanner has put under its picture, as if they were shown.

    Hidden words where the picture shows nothing are none of them.
    """
    words = tuple(
        word._replace(style=replace(word.style, hidden=False)) if word.style.hidden and not word.style.blank else word
        for word in page.words
    )
    return replace(page, words=words, drawings=(), images=())


def page_of_lines(page: Page, lines: Sequence[OcrLine], scale: float, turn: int = 0) -> Page:
    """The page with the words that OCR has read on its picture of ``scale`` pixels a point, instead of its own.

    A page that was turned before is so from now on.
    """
    readable = _readable(lines)
    usual = median(line.height / scale for line in readable) if readable else 10.0
    words: list[Word] = []
    for line in readable:
        # the height of a line varies with its letters: only what is clearly larger is another size
        height = line.height / scale
        size = round((usual if 0.7 * usual < height < 1.6 * usual else height) * 0.75, 1)
        words += _words(line, scale, Style(font="OCR", size=size))
    texts = [line.text for line in readable]
    width, height = (page.height, page.width) if turn in (90, 270) else (page.width, page.height)
    text = "\r\n".join(texts)
    return replace(page, width=width, height=height, words=tuple(words), text=text, drawings=(), images=(), links=())


def lines_on_page(
    lines: Sequence[OcrLine], scale: float, turn: int, width: float, height: float
) -> tuple[PageLine, ...]:
    """The same lines with the places of their words on the page of this size, which was turned before it was read.

    Of a page that lies on its side, each word is a line.
    """
    return tuple(each for line in _readable(lines) for each in _on_page(line, scale, turn, width, height))


def _on_page(line: OcrLine, scale: float, turn: int, width: float, height: float) -> Iterator[PageLine]:
    boxes = [
        (text, turned_back(Box(left, line.top / scale, right, line.bottom / scale), turn, width, height))
        for text, left, right in _places_of_words(line, scale)
    ]
    for words in [boxes] if turn in (0, 180) else [[each] for each in boxes]:
        top, bottom = words[0][1].top, words[0][1].bottom
        placed = tuple((text, round(box.left, 1), round(box.right, 1)) for text, box in words)
        yield PageLine(top=round(top, 1), bottom=round(bottom, 1), words=placed)


def _places_of_words(line: OcrLine, scale: float) -> list[tuple[str, float, float]]:
    if "".join(word.text for word in line.words) == "".join(line.text.split()):
        return [(word.text, word.left / scale, word.right / scale) for word in line.words]
    return [(word.text, word.box.left, word.box.right) for word in _words(line, scale, Style())]


def _readable(lines: Sequence[OcrLine]) -> list[OcrLine]:
    """What OCR is sure of, from top to bottom and from left to right."""
    sure = (line for line in lines if line.score >= _LEAST_SCORE and line.text.strip())
    rows = _rows(sorted(sure, key=lambda line: line.top))
    return [line for row in rows for line in sorted(row, key=lambda line: line.left)]


def _rows(lines: Sequence[OcrLine]) -> list[list[OcrLine]]:
    """Lines that stand beside one another, from top to bottom."""
    rows: list[list[OcrLine]] = []
    for line in lines:
        if rows and abs(rows[-1][0].middle - line.middle) < 0.5 * min(rows[-1][0].height, line.height):
            rows[-1].append(line)
        else:
            rows.append([line])
    return rows


def _words(line: OcrLine, scale: float, style: Style) -> list[Word]:
    """The words of a line; where OCR does not tell their places, these follow from their lengths."""
    texts = line.text.split()
    left, right = line.left / scale, line.right / scale
    top, bottom = line.top / scale, line.bottom / scale
    baseline = bottom - 0.2 * (bottom - top)
    character = (right - left) / max(len(line.text), 1)
    words, place = [], 0
    for text in texts:
        place = line.text.index(text, place)
        start = left + place * character
        words.append(Word(text, Box(start, top, start + len(text) * character, bottom), baseline, style))
        place += len(text)
    return words
