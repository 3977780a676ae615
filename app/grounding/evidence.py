"""The places of a passage that can bear a statement out: a unit with the names above it, and one unit near it.

Words that a passage has in places far apart bear nothing out together: a sentence about one option and the name of
another say something that the passage does not. Comparing a statement with a place is the task of
:mod:`app.grounding.bearing`.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from app.grounding.sentences import Unit, units_of
from app.grounding.ways import Way, ways_in
from app.grounding.words import readable, words
from app.schema.passages import Citation

Denial = Literal["statement", "condition"]
"""Where a sentence denies something: in what it says, or in the condition under which that is so or what it is for."""

_DENIES = re.compile(
    r"\b(?:not|never|no|none|nothing|nobody|cannot|unable|impossible|without|in the absence of|nor|neither"
    r"|avoid\w*|prevent\w*|(?:keep|stop)\w*\b[^.,;:()\n]{0,60}?\bfrom"
    r"|nicht|nichts|nie|niemand|kein\w*|ohne|unmöglich|vermeid\w*|verhinder\w*)\b|n['’]t\b",
    re.IGNORECASE,
)
_ANSWERS_NO = re.compile(r"[\W_]*(?:no|nein)[,.:;!–—-]\s", re.IGNORECASE)
"""The beginning of a statement that answers a question; what follows says itself what is denied."""
_CONDITION = re.compile(
    r"\b(?:if|when|unless|until|whether|in the absence of|wenn|falls|sofern|ob)\b[^,.;:()\n]{0,200}"
    r"|^\W*(?:(?:in order )?to|um)\b[^,.;:()\n]{0,200}(?=,)",
    re.IGNORECASE,
)
"""The condition under which something is so, or what it is for: "To keep a dialog from being closed, lock it"."""
_DENIED = 60
"""Characters after a denial in which the word stands that it denies."""
_NUMBER = re.compile(r"(?<![\w.,:])\d+(?:[.,:]\d+)*(?![\w])")
COUNTS = {
    word: str(count)
    for words_of_count in (
        "two three four five six seven eight nine ten eleven twelve",
        "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
    )
    for count, word in enumerate(words_of_count.split(), 2)
}
"""Numbers as words. "One" is none: it often stands for a thing."""
_TWO = frozenset("both twice double pair couple beide beiden doppelt zweimal".split())
_TOKEN = re.compile(r"[^\W_]+")
_CAPTION = re.compile(r"\W*(?:figure|table|example|listing|abbildung|tabelle|beispiel)\b", re.IGNORECASE)
_NAME = re.compile(r"[^\W_][^*;,:()\[\]“”\"]{0,60}[^\W_]")
_UNITS = 400
_CLAUSE_END = re.compile(r"[,;:](?!\d)|\s[–—]\s|\b(?:while|whereas|but|während|aber)\b", re.IGNORECASE)
_SHORTEST_CLAUSE = 3
"""Words from which a part of a sentence counts as a clause; fewer are an item of a list."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A unit of a passage. ``names`` are the words of the headings and terms that it stands under in its passage."""

    words: frozenset[str]
    names: frozenset[str]
    numbers: frozenset[str]
    denials: frozenset[Denial]
    denied: frozenset[str]
    """The word behind each denial: what is said not to be so."""
    block: int
    row_of: frozenset[str] = frozenset()
    """Of a table's row, what it is about: the words of its first cell that tell it from the other rows."""
    clauses: tuple[tuple[str, ...], ...] = ()
    in_order: str = ""
    """The words and ``names`` in their order, with a space around each: a name of several words stands in it."""

    def is_near(self, other: "Evidence") -> bool:
        """Whether both stand in one paragraph, list or table, or in two that follow each other."""
        return abs(self.block - other.block) <= 1 and (self.names == other.names or self.block == other.block)


@dataclass(frozen=True, slots=True)
class EvidencePassage:
    """A passage as evidence. ``around`` are the words of the title and the headings that say what it is about."""

    number: int
    units: tuple[Evidence, ...]
    around: frozenset[str]
    around_in_order: str
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
        around_in_order = in_order(around)
        own = frozenset(around_in_order.split())
        units = units_of(citation.passage)[:_UNITS]
        evidence = tuple(_evidence(units))
        return cls(
            citation.number,
            evidence,
            own,
            around_in_order,
            tokens=frozenset(tokens(text)),
            numbers=_numbers_known_by(around),
            ways=frozenset(ways_in(text)),
            words=own.union(*(unit.words | unit.names for unit in evidence)),
            terms=frozenset(name for unit in units if _is_term(unit) for name in _NAME.findall(readable(unit.text))),
        )


def denials_in(text: str) -> frozenset[Denial]:
    """Where a text denies something. "If it is not there, click New" says what to do, not what not to do."""
    conditions = " ".join(_CONDITION.findall(text))
    found: dict[Denial, str] = {"statement": _said(text), "condition": conditions}
    return frozenset(place for place, part in found.items() if _DENIES.search(part))


def denied_in(text: str) -> Iterator[str]:
    """The first meaningful word after each denial in what a text says: what it says not to be so."""
    said = _said(text)
    for denial in _DENIES.finditer(said):
        yield from islice(words(said[denial.end() : denial.end() + _DENIED]), 1)


def in_order(text: str) -> str:
    """The meaningful words of a text in their order, with a space around each."""
    return f" {' '.join(words(text))} "


def _said(text: str) -> str:
    """Return a text without its conditions, and without the "No" with which it answers."""
    answers_no = _ANSWERS_NO.match(text)
    return _CONDITION.sub(" ", text[answers_no.end() :] if answers_no else text)


def clauses_of(text: str) -> tuple[tuple[str, ...], ...]:
    """The meaningful words of each clause of a sentence, in order. Short ones, as of a list, belong to the next one."""
    clauses: list[tuple[str, ...]] = []
    part: tuple[str, ...] = ()
    for piece in _CLAUSE_END.split(text):
        part += tuple(words(piece))
        if len(part) >= _SHORTEST_CLAUSE:
            clauses.append(part)
            part = ()
    return (*clauses[:-1], (*clauses[-1], *part)) if clauses and part else (*clauses, *((part,) if part else ()))


def tokens(text: str) -> list[str]:
    """All words of a text as they are written, in small letters."""
    return _TOKEN.findall(text.lower())


def numbers_in(text: str) -> Iterator[str]:
    """The numbers of a text, without separators of thousands."""
    for match in _NUMBER.finditer(readable(text)):
        yield match[0].replace(",", "")


def counts_in(text: str) -> Iterator[str]:
    """The numbers that a text writes as words."""
    yield from filter(None, map(COUNTS.get, tokens(text)))


def _numbers_known_by(text: str) -> frozenset[str]:
    """Return the numbers that a text says in any way."""
    is_two = not _TWO.isdisjoint(tokens(text))
    return frozenset(numbers_in(text)).union(counts_in(text), ("2",) if is_two else ())


def _is_term(unit: Unit) -> bool:
    """Return whether a unit names what follows; a caption names nothing."""
    return unit.kind == "term" and not _CAPTION.match(unit.text)


def _evidence(units: Sequence[Unit]) -> Iterator[Evidence]:
    heading = terms = ""  # their words in order
    was_term = False
    subjects = _subjects_of_rows(units)
    for at, unit in enumerate(units):
        own = in_order(unit.text)
        if unit.kind == "heading":
            heading, terms = own, ""
        elif _is_term(unit):
            terms = terms + own if was_term else own
        was_term = unit.kind == "term"
        yield Evidence(
            frozenset(own.split()),
            frozenset((heading + terms).split()),
            _numbers_known_by(unit.text),
            denials_in(unit.text),
            frozenset(denied_in(unit.text)),
            unit.block,
            subjects.get(at, frozenset()),
            clauses_of(unit.text) if unit.kind == "sentence" else (),
            heading + ("" if was_term else terms) + own,
        )


def _subjects_of_rows(units: Sequence[Unit]) -> dict[int, frozenset[str]]:
    """Return for each row the words of its first cell that no other row of the table begins with."""
    first = {
        at: frozenset(words(unit.text.strip().strip("|").partition("|")[0]))
        for at, unit in enumerate(units)
        if unit.kind == "row"
    }
    counted = Counter((units[at].block, word) for at, cell in first.items() for word in cell)
    return {at: frozenset(word for word in cell if counted[units[at].block, word] == 1) for at, cell in first.items()}
