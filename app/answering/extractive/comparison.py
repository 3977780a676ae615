"""Chooses what to quote for a question that compares things: one section that explains all of them, or one for each.

Which things a question compares is told by :mod:`app.answering.comparisons`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from app.answering.comparisons import Alternatives
from app.answering.extractive.blocks import PassageBlock
from app.answering.extractive.selection import NEARLY_AS_GOOD, Extract, Scored, choose, rank
from app.grounding.citations import CitationBook
from app.grounding.words import parse_question, words
from app.suggestions import without_number
from kb_pipeline.records import SearchHit

HITS_OF_A_SIDE = 10
"""More than other searches need: the section that says what a thing is may not be the one that names it most."""

_READ = 2
_ABOUT = 0.5
_CONTRAST = re.compile(
    r"\b(?:unlike|whereas|instead|rather|differ(?:s|ed|ent|ence|ences|ently)?|than|contrast|contrary|compared|versus"
    r"|similar(?:ly)?|however|während|sondern|unterschied\w*|anders)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Side:
    """One of the things that are compared, and what is quoted about it: nothing if no section is about it."""

    name: str
    extracts: tuple[Extract, ...] = ()
    has_own_section: bool = False


def explained_together(comparison: Alternatives, ranked: Sequence[Scored]) -> list[Scored]:
    """The blocks of a search, best first, led by one that explains all sides together; empty if none does.

    Its headings name all sides, or a sentence of it does that sets them apart.
    """
    near = (scored for scored in ranked if scored.score >= NEARLY_AS_GOOD * ranked[0].score)
    together = next((scored for scored in near if _explains(comparison, scored.block)), None)
    return [together, *(scored for scored in ranked if scored is not together)] if together else []


def _explains(comparison: Alternatives, block: PassageBlock) -> bool:
    sides = [frozenset(words(side)) for side in comparison.sides]
    named = [frozenset(words(f"{block.citation.title}\n{block.citation.section}"))]
    named += [own for unit, own in zip(block.units, block.unit_words, strict=True) if _CONTRAST.search(unit.text)]
    return any(all(side <= together for side in sides) for together in named)


def quoted_side(comparison: Alternatives, name: str, hits: Sequence[SearchHit], book: CitationBook) -> Side:
    """What to quote about one side from the hits of a search for it, of which only those that are read enter the book.

    Sections whose headings name it come first, the shorter the heading the better: "Clone" before "Perspective clone".
    """
    side = frozenset(words(name))
    naming = [hit for hit in hits if side <= frozenset(words("\n".join((*_headings(hit), hit.chunk.content))))]
    read = sorted(naming, key=lambda hit: -_is_about(side, _headings(hit)))[:_READ]
    ranked = [
        scored
        for scored in rank(parse_question(comparison.query(name)), book.add(read))
        if side <= scored.block.words | scored.block.context
    ]
    if not ranked:
        return Side(name)
    about = {hit.chunk.id: _is_about(side, _headings(hit)) for hit in read}
    best = max(ranked, key=lambda scored: scored.score + _ABOUT * about[scored.block.citation.chunk_id])
    beside = [scored for scored in ranked if scored is not best and scored.block.section == best.block.section]
    return Side(name, tuple(choose([best, *beside])), about[best.block.citation.chunk_id] > 0)


def _headings(hit: SearchHit) -> tuple[str, str]:
    return without_number(hit.chunk.title), without_number(hit.chunk.section_header)


def _is_about(side: frozenset[str], headings: Sequence[str]) -> float:
    """Return from 0 to 1 how far title and heading name this and nothing else ("Crop" is about a crop tool, too)."""
    named = [frozenset(words(heading)) for heading in headings]
    return sum(len(side & heading) / len(side | heading) for heading in named) / len(named)
