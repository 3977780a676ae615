"""Headings: where the document has an outline, its titles found on their pages; else lines that look like headings."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from kb_pipeline.steps.pdf.columns import regions
from kb_pipeline.steps.pdf.lines import Line, Row, join, part_of
from kb_pipeline.steps.pdf.model import PdfOutlineEntry
from kb_pipeline.steps.pdf.sheets import PageSheet

_NUMBER = re.compile(r"(?:chapter|appendix|section|part|kapitel|chapitre|capítulo)?[\divxlcA-Z.]{0,12}", re.I)
_CHAPTER = re.compile(
    r"(?:chapter|appendix|part|kapitel|anhang|chapitre|annexe|capítulo|capitolo|appendice|hoofdstuk|глава)\s+"
    r"(?:\d+|[a-z]|[ivxlc]+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|"
    r"sixteen|seventeen|eighteen|nineteen|twenty(?:[ -]\w+)?)\W*",
    re.I,
)
_NO_LETTER = re.compile(r"[\W_]+")
_MOST_ROWS = 5
"""Rows over which a heading of the outline may be broken."""
CAPTION = re.compile(
    r"(?:table|figure|fig\.|tab\.|example|listing|exhibit|chart|diagram|abbildung|abb\.|tabelle|beispiel|tableau|tabla|"
    r"figura|tabella|esempio|ejemplo|exemple|tabel|рис\.|рисунок|таблица|図|表|圖)\s*[\dA-Z]{1,3}(?:[.-]\d+)*\s*"
    r"(?:[.:—–-]|\b)",
    re.I,
)
"""How a caption begins."""
_DEPTH = re.compile(r"^(?:[A-Z]|\d{1,3})((?:\.\d{1,3})+)\.?\s")


@dataclass(slots=True)
class Heading:
    """A heading on a page: its pieces in the order of reading. ``title`` is the outline's, "" without one."""

    page: int
    level: int
    pieces: list[Line]
    title: str = ""


@lru_cache(maxsize=20_000)
def squash(text: str) -> str:
    """Letters and digits only, so that spaces, dashes, quotes and ligatures make no difference."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return _NO_LETTER.sub("", text.casefold())


def find_titles(
    sheets: Sequence[PageSheet], outline: Sequence[PdfOutlineEntry]
) -> tuple[list[Heading], list[PdfOutlineEntry], list[Row]]:
    """The headings of the outline, the entries that are on no page, and rows that only count chapters."""
    by_number = {sheet.number: sheet for sheet in sheets}
    headings: list[Heading] = []
    missing: list[PdfOutlineEntry] = []
    counters: list[Row] = []
    taken: set[int] = set()
    for entry in outline:
        wanted = squash(entry.title)
        if not wanted:
            continue
        for number in (entry.page, entry.page + 1, entry.page - 1):
            sheet = by_number.get(number)
            rows = sheet and _rows_of_title(sheet, wanted, entry.top if number == entry.page else None, taken)
            if sheet and rows:
                rows = _divided(sheet, rows)
                pieces = [piece for row in rows for piece in row]
                taken.update(id(piece) for piece in pieces)
                headings.append(Heading(number, entry.level, pieces, entry.title))
                counters.extend(_counters_above(sheet, pieces[0]))
                break
        else:
            missing.append(entry)
    return headings, missing, counters


def _divided(sheet: PageSheet, rows: list[Row]) -> list[Row]:
    """The rows of a heading alone: what stands in one line with it, its text, becomes a row below it."""
    divided = []
    for row in rows:
        words = {id(word) for piece in row for word in piece.words}
        index = next(
            (number for number, other in enumerate(sheet.rows) if any(id(piece.words[0]) in words for piece in other)),
            None,
        )
        if index is None or sheet.rows[index] is row:
            divided.append(row)
            continue
        others = [piece for piece in sheet.rows[index] if not any(piece is part for part in row)]
        rest = [part_of(piece, kept) for piece in others if (kept := [w for w in piece.words if id(w) not in words])]
        sheet.rows[index : index + 1] = [row, rest] if rest else [row]
        divided.append(row)
    return divided


def _rows_of_title(sheet: PageSheet, wanted: str, top: float | None, taken: set[int]) -> list[Row] | None:
    candidates: list[tuple[float, list[Row]]] = []
    for index, row in enumerate(sheet.rows):
        if not _may_begin(row, wanted):
            continue
        for pieces in (row, *([piece] for piece in row if len(row) > 1)):
            if any(id(piece) in taken for piece in pieces):
                continue
            matched = _match(sheet.rows, index, pieces, wanted) or _run_in(pieces, wanted)
            if matched:
                size, bold = pieces[-1].size, any(word.style.bold for word in pieces[-1].words)
                distance = abs(row[0].box.top - top) / sheet.height if top is not None else 0.0
                candidates.append((distance * 40 - size - 2 * bold, matched))
    return min(candidates, key=lambda candidate: candidate[0])[1] if candidates else None


def _may_begin(row: Row, wanted: str) -> bool:
    """Whether a word among the first of a piece begins as the title does: few rows need a closer look."""
    begin = wanted[:3]
    return any(
        said.startswith(begin) or begin.startswith(said) or wanted in said
        for piece in row
        for word in piece.words[:4]
        if (said := squash(word.text))
    )


def _match(rows: Sequence[Row], index: int, pieces: Row, wanted: str) -> list[Row] | None:
    """The rows from ``index`` that say the title together, with a number before it or none."""
    text = squash(join(pieces).text)
    if not text:
        return None
    for number in _numbers(pieces):
        rest = text[len(squash(number)) :]
        said, taken = rest, [pieces]
        while len(said) < len(wanted) and wanted.startswith(said) and said and len(taken) < _MOST_ROWS:
            after = index + len(taken)
            if after >= len(rows):
                break
            below = rows[after]
            if rows[after][0].baseline - rows[after - 1][0].baseline > 2.5 * pieces[-1].size:
                break
            if len(pieces) == 1 and len(below) > 1:
                below = [piece for piece in below if abs(piece.left - pieces[0].left) < 6] or below
            said += squash(join(below).text)
            taken.append(below)
        if said == wanted or (rest and number and wanted == text):
            return taken
    return None


def _run_in(pieces: Row, wanted: str) -> list[Row] | None:
    """The heading that stands in one line with its text: its words, in a style of their own."""
    words = join(pieces).words
    said, count = "", 0
    while count < len(words) and len(said) < len(wanted) and wanted.startswith(said):
        said += squash(words[count].text)
        count += 1
    own_style = {word.style for word in words[:count]}
    if said != wanted or count == len(words) or words[count].style in own_style or len(own_style) > 2:
        return None
    if not words[0].style.bold and words[0].style.size <= words[count].style.size:
        return None
    return [[part_of(join(pieces), words[:count])]]


def _numbers(pieces: Row) -> Iterator[str]:
    """What may be the heading's number: nothing, its first word, or its first two (Chapter 5)."""
    yield ""
    words = [word.text for piece in pieces for word in piece.words]
    for count in (1, 2):
        if len(words) > count and _NUMBER.fullmatch("".join(words[:count]).rstrip(":)")):
            yield "".join(words[:count])


def _counters_above(sheet: PageSheet, piece: Line) -> list[Row]:
    """The rows right above a heading that only count: "Chapter 5" on one or on two lines."""
    above = [row for row in sheet.rows if row[0].baseline < piece.baseline - 1]
    for count in (1, 2):
        if len(above) >= count and _CHAPTER.fullmatch(" ".join(join(row).text for row in above[-count:])):
            return above[-count:]
    return []


def by_fonts(sheets: Sequence[PageSheet], body_size: float, leading: float) -> list[Heading]:
    """Lines that are larger than the text, or wholly bold, and stand apart from what is above them.

    Levels follow the sizes; a number before a heading that counts more parts makes it deeper.
    """
    candidates: list[tuple[PageSheet, list[Row]]] = []
    for sheet, all_rows in ((each, rows) for each in sheets for rows in regions(each.rows)):
        index = 0
        while index < len(all_rows):
            row = all_rows[index]
            if not _looks_like_heading(all_rows, index, body_size, leading):
                index += 1
                continue
            rows = [row]
            while index + len(rows) < len(all_rows) and len(rows) < 4:
                below, last = all_rows[index + len(rows)], rows[-1]
                near = below[0].baseline - last[0].baseline < 1.5 * last[0].size
                if not near or _look(below) != _look(last):
                    break
                rows.append(below)
            text = " ".join(join(each).text for each in rows)
            if len(text) <= 180 and len(rows) < 4:
                candidates.append((sheet, rows))
            index += len(rows)
    looks = Counter(_look(rows[0]) for _, rows in candidates)
    order = sorted(looks, key=lambda look: (-look[0], not look[1]))
    levels = {look: min(place + 1, 6) for place, look in enumerate(order)}
    headings = []
    for sheet, rows in candidates:
        pieces = [piece for row in rows for piece in row]
        headings.append(Heading(sheet.number, levels[_look(rows[0])], pieces))
    return _by_depth(headings)


def _look(row: Row) -> tuple[float, bool]:
    line = max(row, key=lambda piece: len(piece.text))
    return round(line.size * 2) / 2, all(piece.bold for piece in row)


def _looks_like_heading(rows: Sequence[Row], index: int, body_size: float, leading: float) -> bool:
    row = rows[index]
    line = join(row)
    text = line.text
    if (
        len(row) > 2
        or line.fixed
        or CAPTION.match(text)
        or len(text) > 140
        or sum(letter.isalpha() for letter in text) < 2
    ):
        return False
    size, bold = _look(row)
    larger = size >= body_size * 1.12
    if not larger and not (bold and size >= body_size * 0.95):
        return False
    if not larger and (text.rstrip().endswith((".", ",", ";", ":")) or len(row) > 1 or _is_mark(text)):
        return False
    above = rows[index - 1] if index else None
    below = rows[index + 1] if index + 1 < len(rows) else None
    gap = row[0].baseline - above[0].baseline if above else 99.0
    if larger:
        return gap > 1.0 * size or (above is not None and _look(above) == _look(row))
    if below is None or gap < 1.25 * leading * body_size:
        return False
    # a bold line with a more indented text right below is a term
    tight = below[0].baseline - row[0].baseline < 1.3 * leading * body_size
    return not (tight and below[0].left > row[0].left + 1.2 * body_size)


def _is_mark(text: str) -> bool:
    return bool(re.match(r"[•◦▪‣*·●○■□–-]\s", text))


def _by_depth(headings: list[Heading]) -> list[Heading]:
    """Let numbers decide (2.3 is below 2), where most headings of a look have numbers of one depth."""
    depths: dict[int, Counter[int]] = defaultdict(Counter)
    for heading in headings:
        match = _DEPTH.match(" ".join(piece.text for piece in heading.pieces))
        depths[heading.level][match[1].count(".") + 1 if match else 0] += 1
    mixed = [level for level, counts in depths.items() if len([d for d in counts if d]) > 1]
    for heading in headings:
        match = _DEPTH.match(" ".join(piece.text for piece in heading.pieces))
        if match and heading.level in mixed:
            least = min(depth for depth in depths[heading.level] if depth)
            heading.level = min(heading.level + match[1].count(".") + 1 - least, 6)
    return headings
