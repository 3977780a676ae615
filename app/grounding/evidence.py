"""The places of a passage that can bear a statement out: a unit with the names above it, and one unit near it.

Words that a passage has in places far apart bear nothing out together: a sentence about one option and the name of
another say something that the passage does not. Comparing a statement with a place is the task of
:mod:`app.grounding.bearing`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.grounding.sentences import Unit, units_of
from app.grounding.ways import Way, ways_in
from app.grounding.words import readable, words
from app.schema import Citation

DENIAL = "¬"
"""Stands for all words that deny. A statement and a sentence of which only one denies do not say the same.

Of 452 sentences to which a "not" was added, 71 % are no longer borne out; of 78 that lost theirs, 82 %."""

_DENIES = re.compile(r"\b(?:not|never|no|cannot|without|nor|neither|nicht|nie|kein\w*|ohne)\b|n['’]t\b", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.,:])\d+(?:[.,:]\d+)*(?![\w])")
_TOKEN = re.compile(r"[^\W_]+")
_CAPTION = re.compile(r"\W*(?:figure|table|example|listing|abbildung|tabelle|beispiel)\b", re.IGNORECASE)
_NAME = re.compile(r"[^\W_][^*;,:()\[\]“”\"]{0,60}[^\W_]")
_UNITS = 400


@dataclass(frozen=True, slots=True)
class Evidence:
    """A unit of a passage. ``names`` are the words of the headings and terms that it stands under in its passage."""

    words: frozenset[str]
    names: frozenset[str]
    numbers: frozenset[str]
    block: int

    def is_near(self, other: "Evidence") -> bool:
        """Whether both stand in one paragraph, list or table, or in two that follow each other."""
        return abs(self.block - other.block) <= 1 and (self.names == other.names or self.block == other.block)


@dataclass(frozen=True, slots=True)
class EvidencePassage:
    """A passage as evidence. ``around`` are the words of the title and the headings that say what it is about."""

    number: int
    units: tuple[Evidence, ...]
    around: frozenset[str]
    tokens: frozenset[str]
    numbers: frozenset[str]
    ways: frozenset[Way]
    words: frozenset[str]
    terms: frozenset[str]
    """What its terms are called, as it is written: the names of options and fields that are described under them."""

    @classmethod
    def of(cls, citation: Citation) -> "EvidencePassage":
        around = "\n".join((citation.title, citation.section, *citation.heading_path))
        text = f"{around}\n{readable(citation.passage)}"
        own = frozenset(words(around))
        units = units_of(citation.passage)[:_UNITS]
        evidence = tuple(_evidence(units))
        return cls(
            citation.number,
            evidence,
            own,
            tokens=frozenset(tokens(text)),
            numbers=frozenset(numbers_in(around)),
            ways=frozenset(ways_in(text)),
            words=own.union(*(unit.words | unit.names for unit in evidence)),
            terms=frozenset(name for unit in units if _is_term(unit) for name in _NAME.findall(readable(unit.text))),
        )


def meaning(text: str) -> frozenset[str]:
    """The words of a text, and the sign of denial if it denies something."""
    denial = (DENIAL,) if _DENIES.search(text) else ()
    return frozenset((*words(text), *denial))


def tokens(text: str) -> list[str]:
    """All words of a text as they are written, in small letters."""
    return _TOKEN.findall(text.lower())


def numbers_in(text: str) -> Iterator[str]:
    """The numbers of a text, without separators of thousands."""
    for match in _NUMBER.finditer(readable(text)):
        yield match[0].replace(",", "")


def _is_term(unit: Unit) -> bool:
    """Return whether a unit names what follows; a caption names nothing."""
    return unit.kind == "term" and not _CAPTION.match(unit.text)


def _evidence(units: Sequence[Unit]) -> Iterator[Evidence]:
    heading: frozenset[str] = frozenset()
    terms: frozenset[str] = frozenset()
    was_term = False
    for unit in units:
        own = meaning(unit.text)
        if unit.kind == "heading":
            heading, terms = own, frozenset()
        elif _is_term(unit):
            terms = terms | own if was_term else own
        was_term = unit.kind == "term"
        yield Evidence(own, (heading | terms) - {DENIAL}, frozenset(numbers_in(unit.text)), unit.block)
