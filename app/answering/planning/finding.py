"""Finds the documents that words mean among those that a person may see, and tells what is unclear."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from difflib import SequenceMatcher, get_close_matches

from app.answering.planning.commands import Command
from app.answering.planning.nouns import Nouns, is_of_kind
from app.answering.planning.references import DocumentReference, is_determiner, reference_of, sharing_noun
from app.language.dates import period_of
from app.language.words import WordWeights, words
from kb_pipeline.records import Chunk

_FITS = 0.6
"""Share of the words beside a noun that a document must have to be meant; without a noun it must have all."""
_AHEAD = 0.15
"""How much better than the next one a document must fit to be meant for certain."""
_OF_TEXT, _OF_DATE = 0.5, 0.7
"""What a word counts that only headings or summary have, or only the day on which the document came in."""
_OF_TITLE = 0.5
"""Share of a title's words that must be said to mean its document where no noun tells that one is meant."""
_ALIKE = 0.8
"""Likeness by difflib of two spellings: one letter of five may be another."""
_FEW = 4
"""Documents that "the reports" means without asking which."""
_LEAST_LETTERS = 4
"""Letters of a word that may be misspelt or begin a compound; shorter ones are like too many others."""


@dataclass(frozen=True, slots=True)
class MeantDocuments:
    """The documents that words mean for certain, or else those that they may mean, best first; neither if none fits."""

    certain: tuple[Chunk, ...] = ()
    candidates: tuple[Chunk, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.certain or self.candidates)


@dataclass(frozen=True)
class Meant:
    """The documents that a command is about. ``unclear`` is the reference of which several may be meant.

    ``guessed``: the first of several was taken without asking. ``missing`` are references that mean no document,
    ``gone`` how many of the chosen documents are not there any more.
    """

    rows: tuple[Chunk, ...] = ()
    unclear: DocumentReference | None = None
    candidates: tuple[Chunk, ...] = ()
    guessed: bool = False
    missing: tuple[DocumentReference, ...] = ()
    gone: int = 0

    def with_guesses(self) -> "Meant":
        """The same with the best candidates in place of what is unclear; it has been asked before."""
        if not self.unclear:
            return self
        return replace(self, rows=(*self.rows, *self.candidates[: max(1, self.unclear.count)]), guessed=True)


def references_in(command: Command, nouns: Nouns) -> tuple[DocumentReference, ...]:
    """What the words of a command mean; nothing if one of them means any document, such as "a file"."""
    references = [reference for side in command.sides if (reference := reference_of(side, nouns))]
    if len(references) < len(command.sides):
        return ()
    if len(references) > 1:
        return sharing_noun(*references)
    if command.kind == "COMPARISON" and not references[0].is_plural:
        return ()
    return tuple(references)


def spans_in(question: str, nouns: Nouns, rows: Sequence[Chunk]) -> tuple[str, ...]:
    """The words of a question that are made of a noun for documents of a type and of words of their names."""
    tokens = re.findall(r"[\w.&'’/+-]*\w", question)
    spans = []
    at = 0
    while noun := nouns.find(tokens[at:]):
        first, last = at + noun.start, at + noun.end
        names = set[str]().union(*(_names(row) for row in rows if is_of_kind(row, noun.kind)))
        while last < len(tokens) and noun.kind and {*words(tokens[last])} & names:
            last += 1
        while first > at and (is_determiner(tokens[first - 1]) or {*words(tokens[first - 1])} & names):
            first -= 1
        spans += [" ".join(tokens[first:last])] if noun.kind else []
        at = last
    return tuple(spans)


def meant_by(
    command: Command,
    references: Sequence[DocumentReference],
    rows: Sequence[Chunk],
    chosen: Sequence[Chunk],
    today: date,
) -> Meant:
    """The documents that a command is about.

    Of documents that the asker chose, all are meant; in a comparison beside those that are clear without them.
    """
    if chosen and (command.kind != "COMPARISON" or len(chosen) > 1):
        return Meant(rows=tuple(chosen))
    meant, missing = list(chosen), list[DocumentReference]()
    unclear: tuple[DocumentReference, MeantDocuments] | None = None
    for reference in references:
        found = find(reference, rows, today)
        if found.certain or len(found.candidates) == 1:
            meant += found.certain or found.candidates
        elif found and not any(row in found.candidates for row in chosen):
            unclear = unclear or (reference, found)
        elif not found:
            missing.append(reference)
    distinct = tuple({row.article_id: row for row in meant}.values())
    if not unclear:
        return Meant(rows=distinct, missing=tuple(missing))
    reference, found = unclear
    others = tuple(row for row in found.candidates if row not in distinct)
    if len(others) == 1:
        return Meant(rows=(*distinct, *others), missing=tuple(missing))
    return Meant(rows=distinct, unclear=reference, candidates=others, missing=tuple(missing))


def find(reference: DocumentReference, rows: Sequence[Chunk], today: date) -> MeantDocuments:
    """The documents that a reference means; if none fits, those whose name is spelt nearly so."""
    name = _plain(reference.name)
    if reference.by == "file":
        wanted = reference.name.casefold()
        exact = [row for row in rows if wanted in (row.entry.filename.casefold(), row.article_id.casefold())]
        return _decided(exact or [row for row in rows if _are_alike(wanted, row.entry.filename.casefold())])
    exact = [row for row in rows if name in (_plain(row.title), _plain(row.entry.filename.rpartition(".")[0]))]
    if exact and not reference.is_plural and not reference.order:
        return _decided(exact)
    if reference.by == "title":
        holding = [row for row in rows if f" {name} " in f" {_plain(row.title)} "]
        return _decided(holding or [row for row in rows if _are_alike(name, _plain(row.title))])
    return _by_description(reference, rows, today)


def named_by(text: str, kind: str, rows: Sequence[Chunk]) -> Chunk | None:
    """The only document of a kind whose name, type, department, author or day has all words of a text."""
    wanted = words(text)
    of_kind = [row for row in rows if is_of_kind(row, kind)]
    fitting = [row for row in of_kind if wanted and all(word in _names(row) | _days(row) for word in wanted)]
    return fitting[0] if len(fitting) == 1 else None


def words_about(row: Chunk) -> frozenset[str]:
    """The words by which a document can be found: title, file name, type, headings, brief summary and topics."""
    entry = row.entry
    headings = " ".join(heading.text for heading in entry.headings)
    told = f"{row.title} {_of_file(row)} {entry.document_type} {headings} {entry.summary.brief_text}"
    return frozenset(words(f"{told} {' '.join(row.key_topics)}"))


def _by_description(reference: DocumentReference, rows: Sequence[Chunk], today: date) -> MeantDocuments:
    described = reference.described
    period = period_of(described, today)
    if period and not re.search(r"\d", described[period.start : period.end]):  # a year may stand in the title
        described = f"{described[: period.start]} {described[period.end :]}"
        rows = [row for row in rows if period.first <= row.entry.upload_date[:10] <= (period.last or "9999")]
    rows = [row for row in rows if is_of_kind(row, reference.kind)]
    wanted = tuple(dict.fromkeys(words(described)))
    if not wanted and not (reference.has_noun and reference.is_definite):
        return MeantDocuments()
    fitting = _fitting(wanted, rows, has_noun=reference.has_noun)
    if not fitting:
        return MeantDocuments()
    if reference.order:
        newest_first = sorted((row for _, row in fitting), key=lambda row: row.entry.upload_date, reverse=True)
        ordered = newest_first if reference.order == "newest" else newest_first[::-1]
        return MeantDocuments(certain=tuple(ordered[: reference.count or 1]))
    best = fitting[0][0]
    near = tuple(row for score, row in fitting if score > best - _AHEAD)
    is_certain = len(near) <= (reference.count or _FEW) if reference.is_plural else len(near) == 1
    return MeantDocuments(certain=near) if is_certain else MeantDocuments(candidates=near)


def _fitting(asked: Sequence[str], rows: Sequence[Chunk], *, has_noun: bool) -> list[tuple[float, Chunk]]:
    """The documents with enough of the words, each with how well it fits, best first, then newest."""
    named = [_names(row) for row in rows]
    respelt = [_respelt(word, named) for word in asked]
    weights = WordWeights(named)
    total = weights.sum(respelt) or 1.0
    scored = []
    for row, names in zip(rows, named, strict=True):
        own = {word for word in respelt if word in names or _begins_one(word, names)}
        dated = (set(respelt) - own) & _days(row)
        in_text = (set(respelt) - own - dated) & words_about(row) if has_noun else set()
        share = (weights.sum(own) + _OF_DATE * weights.sum(dated) + _OF_TEXT * weights.sum(in_text)) / total
        of_title = len(own & set(words(row.title))) / max(1, len(set(words(row.title))))
        if not asked or (share >= _FITS and has_noun) or (len(own) == len(set(respelt)) > 1 and of_title >= _OF_TITLE):
            scored.append((share, row))
    scored.sort(key=lambda each: each[1].entry.upload_date, reverse=True)
    return sorted(scored, key=lambda each: -each[0])


def _respelt(word: str, named: Iterable[frozenset[str]]) -> str:
    """Return the word of a name that is nearly spelt so, if no name has the word itself."""
    name_words = set().union(*named)
    if word in name_words or len(word) < _LEAST_LETTERS or any(character.isdigit() for character in word):
        return word
    return next(iter(get_close_matches(word, name_words, 1, _ALIKE)), word)


def _decided(rows: Sequence[Chunk]) -> MeantDocuments:
    return MeantDocuments(certain=tuple(rows)) if len(rows) == 1 else MeantDocuments(candidates=tuple(rows))


def _begins_one(word: str, names: Iterable[str]) -> bool:
    """Return whether a name is a compound that begins with a word: "Miet" of "Mietvertrag"."""
    return len(word) >= _LEAST_LETTERS and any(name.startswith(word) for name in names)


def _are_alike(one: str, other: str) -> bool:
    return SequenceMatcher(None, one, other).ratio() >= _ALIKE


def _names(row: Chunk) -> frozenset[str]:
    """The words that name a document: title, file name, type, department, author."""
    entry = row.entry
    return frozenset(words(f"{row.title} {_of_file(row)} {entry.document_type} {entry.department} {entry.author}"))


def _of_file(row: Chunk) -> str:
    return re.sub(r"[\W_]+", " ", row.entry.filename.rpartition(".")[0])


def _days(row: Chunk) -> frozenset[str]:
    """The words for the day on which a document came in: its month, and year and quarter unless its name has some."""
    day = row.entry.upload_date
    if len(day) < len("2024-05"):
        return frozenset()
    month = int(day[5:7])
    says = f"{row.title} {row.entry.filename}"
    year = "" if re.search(r"(?<!\d)(?:19|20)\d\d(?!\d)", says) else day[:4]
    quarter = "" if re.search(r"\bq[1-4]\b", says, re.IGNORECASE) else f"q{(month + 2) // 3}"
    return frozenset(words(f"{year} {date(2000, month, 1):%B} {quarter}"))


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold().replace("_", " ")))
