"""Join words, lines and tables that the borders of pages and lines cut in two.

Two pieces are joined if they are one in the article; anything that only looks cut stays as it is.
"""

import re
from collections.abc import Iterable
from itertools import pairwise

from kb_pipeline.steps.html.dom import HEADINGS, Element, is_block, text_of
from kb_pipeline.steps.html.tables import cells_of, own_rows
from kb_pipeline.steps.pages import PAGE_TAG
from kb_pipeline.steps.restore.align import Alignment
from kb_pipeline.steps.restore.words import Reading, WordSpan

_LINES = HEADINGS | {"p", "li"}
_HYPHEN = "-\u00ad\u2010"
_BREAK = re.compile(rf"[{_HYPHEN}]\s+")
_NEAR = 3
"""Words at a border that may be misread until one is known."""


def join_pieces(truth: Reading, reading: Reading, alignment: Alignment) -> None:
    """Join the pieces of what is one in the article, in place. The positions in ``reading`` are invalid afterwards."""
    _join_words(reading, alignment)
    _join_lines(truth, reading, alignment)
    _join_tables(truth, reading, alignment)


def _join_words(reading: Reading, alignment: Alignment) -> None:
    """Remove the hyphen and the space inside what is one word in the article."""
    for place in sorted(alignment.places.values(), reverse=True):
        first, last = reading.words[place.first], reading.words[place.last]
        if place.last == place.first + 1 and first.spot == last.spot:
            text = first.spot.text
            if _BREAK.fullmatch(text[first.end : last.start]):
                first.spot.write(text[: first.end] + text[last.start :])


def _join_lines(truth: Reading, reading: Reading, alignment: Alignment) -> None:
    for before, after in reversed(list(pairwise(reading.lines))):
        if before.element is after.element or {before.element.tag, after.element.tag} - _LINES:
            continue
        last = _source(alignment, range(before.end - 1, max(before.first, before.end - _NEAR) - 1, -1))
        first = _source(alignment, range(after.first, min(after.end, after.first + _NEAR)))
        if last is None or first is None or last > first or truth.words[last].line != truth.words[first].line:
            continue
        _append(before.element, after.element, _joint(truth, last, first))


def _source(alignment: Alignment, words: Iterable[int]) -> int | None:
    return next((alignment.sources[word] for word in words if word in alignment.sources), None)


def _joint(truth: Reading, last: int, first: int) -> str:
    """Return what connects the two pieces: nothing inside a word, a hyphen in a compound, else a space."""
    if first == last:
        return ""
    a, b = truth.words[last], truth.words[first]
    between = a.spot.text[a.end : b.start] if first == last + 1 and a.spot == b.spot else " "
    return between if between in tuple(_HYPHEN) else " "


def _append(line: Element, piece: Element, joint: str) -> None:
    """Move the words of a piece to the end of a line."""
    inline: list[Element] = []
    for child in piece:
        if is_block(child):
            break
        inline.append(child)
    end = next((child for child in reversed(line) if not is_block(child)), None)
    text = (line.text if end is None else end.tail) or ""
    if joint != " ":
        text = text.rstrip().rstrip(_HYPHEN)
    text += joint + (piece.text or "").lstrip()
    if end is None:
        line.text = text
    else:
        end.tail = text
    piece.text = None
    for place, child in enumerate(inline, start=0 if end is None else line.index(end) + 1):
        line.insert(place, child)


def _join_tables(truth: Reading, reading: Reading, alignment: Alignment) -> None:
    for before, after in reversed(list(pairwise(reading.of("table")))):
        last = _source(alignment, range(before.end - 1, before.first - 1, -1))
        first = _source(alignment, range(after.first, after.end))
        follows = before.end == after.first and before.element.getparent() is after.element.getparent()
        if not follows or last is None or first is None or last >= first:
            continue
        if any(table.first <= last and first < table.end for table in truth.of("table")):
            _append_rows(before.element, after)


def _append_rows(table: Element, rest: WordSpan) -> None:
    """Move the rows of the rest to the table, without a header that is repeated on the next page."""
    rows, header = own_rows(rest.element), own_rows(table)[:1]
    pages: list[Element] = []
    if header and rows and text_of(rows[0]) == text_of(header[0]):
        pages = list(rows[0].iter(PAGE_TAG))
        rows = rows[1:]
    body = own_rows(table)[-1].getparent() if header else table
    for row in rows:
        for cell in cells_of(row):
            cell.tag = "td"
        if body is not None:
            if body.tag == "thead":
                table.append(row)
            else:
                body.append(row)
    rest.element.tag = "span"
    for child in list(rest.element):
        rest.element.remove(child)
    for page in pages:  # that began with the repeated header
        cells = list(cells_of(rows[0])) if rows else []
        page.tail = None
        (cells[0] if cells else rest.element).insert(0, page)
        if cells:
            page.tail, cells[0].text = cells[0].text, None
