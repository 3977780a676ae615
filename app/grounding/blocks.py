"""The units of a passage in blocks that make sense on their own: a paragraph, a procedure, a table, with its lead-in.

Here: what belongs together. Not here: what answers a question (:mod:`app.grounding.selection`).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from app.grounding.sentences import Unit, units_of
from app.grounding.words import readable, words
from app.schema import Citation

_LONGEST_CAPTION = 120
_LINK = re.compile(r"[\s*_]*!?\[(?:[^\[\]\\]|\\.)*+\]\([^()\s]*+(?:\([^()\s]*+\)[^()\s]*+)*+\)[\s*_.,;]*")
_CLOSING = '*_"”’) '


Section = tuple[str, tuple[str, ...]]
"""Article and headings."""


@dataclass(frozen=True, eq=False)
class Block:
    """A paragraph, list, table or code with what introduces it; ``terms`` are the lines in bold it stands under.

    ``heading`` is the last one before it in its passage, ``order`` its place among the units there.
    """

    citation: Citation
    units: tuple[Unit, ...]
    terms: tuple[Unit, ...]
    heading: Unit | None
    order: int

    @cached_property
    def said(self) -> tuple[frozenset[str], ...]:
        """The words of each unit."""
        return tuple(frozenset(words(unit.text)) for unit in self.units)

    @cached_property
    def words(self) -> frozenset[str]:
        """All its words."""
        return frozenset().union(*self.said)

    @cached_property
    def context(self) -> frozenset[str]:
        """Words of title, headings and terms."""
        above = [self.citation.title, *self.citation.heading_path, *(term.text for term in self.terms)]
        return frozenset(words(" ".join([*above, self.heading.text if self.heading else ""])))

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """Characters of each unit that a reader sees."""
        return tuple(len(readable(unit.text)) for unit in self.units)

    @property
    def steps(self) -> list[Unit]:
        """The beginnings of its numbered items; those of lists inside them are not looked at."""
        return [unit for unit in self.units if unit.numbered and unit.depth == 1]

    @property
    def introduces(self) -> bool:
        """Whether it ends with a colon."""
        return self.units[-1].text.rstrip(_CLOSING).endswith((":", "："))

    @property
    def section(self) -> Section:
        """What it is a part of."""
        return section_of(self.citation)


def section_of(citation: Citation) -> Section:
    """The section that a passage is a part of."""
    return citation.article_id, citation.heading_path


def blocks_of(citation: Citation) -> list[Block]:
    """The blocks of a passage that say something: no captions of images, no mere lists of links."""
    return [
        Block(citation, run.units, run.terms, run.heading, run.order)
        for run in _runs(units_of(citation.passage))
        if not all(_LINK.fullmatch(unit.text) for unit in run.units[1:] or run.units)
    ]


@dataclass(frozen=True, slots=True)
class _Run:
    units: tuple[Unit, ...]
    terms: tuple[Unit, ...]
    heading: Unit | None
    order: int


def _runs(units: Sequence[Unit]) -> Iterator[_Run]:
    """Units of one block, and of the next where the one introduces it."""
    run: list[Unit] = []
    terms: list[Unit] = []
    heading: Unit | None = None
    order = 0
    for at, unit in enumerate(units):
        names = unit.kind in ("heading", "term")
        if run and (names or (unit.kind != "image" and unit.block != run[-1].block and not _introduces(run[-1], unit))):
            yield _Run(tuple(run), tuple(terms), heading, order)
            run = []
        if names:
            terms, heading = _terms(terms, units, at), unit if unit.kind == "heading" else heading
        elif unit.kind != "image" and not _is_caption(units, at):
            order = order if run else at
            run.append(unit)
    if run:
        yield _Run(tuple(run), tuple(terms), heading, order)


def _terms(terms: Sequence[Unit], units: Sequence[Unit], at: int) -> list[Unit]:
    """The terms that count from here on: neighbours stand together, a heading ends them, an image's caption is none."""
    if units[at].kind == "heading" or (at + 1 < len(units) and units[at + 1].kind == "image"):
        return []
    return [*(terms if at and units[at - 1].kind == "term" else ()), units[at]]


def _introduces(unit: Unit, following: Unit) -> bool:
    """Whether a sentence leads to what comes after it: by a colon, or by not ending before a list, table or code."""
    end = unit.text.rstrip(_CLOSING)[-1:]
    listed = following.depth > unit.depth or following.kind in ("header", "row", "code")
    return unit.kind == "sentence" and (end in ":：" or (listed and end not in ".!?…。！？"))


def _is_caption(units: Sequence[Unit], at: int) -> bool:
    """Whether it is a short line without an end, right at an image."""
    unit, around = units[at], (*units[max(0, at - 1) : at], *units[at + 1 : at + 2])
    short = unit.kind == "sentence" and not unit.label and len(unit.text) <= _LONGEST_CAPTION
    ended = unit.text.rstrip(_CLOSING).endswith((".", "!", "?", ":", "…", "。", "："))
    return short and not ended and any(other.kind == "image" for other in around)
