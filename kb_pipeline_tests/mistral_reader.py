"""Reads printed pages as a document service does: lines of text with their boxes become markdown by how they look.

Lines come from the PDF's text (fast), or from the pixels of the rendered page by text recognition (slow, and with the
mistakes it makes). Headings are known by their size, code by its font, tables by their rules. No marks of emphasis.
"""

import ctypes
import io
import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from kb_pipeline_tests.text_recognition import lines_on

DPI = 87
"""What the service says that it renders PDFs at (https://github.com/mistralai/client-python/issues/581)."""

_SHARP = 3
"""Pixels a point at which Tesseract reads a page."""

_BULLET = re.compile(r"[•◦▪‣·]\s*")
_NUMBER = re.compile(r"(\d{1,3}[.)])\s+")
_HEADING_RATIOS = (1.85, 1.55, 1.36, 1.22, 1.12, 1.05)


@dataclass(frozen=True)
class Line:
    """A piece of text on one line; its box in points from the top left of the page."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    size: float
    mono: bool = False

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2


@dataclass(frozen=True)
class Grid:
    """A ruled table: where its columns and rows begin and end."""

    columns: list[float]
    rows: list[float]

    def holds(self, line: Line) -> bool:
        inside = self.columns[0] - 1 <= line.left and line.right <= self.columns[-1] + 9
        return inside and self.rows[0] <= line.middle <= self.rows[-1]

    def parts(self, last: Line, glyph: Line) -> bool:
        """Whether there is a rule between two glyphs."""
        borders = self.columns if self.rows[0] <= glyph.middle <= self.rows[-1] else []
        return any(last.right - 2 <= border <= glyph.left + 2 for border in borders)

    def markdown(self, lines: Iterable[Line]) -> str:
        cells: dict[tuple[int, int], list[str]] = {}
        for line in lines:
            place = (_slot(self.rows, line.middle), _slot(self.columns, line.left + 3))
            cells.setdefault(place, []).append(line.text.strip())
        width, height = len(self.columns) - 1, len(self.rows) - 1
        rows = [[" ".join(cells.get((row, column), [])) for column in range(width)] for row in range(height)]
        rows.insert(1, ["---"] * width)
        return "\n".join(f"| {' | '.join(row)} |" for row in rows)


Reader = Callable[[pypdfium2.PdfPage, list[Grid]], list[Line]]


def read_pages(pdf: bytes, lines_of: Reader) -> list[str]:
    """The markdown of each page."""
    with pypdfium2.PdfDocument(pdf) as document:
        grids = [_grids(page) for page in document]
        lines = [lines_of(page, on_page) for page, on_page in zip(document, grids, strict=True)]
    body = _usual_size(line for on_page in lines for line in on_page)
    return [_markdown(on_page, ruled, body) for on_page, ruled in zip(lines, grids, strict=True)]


# --- lines ---------------------------------------------------------------------------------------


def written_lines(page: pypdfium2.PdfPage, grids: list[Grid]) -> list[Line]:
    """The lines of the PDF's text; what is far apart on one line, or in another cell, is another."""
    text, height = page.get_textpage(), page.get_height()
    lines: list[Line] = []
    for glyph in (_glyph(text, index, height) for index in range(text.count_chars())):
        last = lines[-1] if lines else None
        if last and _beside(last, glyph) and not any(grid.parts(last, glyph) for grid in grids):
            right = max(last.right, glyph.right)
            lines[-1] = replace(last, text=last.text + glyph.text, right=right, mono=last.mono and glyph.mono)
        elif glyph.text.strip():
            lines.append(glyph)
    return lines


def _beside(last: Line, glyph: Line) -> bool:
    return abs(last.bottom - glyph.bottom) < 0.4 * last.size and -last.size < glyph.left - last.right < last.size


def _glyph(text: pypdfium2.PdfTextPage, index: int, height: float) -> Line:
    character = chr(pdfium.FPDFText_GetUnicode(text.raw, index))
    left, bottom, right, top = text.get_charbox(index, loose=True)
    name = ctypes.create_string_buffer(100)
    pdfium.FPDFText_GetFontInfo(text.raw, index, name, 100, None)
    visible = {"\r": " ", "\n": " ", "\0": " ", "\2": "-"}.get(character, character)
    mono = b"Mono" in name.value or not visible.strip()  # spaces may be of no font
    return Line(visible, left, height - top, right, height - bottom, top - bottom, mono)


def recognised_lines(page: pypdfium2.PdfPage, _grids: list[Grid]) -> list[Line]:
    """The lines that text recognition finds in the rendered page."""
    png = io.BytesIO()
    page.render(scale=_SHARP).to_pil().save(png, "PNG")
    lines = []
    for words in lines_on(png.getvalue()):
        text = " ".join(word.text for word in words)
        top, bottom = min(word.top for word in words) / _SHARP, max(word.bottom for word in words) / _SHARP
        left, right = words[0].left / _SHARP, words[-1].right / _SHARP
        lines.append(Line(text, left, top, right, bottom, 0.85 * (bottom - top)))
    return sorted(lines, key=lambda line: (round(line.middle / 6), line.left))


# --- tables --------------------------------------------------------------------------------------


def _grids(page: pypdfium2.PdfPage) -> list[Grid]:
    """Tables are where thin horizontal and vertical rules meet."""
    height = page.get_height()
    paths = page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_PATH])
    bounds = [(left, height - top, right, height - bottom) for left, bottom, right, top in map(_bounds, paths)]
    thin = [box for box in bounds if min(box[2] - box[0], box[3] - box[1]) < 3 < max(box[2] - box[0], box[3] - box[1])]
    grids = []
    for rules in _touching(thin):
        columns = _places((box[0] + box[2]) / 2 for box in rules if box[2] - box[0] < 3)
        rows = _places((box[1] + box[3]) / 2 for box in rules if box[3] - box[1] < 3)
        if len(columns) > 1 and len(rows) > 1:
            grids.append(Grid(columns, rows))
    return grids


def _bounds(path: Any) -> tuple[float, float, float, float]:
    bounds: tuple[float, float, float, float] = path.get_bounds()
    return bounds


def _touching(boxes: list[tuple[float, ...]]) -> list[list[tuple[float, ...]]]:
    groups: list[list[tuple[float, ...]]] = []
    for box in boxes:
        near = [group for group in groups if any(_meet(box, other) for other in group)]
        groups = [group for group in groups if group not in near]
        groups.append([box, *(other for group in near for other in group)])
    return groups


def _meet(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    apart = max(one[0], other[0]) - min(one[2], other[2]), max(one[1], other[1]) - min(one[3], other[3])
    return max(apart) < 2


def _places(values: Iterable[float]) -> list[float]:
    places: list[float] = []
    for value in sorted(values):
        if not places or value - places[-1] > 3:
            places.append(value)
    return places


def _slot(borders: list[float], place: float) -> int:
    return max(0, min(len(borders) - 2, sum(border <= place for border in borders) - 1))


# --- markdown ------------------------------------------------------------------------------------


def _usual_size(lines: Iterable[Line]) -> float:
    letters: Counter[int] = Counter()
    for line in lines:
        letters[round(line.size)] += len(line.text)
    return max(letters, key=letters.__getitem__, default=1)


def _markdown(lines: list[Line], grids: list[Grid], body: float) -> str:
    blocks: list[tuple[float, str]] = []
    for grid in grids:
        inside = [line for line in lines if grid.holds(line)]
        lines = [line for line in lines if line not in inside]
        blocks.append((grid.rows[0], grid.markdown(inside)))
    blocks += [(group[0].top, _block(group, body)) for group in _blocks(_whole_lines(lines))]
    return "\n\n".join(text for _, text in sorted(blocks))


def _whole_lines(lines: list[Line]) -> list[Line]:
    """Pieces that stand side by side become one line."""
    whole: list[Line] = []
    for line in sorted(lines, key=lambda line: (line.middle, line.left)):
        last = whole[-1] if whole else None
        if last and abs(last.middle - line.middle) < 3 and line.left >= last.right - 2:
            text = f"{last.text.rstrip()} {line.text}"
            whole[-1] = replace(last, text=text, right=line.right, mono=last.mono and line.mono)
        else:
            whole.append(line)
    return whole


def _blocks(lines: list[Line]) -> Iterator[list[Line]]:
    """Lines of one look, close together, that begin no item of a list."""
    block: list[Line] = []
    for line in lines:
        if block and not _goes_on(block[-1], line):
            yield block
            block = []
        block.append(line)
    if block:
        yield block


def _goes_on(last: Line, line: Line) -> bool:
    if _BULLET.match(line.text) or _NUMBER.match(line.text) or last.text.endswith("]]") or line.text.startswith("[["):
        return False
    close = line.top - last.bottom < 0.35 * last.size + 2
    return close and last.mono == line.mono and abs(last.size - line.size) < 0.18 * last.size


def _block(lines: list[Line], body: float) -> str:
    first = lines[0]
    if first.mono and not first.text.startswith("[["):
        return _code(lines)
    text = " ".join(line.text.strip() for line in lines)
    indent = " " * (4 * max(0, round((first.left - 60) / 24)))
    if bullet := _BULLET.match(text):
        return f"{indent}- {text[bullet.end() :]}"
    if _NUMBER.match(text):
        return f"{indent}{text}"
    ratio = first.size / body
    level = next((number for number, least in enumerate(_HEADING_RATIOS, 1) if ratio >= least), None)
    return f"{'#' * level} {text}" if level and len(text) < 300 else text


def _code(lines: list[Line]) -> str:
    """Indented as it is printed: all letters are of one width."""
    left = min(line.left for line in lines)
    width = statistics.median((line.right - line.left) / len(line.text.rstrip()) for line in lines)
    return "\n".join(["```", *(" " * round((line.left - left) / width) + line.text.rstrip() for line in lines), "```"])
