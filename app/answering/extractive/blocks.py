"""Groups the units of a passage into blocks that make sense alone: a paragraph, procedure or table with its lead-in.

Choosing the blocks that answer a question is the task of :mod:`app.answering.extractive.choosing`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from app.language.sentences import Unit, units_of
from app.language.words import readable
from app.schema.passages import Citation

_LONGEST_CAPTION = 120
"""Characters of a sentence beside a picture that is its caption; a longer one is running text."""
_LONGEST_CODE, _CODE_PART = 600, 200
"""Characters of code that are quoted only together, and of the parts that longer code is divided into."""
_SLIGHT_INDENT = 2
"""Spaces by which entries of a list in code are indented; what goes on with an entry is indented further."""
_LINK = re.compile(r"[\s*_]*!?\[(?:[^\[\]\\]|\\.)*+\]\([^()\s]*+(?:\([^()\s]*+\)[^()\s]*+)*+\)[\s*_.,;]*")
_CLOSING = '*_"”’) '


Section = tuple[str, tuple[str, ...]]
"""The id of an article, and the headings of a section in it."""


@dataclass(frozen=True, eq=False)
class PassageBlock:
    """A paragraph, list, table or code with the text that introduces it.

    ``terms`` are the lines in bold above it, ``heading`` is the last heading before it in its passage, ``order`` its
    place among the units of the passage.
    """

    citation: Citation
    units: tuple[Unit, ...]
    terms: tuple[Unit, ...]
    heading: Unit | None
    order: int

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """The number of characters that a reader sees of each unit."""
        return tuple(len(readable(unit.text)) for unit in self.units)

    @property
    def steps(self) -> list[Unit]:
        """The first units of its numbered items, without those of nested lists."""
        return [unit for unit in self.units if unit.numbered and unit.depth == 1]


def heading_of(block: PassageBlock) -> str:
    """The heading that a block stands under: in its passage, which may have several short sections, or above that."""
    return block.heading.text.lstrip("> #\t").strip() if block.heading else block.citation.section


def section_of(citation: Citation) -> Section:
    """The section that a passage belongs to."""
    return citation.article_id, citation.heading_path


def blocks_of(citation: Citation) -> list[PassageBlock]:
    """The blocks of a passage, without captions of images and without mere lists of links."""
    return [
        block
        for block in _all_blocks(citation)
        if not all(_LINK.fullmatch(unit.text) for unit in block.units[1:] or block.units)
    ]


def _all_blocks(citation: Citation) -> Iterator[PassageBlock]:
    """Yield the units of each block as one, joined with the next block if they introduce it."""
    units = units_of(citation.passage)
    run: list[Unit] = []
    terms: list[Unit] = []
    heading: Unit | None = None
    order = 0
    for at, unit in enumerate(units):
        names = unit.kind in ("heading", "term")
        if run and (names or (unit.kind != "image" and unit.block != run[-1].block and not _introduces(run[-1], unit))):
            yield PassageBlock(citation, tuple(run), tuple(terms), heading, order)
            terms = [] if any(part.kind == "row" for part in run) else terms  # the name of a table
            run = []
        if names:
            terms, heading = _terms(terms, units, at), unit if unit.kind == "heading" else heading
        elif unit.kind != "image" and not _is_caption(units, at):
            order = order if run else at
            run += _parts(unit) if unit.kind == "code" and len(unit.text) > _LONGEST_CODE else [unit]
    if run:
        yield PassageBlock(citation, tuple(run), tuple(terms), heading, order)


def _parts(code: Unit) -> Iterator[Unit]:
    """Divide code into parts of whole lines, before a blank line or a line that is indented least."""
    lines = code.text.splitlines(keepends=True)
    least = min((_indent(line) for line in lines[1:-1] if line.strip()), default=0)
    start = size = 0
    for line in lines:
        if size - start >= _CODE_PART and (not line.strip() or _indent(line) <= least + _SLIGHT_INDENT):
            yield replace(code, text=code.text[start:size].rstrip("\n"), start=code.start + start, is_part=True)
            start = size
        size += len(line)
    yield replace(code, text=code.text[start:].rstrip("\n"), start=code.start + start, is_part=True)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _terms(terms: Sequence[Unit], units: Sequence[Unit], at: int) -> list[Unit]:
    """Return the terms for the blocks after ``at``: adjacent terms add up, a heading ends them, a caption is none."""
    if units[at].kind == "heading" or (at + 1 < len(units) and units[at + 1].kind == "image"):
        return []
    return [*(terms if at and units[at - 1].kind == "term" else ()), units[at]]


def _introduces(unit: Unit, following: Unit) -> bool:
    """Return whether a sentence leads to the next unit: by a colon, or by no full stop before a list, table or code."""
    end = unit.text.rstrip(_CLOSING)[-1:]
    listed = following.depth > unit.depth or following.kind in ("header", "row", "code")
    return unit.kind == "sentence" and (end in ":：" or (listed and end not in ".!?…。！？"))


def _is_caption(units: Sequence[Unit], at: int) -> bool:
    """Return whether the unit is a short line without a full stop, directly before or after an image."""
    unit, around = units[at], (*units[max(0, at - 1) : at], *units[at + 1 : at + 2])
    short = unit.kind == "sentence" and not unit.label and len(unit.text) <= _LONGEST_CAPTION
    ended = unit.text.rstrip(_CLOSING).endswith((".", "!", "?", ":", "…", "。", "："))
    return short and not ended and any(other.kind == "image" for other in around)
