"""The places of a passage that can bear a statement out: a unit with the names above it, and one unit near it.

Words that a passage has in places far apart bear nothing out together: a sentence about one option and the name of
another say something that the passage does not. Comparing a statement with a place is the task of
:mod:`app.grounding.bearing`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from app.grounding.sentences import Unit, units_of
from app.grounding.ways import Way, ways_in
from app.grounding.words import readable, words
from app.schema.passages import Citation

Denial = Literal["statement", "condition"]
"""Where a sentence denies something: in what it says, or in the condition under which that is so."""

_DENIES = re.compile(r"\b(?:not|never|no|cannot|without|nor|neither|nicht|nie|kein\w*|ohne)\b|n['’]t\b", re.IGNORECASE)
_CONDITION = re.compile(r"\b(?:if|when|unless|until|whether|wenn|falls|sofern|ob)\b[^,.;:()\n]{0,200}", re.IGNORECASE)
_DENIED = 60
"""Characters after a denial in which the word stands that it denies."""
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
    denials: frozenset[Denial]
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


def denials_in(text: str) -> frozenset[Denial]:
    """Where a text denies something. "If it is not there, click New" says what to do, not what not to do."""
    conditions = " ".join(_CONDITION.findall(text))
    found: dict[Denial, str] = {"statement": _CONDITION.sub(" ", text), "condition": conditions}
    return frozenset(place for place, part in found.items() if _DENIES.search(part))


def denied_in(text: str) -> Iterator[str]:
    """The first meaningful word after each denial in what a text says: what it says not to be so."""
    said = _CONDITION.sub(" ", text)
    for denial in _DENIES.finditer(said):
        yield from islice(words(said[denial.end() : denial.end() + _DENIED]), 1)


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
        own = frozenset(words(unit.text))
        if unit.kind == "heading":
            heading, terms = own, frozenset()
        elif _is_term(unit):
            terms = terms | own if was_term else own
        was_term = unit.kind == "term"
        numbers = frozenset(numbers_in(unit.text))
        yield Evidence(own, heading | terms, numbers, denials_in(unit.text), unit.block)
