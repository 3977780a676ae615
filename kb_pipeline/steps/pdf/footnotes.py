"""Footnotes: smaller lines at the foot of a page that begin with a number or a sign, below a short rule or a gap."""

import re
from collections.abc import Sequence

from kb_pipeline.steps.pdf.blocks import Block, Kind
from kb_pipeline.steps.pdf.lines import Line, Row, join
from kb_pipeline.steps.pdf.sheets import PageSheet

_MARK = re.compile(r"(\d{1,3}|[*†‡§¶]{1,3}|[a-z])(?=$|\W)")
_SMALLER, _NO_LARGER = 0.93, 1.02
"""Size of a note, in sizes of the text: below a gap it is smaller, below a rule it may be as large."""
_LOWER_PART = 0.4
"""Share of the page's height below which notes begin."""
_GAP = 1.4
"""Distance of notes from the text, in its sizes, where no rule divides them: more than that of its lines."""


def take_footnotes(sheet: PageSheet, body_size: float) -> list[Block]:
    """Take the footnotes from the page; the first one may go on from the page before and has no mark then."""
    rows = sheet.rows
    first = len(rows)
    while first and max(piece.size for piece in rows[first - 1]) < _SMALLER * body_size:
        first -= 1
    rule = _rule_above(sheet, rows)
    # a rule tells it better than the size, unless small text begins above it
    if rule is not None and all(max(piece.size for piece in row) < _NO_LARGER * body_size for row in rows[rule:]):
        first = rule if rule >= first or first == len(rows) else first
    # small text before the first mark belongs to the page, as a caption does
    while first < len(rows) and not _begins(rows[first], body_size) and (rule is None or first != rule):
        first += 1
    if first >= len(rows) or first == 0 or rows[first][0].baseline < _LOWER_PART * sheet.height:
        return []
    if rule is None:
        gap = rows[first][0].baseline - rows[first - 1][0].baseline
        if gap < _GAP * body_size or max(piece.size for piece in rows[first - 1]) < _SMALLER * body_size:
            return []
    notes: list[Block] = []
    for row in rows[first:]:
        line = join(row)
        mark = _mark_of(line, body_size)
        if mark or not notes:
            notes.append(Block(Kind.NOTE, [line], sheet.number, left=line.left, marker=mark))
        else:
            notes[-1].lines.append(line)
    if not any(note.marker for note in notes):
        return []
    sheet.rows = list(rows[:first])
    return notes


def _begins(row: Row, body_size: float) -> bool:
    return bool(_mark_of(join(row), body_size))


def _mark_of(line: Line, body_size: float) -> str:
    """The mark that begins the note: raised, or smaller than its text, or before a gap; or glued to the text."""
    first = line.words[0]
    if line.size > _NO_LARGER * body_size:
        return ""
    match = _MARK.match(first.text)
    if not match:
        return ""
    whole = match[0] == first.text
    raised = first.style.size < 0.9 * line.size or first.baseline < line.baseline - 0.12 * line.size
    return match[0] if whole and (raised or (len(line.words) > 1 and not line.words[1].glued)) else ""


def _rule_above(sheet: PageSheet, rows: Sequence[Row]) -> int | None:
    """The first row below a short rule at the left, in the lower part of the page."""
    left = min((piece.left for row in rows for piece in row), default=0.0)
    for drawing in sheet.drawings:
        box = drawing.box
        short = box.height < 2 and 20 < box.width < 0.55 * sheet.width and abs(box.left - left) < 60
        if not short or box.top < _LOWER_PART * sheet.height:
            continue
        below = [index for index, row in enumerate(rows) if row[0].baseline > box.top]
        near = below and rows[below[0]][0].box.top - box.top < 1.6 * rows[below[0]][0].size
        if near and _mark_of(join(rows[below[0]]), 99):
            return below[0]
    return None
