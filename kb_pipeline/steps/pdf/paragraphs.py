"""Lines become blocks: paragraphs, items, terms with what they mean, code.

A line goes on with the paragraph before it if it is as near as lines are, begins where they begin, and if its first
word had no room at the end of the line before: a line that ends early was ended by the author.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from kb_pipeline.steps.pdf.blocks import Block, Kind
from kb_pipeline.steps.pdf.lines import Line, Row, join

BULLETS = "•◦▪‣⁃∙·●○■□▸►➢✓✔❖⇒→\uf0b7\uf0a7\uf076\x88"
_BULLET = re.compile(rf"[{re.escape(BULLETS)}]|[–—*-]")
_ORDINAL = re.compile(r"\(?(\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)]")
_SENTENCE_END = re.compile(r"[.!?:;…][)\]\"'”’»]*$")
_ROMAN = {"i": 1, "v": 5, "x": 10}
_RAGGED = 6.0
"""Letters' sizes that a line of ragged text may end before the margin: a long word did not fit."""
WRAPPED = re.compile(r"[˓,]\s?→\s?")
"""The sign that Sphinx puts before the rest of a line of code that was too long."""
_LOWER_START = re.compile(r"[(\[\"'“‘«]*[^\W\d_A-Z]")


@dataclass(slots=True)
class Measures:
    """What the whole document tells: the size of its text, and the distance of lines in sizes."""

    body_size: float = 10.0
    leading: float = 1.2


def blocks_of(rows: Sequence[Row], measures: Measures, right: float) -> Iterator[Block]:
    """The blocks of rows that are neither headings nor tables; ``right`` is the right margin of their column."""
    block: Block | None = None
    before: Line | None = None
    for row in rows:
        for line, kind, marker, text_left in _starts(row, block, before, measures, right):
            if kind is None and block is not None:
                block.lines.append(line)
            else:
                if block is not None:
                    yield block
                block = Block(
                    kind or Kind.PARAGRAPH,
                    [line],
                    line.page,
                    left=line.left,
                    text_left=text_left,
                    marker=marker,
                    ordered=bool(marker) and not _BULLET.fullmatch(marker),
                )
            before = line
    if block is not None:
        yield block


def _starts(
    row: Row, block: Block | None, before: Line | None, measures: Measures, right: float
) -> Iterator[tuple[Line, Kind | None, str, float]]:
    """The lines of a row, each with the kind of the block that it begins, or ``None`` if it goes on with the last."""
    line = join(row)
    marked = marker_of(row, line)
    near = before is not None and _is_near(before, line, measures)
    if block is not None and block.kind is Kind.CODE and near and WRAPPED.match(line.text):
        yield line, None, "", line.left
        return
    if line.fixed and not marked:
        prose = block is not None and block.kind is not Kind.CODE
        if (block is not None and block.kind is Kind.CODE and _is_same_code(block, line, measures)) or (
            prose and near and block is not None and before is not None and _flows(block, before, line, right)
        ):
            yield line, None, "", line.left
        else:
            yield line, Kind.CODE, "", line.left
        return
    if marked:
        marker, text_left = marked
        hangs = block is not None and before is not None and near and _flows(block, before, line, right)
        if not (hangs and _ORDINAL.fullmatch(marker)) or (block is not None and block.kind is Kind.ITEM):
            yield line, Kind.ITEM, marker, text_left
            return
    if len(row) == 2 and _is_term(row, block):
        yield row[0], Kind.TERM, "", row[0].left
        yield row[1], Kind.PARAGRAPH, "", row[1].left
        return
    if block is not None and before is not None and near and _goes_on(block, before, line, right):
        yield line, None, "", line.left
        return
    yield line, Kind.PARAGRAPH, "", line.left


def marker_of(row: Row, line: Line) -> tuple[str, float] | None:
    """The mark of a list item that begins the line, and where the text behind it begins."""
    first = row[0].words[0] if row[0].left <= line.left + 1 else line.words[0]
    text = first.text
    if len(line.words) < 2:
        return (text, line.right + 0.5 * line.size) if _BULLET.fullmatch(text) and text not in "–—*-" else None
    second = line.words[1]
    gap = second.box.left - first.box.right
    is_code = line.fixed and (first.style.fixed_pitch or first.style.font == second.style.font)
    if is_code or (second.glued and text not in BULLETS):
        return None
    text_left = row[1].left if len(row) > 1 and len(row[0].words) == 1 else second.box.left
    if _BULLET.fullmatch(text) and (text in BULLETS or gap > 0.15 * line.size):
        return text, text_left
    if _ORDINAL.fullmatch(text) and gap > 0.2 * line.size and not first.style.fixed_pitch:
        return text, text_left
    return None


def follows(mark: str, other: str) -> bool:
    """Whether a mark of letters or a Roman number is the next one: ``c)`` after ``b)``, ``iv.`` after ``iii.``."""
    letters, others = mark.strip("()."), other.strip("().")
    if mark.replace(letters, "") != other.replace(others, "") or letters.islower() != others.islower():
        return False
    return any(place - before == 1 for place, before in zip(_places(letters), _places(others), strict=True))


def _places(letters: str) -> tuple[int, int]:
    """The place of a letter in the alphabet, and what it counts as a Roman number; far apart from others if neither."""
    digits = [_ROMAN.get(letter, 0) for letter in letters.lower()]
    roman = sum(-digit if digit < after else digit for digit, after in zip(digits, [*digits[1:], 0], strict=True))
    return ord(letters.lower()) if len(letters) == 1 else -9, roman if all(digits) else -9


def _is_near(before: Line, line: Line, measures: Measures) -> bool:
    distance = line.baseline - before.baseline
    size = max(before.size, line.size)
    return before.page == line.page and 0 < distance < (measures.leading * 1.22) * size + 0.5


def _is_same_code(block: Block, line: Line, measures: Measures) -> bool:
    """Whether a line of code is one, two or three lines below the last: another distance parts two blocks."""
    last = block.last
    distance = line.baseline - last.baseline
    if last.page != line.page or distance <= 0 or abs(last.size - line.size) > 0.6:
        return False
    steps = [
        after.baseline - before.baseline
        for before, after in pairwise(block.lines)
        if after.page == before.page and after.baseline > before.baseline
    ]
    step = min(steps) if steps else measures.leading * line.size
    count = round(distance / step)
    tolerance = 0.13 if steps else 0.3
    return count <= 3 and (abs(distance / step - count) < tolerance or distance < 1.2 * step)


def has_room(before: Line, line: Line, right: float) -> bool:
    """Whether the first word of the line would have found room at the end of the line before."""
    first = line.words[0]
    width = first.box.width
    for word in line.words[1:]:
        if not word.glued:
            break
        width += word.box.width
    return before.right + width + 0.45 * before.size < right


def _flows(block: Block, before: Line, line: Line, right: float) -> bool:
    """Whether the line goes on with the text of the line before: its first word found no room there."""
    begins = block.text_left if block.kind is Kind.ITEM else min(other.left for other in block.lines[-3:])
    indent = 3.0 if len(block.lines) == 1 and block.kind is Kind.PARAGRAPH else 0.6
    return begins - indent * line.size < line.left < begins + 0.6 * line.size and not has_room(before, line, right)


def _goes_on(block: Block, before: Line, line: Line, right: float) -> bool:
    if block.kind in (Kind.CODE, Kind.TERM) or abs(before.size - line.size) > 0.16 * max(before.size, line.size):
        return False
    if block.kind is Kind.ITEM:
        aligned = (
            abs(line.left - block.text_left) < 0.8 * line.size
            or (len(block.lines) > 1 and abs(line.left - block.last.left) < 0.6 * line.size)
            or (len(block.lines) == 1 and abs(line.left - block.left) < 0.6 * line.size)
        )
        if not aligned:
            return False
    elif len(block.lines) == 1:
        # a first line may be indented, or hang out
        if abs(line.left - before.left) > 4.5 * line.size:
            return False
        if line.left > before.left + 0.6 * line.size and (before.bold and not line.bold):
            return False
    elif abs(line.left - block.last.left) > 0.6 * line.size and not _is_centred(block, line):
        return False
    if before.bold and not line.bold and has_room(before, line, right):
        return False
    if not has_room(before, line, right):
        return True
    # a ragged or shaped paragraph: little room is left, and the sentence plainly goes on
    unfinished = not _SENTENCE_END.search(before.text) and _LOWER_START.match(line.text) is not None
    return unfinished and not has_room(before, line, right - _RAGGED * line.size)


def _is_centred(block: Block, line: Line) -> bool:
    last = block.last
    return abs((last.left + last.right) - (line.left + line.right)) < 2 * line.size


def _is_term(row: Row, block: Block | None) -> bool:
    """Whether the row is a short term and, behind a gap, what it means."""
    term, text = row
    return (term.bold or term.fixed or term.italic or len(term.words) <= 4) and (
        text.box.width > term.box.width or (block is not None and abs(block.left - text.left) < 3)
    )


def breaks_off(block: Block, right: float) -> bool:
    """Whether the text of a block ends in the middle of a sentence, or at the very end of its line."""
    text = block.last.text
    if block.kind is Kind.CODE:
        return True
    if _SENTENCE_END.search(text):
        return False
    return block.last.right > right - 8 * block.last.size or text.endswith(("-", ","))
