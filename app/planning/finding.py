"""Finds the documents that a reference means among those that a person may see."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from difflib import SequenceMatcher

from app.grounding.words import Weights, words
from app.planning.dates import period_of
from app.planning.references import Reference
from app.planning.wanted import is_of_kind, related_kind, words_about
from kb_pipeline.records import Chunk, DocumentEntry

_FITS = 0.6
"""Share of the words of a reference that a document must have to be meant."""
_AHEAD = 0.15
"""How much better than the next one a document must fit to be meant for certain."""
_OF_TEXT = 0.5
"""What a word counts that only headings or the summary have."""
_OF_DATE = 0.7
"""What a year, a month or a quarter counts that is only that of the day on which the document came in."""
_OF_KIND = 0.3
_ALIKE = 0.8
_LEAST_LETTERS = 4
_YEAR, _QUARTER = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)"), re.compile(r"\bq[1-4]\b", re.IGNORECASE)
_MONTHS = "january february march april may june july august september october november december".split()


@dataclass(frozen=True, slots=True)
class Found:
    """The documents that a reference means for certain, or else those that it may mean, best first.

    ``in_all`` is how many may be meant. Both are empty if no document fits.
    """

    certain: tuple[Chunk, ...] = ()
    candidates: tuple[Chunk, ...] = ()

    @property
    def is_unclear(self) -> bool:
        """Whether it must be asked which document is meant."""
        return not self.certain and len(self.candidates) > 1


def find(reference: Reference, rows: Sequence[Chunk], today: date, *, loosely: bool = False) -> Found:
    """The documents that a reference means; ``loosely``, also those with a similar name or of a similar kind."""
    match reference.by:
        case "file":
            return _by_file(reference.name, rows, loosely=loosely)
        case "title":
            return _by_title(reference.name, rows, loosely=loosely)
        case _:
            return _by_description(reference, rows, today, loosely=loosely)


def named_by(text: str, kind: str, rows: Sequence[Chunk]) -> Chunk | None:
    """The only document of a kind whose name, type, department, author or day has all words of a text."""
    asked = words(text)
    of_kind = [row for row in rows if is_of_kind(row, kind)]
    found = [row for row in of_kind if asked and all(word in _names(row) | _days(row) for word in asked)]
    return found[0] if len(found) == 1 else None


def _by_file(name: str, rows: Sequence[Chunk], *, loosely: bool) -> Found:
    exact = [row for row in rows if name.casefold() in (_entry(row).filename.casefold(), row.article_id.casefold())]
    if exact:
        return _decided(exact)
    if loosely:
        near = [
            row
            for row in rows
            if SequenceMatcher(None, name.casefold(), _entry(row).filename.casefold()).ratio() >= _ALIKE
        ]
        return _decided(near)
    return Found()


def _by_title(title: str, rows: Sequence[Chunk], *, loosely: bool) -> Found:
    wanted = _plain(title)
    if exact := [row for row in rows if wanted in (_plain(row.title), _plain(_entry(row).filename.rpartition(".")[0]))]:
        return _decided(exact)
    if holding := [row for row in rows if f" {wanted} " in f" {_plain(row.title)} "]:
        return _decided(holding)
    if loosely:
        return _decided([row for row in rows if _are_alike(wanted, _plain(row.title))])
    return Found()


def _by_description(reference: Reference, rows: Sequence[Chunk], today: date, *, loosely: bool) -> Found:
    name = _plain(reference.name)
    exact = [row for row in rows if name in (_plain(row.title), _plain(_entry(row).filename.rpartition(".")[0]))]
    if exact and not reference.is_plural and not reference.order:
        return _decided(exact)
    kind = reference.noun
    if loosely and not any(is_of_kind(row, kind) for row in rows):
        kind = related_kind(kind, rows) or kind
    about = reference.about
    period = period_of(about, today)
    if period and not re.search(r"\d", about[period.start : period.end]):  # a year may stand in the title
        about = f"{about[: period.start]} {about[period.end :]}"
        rows = [row for row in rows if period.first <= _entry(row).upload_date[:10] <= (period.last or "9999")]
    asked = tuple(dict.fromkeys(words(f"{reference.qualifiers} {about}")))
    fitting = _fitting(asked, kind, rows)
    if not fitting:
        return Found()
    if reference.order:
        ordered = sorted(
            (row for _, row in fitting), key=lambda row: _entry(row).upload_date, reverse=reference.order == "newest"
        )
        return Found(certain=tuple(ordered[: max(1, reference.count)]))
    return _ahead(fitting, reference)


def _fitting(asked: Sequence[str], kind: str, rows: Sequence[Chunk]) -> list[tuple[float, Chunk]]:
    """Return the documents of a kind with enough of the words, each with how well it fits, best first, then newest."""
    named = [_names(row) for row in rows]
    weights = Weights(named)
    total = weights.sum(asked) or 1.0
    scored = []
    for row, names in zip(rows, named, strict=True):
        is_kind = is_of_kind(row, kind)
        if not asked:
            if is_kind:
                scored.append((1.0, row))
            continue
        own = {word for word in asked if word in names or _begins_one(word, names)}
        dated = (set(asked) - own) & _days(row)
        in_text = (set(asked) - own - dated) & words_about(row)
        share = (weights.sum(own) + _OF_DATE * weights.sum(dated) + _OF_TEXT * weights.sum(in_text)) / total
        if share >= (_FITS if is_kind else 1.0) and (own or is_kind):
            scored.append((share + _OF_KIND * is_kind, row))
    scored.sort(key=lambda each: _entry(each[1]).upload_date, reverse=True)
    return sorted(scored, key=lambda each: -each[0])


def _ahead(fitting: Sequence[tuple[float, Chunk]], reference: Reference) -> Found:
    best = fitting[0][0]
    near = tuple(row for score, row in fitting if score > best - _AHEAD)
    if reference.count > 1 and len(near) > reference.count:
        return Found(candidates=near)
    if reference.is_plural:
        return Found(certain=near) if reference.count or len(near) <= _FEW else Found(candidates=near)
    return Found(certain=near) if len(near) == 1 else Found(candidates=near)


_FEW = 4
"""Documents that "the reports" means without asking which."""


def _decided(rows: Sequence[Chunk]) -> Found:
    return Found(certain=tuple(rows)) if len(rows) == 1 else Found(candidates=tuple(rows))


def _begins_one(word: str, names: Iterable[str]) -> bool:
    """Return whether a name is a compound that begins with a word: "Miet" of "Mietvertrag"."""
    return len(word) >= _LEAST_LETTERS and any(name.startswith(word) for name in names)


def _are_alike(one: str, other: str) -> bool:
    return SequenceMatcher(None, one, other).ratio() >= _ALIKE


def _names(row: Chunk) -> frozenset[str]:
    """The words that name a document: title, file name, type, department, author."""
    entry = _entry(row)
    name = re.sub(r"[\W_]+", " ", entry.filename.rpartition(".")[0])
    return frozenset(words(f"{row.title} {name} {entry.document_type} {entry.department} {entry.author}"))


def _days(row: Chunk) -> frozenset[str]:
    """The words for the day on which a document came in: its month, and year and quarter unless its name has some."""
    day = _entry(row).upload_date
    if len(day) < len("2024-05"):
        return frozenset()
    month = int(day[5:7])
    says = f"{row.title} {_entry(row).filename}"
    year = "" if _YEAR.search(says) else day[:4]
    quarter = "" if _QUARTER.search(says) else f"q{(month + 2) // 3}"
    return frozenset(words(f"{year} {_MONTHS[month - 1]} {quarter}"))


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold().replace("_", " ")))


def _entry(row: Chunk) -> DocumentEntry:
    return row.document or DocumentEntry(filename=row.filename)
