"""What a list of documents is limited to: kind, department, author, language, days, pages, subject; and its order.

A question asks for a list if each of its words is understood: as one of these, or as one of the few words with which
lists are asked for. "List hidden files" is none, because "hidden" is neither.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Literal, NamedTuple

from app.answering.planning.commands import AROUND, is_short
from app.answering.planning.finding import words_about
from app.answering.planning.nouns import Noun, Nouns, is_of_kind
from app.answering.planning.references import is_determiner
from app.language.dates import period_of
from app.language.words import words
from kb_pipeline.records import Chunk, DocumentEntry, DocumentSort
from kb_pipeline.search.base import SearchFilter, folded
from kb_pipeline.steps.values.calendar import language_named
from kb_pipeline.steps.values.numbers import number_of

Filter = Literal["kind", "department", "author", "language", "days", "pages", "subject"]
"""What documents can be limited by; the last of those that are set is the weakest."""
_STRONGEST_FIRST: tuple[Filter, ...] = ("kind", "department", "author", "language", "days", "pages", "subject")

_DEPARTMENTS = tuple(
    names.split()
    for names in (
        "hr people personnel personal human-resources",
        "finance accounting finanzen finanz buchhaltung",
        "legal recht rechts",
        "sales vertrieb vertriebs",
        "purchasing procurement einkauf einkaufs",
        "engineering development entwicklung entwicklungs",
        "operations betrieb betriebs",
    )
)
"""Names of one department in English and German."""
_PAGES = tuple(
    (re.compile(rf"\b(?:{wording}) (?P<count>\w+) (?:pages|seiten)\b", re.IGNORECASE), least, most)
    for wording, least, most in (
        (r"(?:longer|more|mehr|länger) (?:than|als)|over|über", lambda n: n + 1, lambda _: 0),
        (r"at least|mindestens", lambda n: n, lambda _: 0),
        (r"(?:shorter|fewer|less|weniger|kürzer) (?:than|als)|under|unter", lambda _: 1, lambda n: max(1, n - 1)),
    )
)
_FIRST = r"(?:,? (?:first|zuerst))?"
_NAMED = r"(?:,? (?:sorted |ordered |sortiert )?(?:by|nach) (?:{}))"
_ORDERINGS: tuple[tuple[str, DocumentSort, bool], ...] = (
    (rf"(?:oldest|earliest|ältesten?){_FIRST}", "upload_date", False),
    (rf"(?:newest|latest|most recent|recent|neuesten?|aktuellsten?|letzten){_FIRST}\b", "upload_date", True),
    (rf"(?:longest|längsten?){_FIRST}", "page_count", True),
    (rf"(?:shortest|kürzesten?){_FIRST}", "page_count", False),
    (_NAMED.format("title|name|titel") + r"|\balphabetical(?:ly)?|\balphabetisch", "title", False),
    (_NAMED.format("pages|length|seiten"), "page_count", True),
    (_NAMED.format("department|abteilung"), "department", False),
    (_NAMED.format("author|autor"), "author", False),
    (_NAMED.format("type|typ"), "document_type", False),
    (_NAMED.format("date|datum"), "upload_date", True),
)
_ORDERS = tuple(
    (re.compile(rf",? ?\b(?P<limit>(?:\d{{1,2}}|[^\W\d_]+) )?{wording}", re.IGNORECASE), sort, descending)
    for wording, sort, descending in _ORDERINGS
)
_DEPARTMENT = re.compile(
    r"\b(?P<name>[\w&-]+) (?:department|dept|team)\b|\b(?:department|abteilung) (?P<after>[\w&-]+)"
    r"|\b(?P<german>[\w-]+)abteilung\b",
    re.IGNORECASE,
)
_NAME = r"(?P<name>[A-ZÄÖÜ][\w'’.-]+(?: [A-ZÄÖÜ][\w'’-]+){0,2})"
_AUTHOR = re.compile(
    rf"\b(?i:(?P<wrote>written|created|made|drafted) by|by|from|von) {_NAME}"
    rf"|\b(?i:did|has|hat) {_NAME.replace('name', 'did')} (?i:wr|auth|ges|verf)"
)
_SUBJECT = re.compile(
    r"\b(?:about|on|regarding|concerning|(?:that )?(?:cover|mention|discuss|deal with|concern)(?:s|ing)?|related to|for"
    r"|zum thema|über|zu|zum|zur|für|behandeln)\b(?P<subject>[^?,;]+)",
    re.IGNORECASE,
)
_LISTS = re.compile(
    r"\b(?:list|show|display|give|get|find|which|what|how many|any|every|there|do (?:you|we) have|all|overview"
    r"|number of|zeige?|liste|nenne|finde|gib|welche[rs]?|was für|wie ?viele|gibt es|haben wir|habt ihr|übersicht"
    r"|auflisten|alle[rn]?)\b",
    re.IGNORECASE,
)
_LIMITED = re.compile(r"\b(?:of|from|by|since|between|first|newest|oldest|latest|der|von|seit|aus)\b", re.IGNORECASE)
_NO_LIST = re.compile(
    r"\bdo i (?!have\b)|\bhow (?!many\b)"
    r"|\bwie (?!viele\b)|^(?:what|was) (?:is|ist|(?:are|were|sind) (?!(?:the|our|all|your|die|alle)\b))"
    r"|\b(?:(?:can|could|would|kann|können)(?! (?:you|sie|(?:i|we) (?:get|have|see))\b)|(?-i:may)|might|must|should)\b"
    r"|\b(?:darf|dürfen|muss|müssen|soll(?:en|te)?)\b",
    re.IGNORECASE,
)
"""Asks what something is ("what are runbooks", unlike "what are our runbooks"), or what may be."""
_MOST_WORDS, _MOST_OTHERS = 12, 3
"""Words of a question for a list without a verb, and words of it that need not be understood yet."""
_THERE_IS = re.compile(
    r"\b(?:every|any|(?:is|are) there|do (?:we|you) have|gibt es|haben wir|habt ihr)\b", re.IGNORECASE
)
_SAID = AROUND | frozenset(
    "list display find see knowledge base here available exist number many total library index named called every"
    " s kinds documents out happened received since upload department team d liste listen finde liegen vor"
    " insgesamt vorhanden auflisten viele gibt wir ihr wieviele auf abteilung eingegangen seit aller habt gab"
    " übersicht overview für mal so far".split()
)
"""The words with which lists are asked for."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What documents must be like. Empty fields do not limit; ``days`` and ``pages`` are first and last, 0 or "" open.

    ``said`` are the words of the question for each filter, to be shown.
    """

    kind: str = ""
    department: str = ""
    author: str = ""
    language: str = ""
    days: tuple[str, str] = ("", "")
    pages: tuple[int, int] = (0, 0)
    subject: tuple[str, ...] = ()
    said: Mapping[Filter, str] = field(default_factory=dict)
    sort: DocumentSort = "upload_date"
    descending: bool = True
    limit: int = 0

    @property
    def filters(self) -> tuple[Filter, ...]:
        """The filters that are set, the strongest first."""
        return tuple(name for name in _STRONGEST_FIRST if getattr(self, name) != getattr(_NOTHING, name))

    def but(self, name: Filter) -> "Wanted":
        """The same without one filter."""
        return replace(self, **{name: getattr(_NOTHING, name)})

    def limits(self) -> SearchFilter:
        """The filters that the index itself can apply."""
        return SearchFilter(
            department=(self.department,) if self.department else None,
            author=(self.author,) if self.author else None,
            language=(self.language,) if self.language else None,
            upload_date=self.days if any(self.days) else None,
        )

    def fits(self, row: Chunk) -> bool:
        """Whether a document is like this."""
        return all(self.meets(name, row) for name in self.filters)

    def meets(self, name: Filter, row: Chunk) -> bool:
        """Whether a document meets one of the filters."""
        entry = row.document or DocumentEntry(filename=row.filename)
        match name:
            case "kind":
                return is_of_kind(row, self.kind)
            case "days":
                first, last = self.days
                return bool(entry.upload_date) and first <= entry.upload_date[:10] <= (last or "9999")
            case "pages":
                least, most = self.pages
                return bool(entry.page_count) and least <= entry.page_count <= (most or entry.page_count)
            case "subject":
                return set(self.subject) <= words_about(row)
            case _:
                return folded(getattr(entry, name)) == folded(getattr(self, name))


_NOTHING = Wanted()


def may_list(question: str, today: date) -> bool:
    """Whether a question may ask for a list, also without a verb: "reports of Finance since May"."""
    return _read(question, today) is not None


class _Read(NamedTuple):
    """What a question says of a list that no document is needed for, and what is left of it."""

    left: "_Left"
    days: tuple[str, str]
    pages: tuple[int, int]
    order: "_Order"
    is_spoken: bool


def _read(question: str, today: date) -> _Read | None:
    text = " ".join(question.split())
    left = _Left(text)
    if not is_short(question):
        return None
    period = period_of(left.text, today)
    if period:
        left.understood("days", period.start, period.end)
    order = _order(left)
    if _NO_LIST.search(text) and not order.said:
        return None
    pages = _pages(left)
    days = (period.first, period.last) if period else ("", "")
    is_spoken = bool(_LISTS.search(text))
    is_brief = len(text.split()) <= _MOST_WORDS and "?" not in text
    outside = left.text[: subject.start()] if (subject := _SUBJECT.search(left.text)) else left.text
    others = [word for word in re.findall(r"[\w-]+", outside) if word.islower() and not _is_said(word)]
    if len(others) > _MOST_OTHERS or not (is_spoken or (is_brief and (_LIMITED.search(text) or any(pages)))):
        return None
    return _Read(left, days, pages, order, is_spoken)


def wanted_of(question: str, rows: Sequence[Chunk], nouns: Nouns, today: date) -> Wanted | None:
    """The list that a question asks for; ``None`` if it asks for something else.

    A department or an author that no document has stays as the question says it, so that nothing meets it.
    """
    read = _read(question, today)
    if not read:
        return None
    left, days, pages, order, is_spoken = read
    tokens = [*re.finditer(r"[\w&-]*\w", left.text)]
    noun = nouns.find([each[0] for each in tokens])
    if not noun:
        return None
    is_one = not (noun.is_plural or tokens[noun.end - 1][0].endswith(("s", "Artikel")))
    if is_one and not (order.said or _THERE_IS.search(left.text)):
        return None
    left.understood(
        "kind" if noun.kind else None, tokens[noun.start].start(), tokens[noun.end - 1].end(), leaving=" ; "
    )
    wanted = Wanted(
        kind=noun.kind,
        department=_department(left, rows),
        author=_author(left, rows),
        language=_language(left),
        days=days,
        pages=pages,
        sort=order.sort,
        descending=order.descending,
        limit=order.limit or int(is_one and order.said),
    )
    subject = _subject(left, noun, rows)
    is_limited = order.said or any(name != "kind" for name in wanted.filters)
    if subject is None or not (is_spoken or is_limited):
        return None
    if subject:
        left.said["subject"] = " ".join(dict.fromkeys(subject.values()))
    return replace(wanted, subject=tuple(subject), said=left.said)


class _Left:
    """What is left of a question when what is understood is cut out. ``said`` are the words for each filter."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.said: dict[Filter, str] = {}

    def understood(self, name: Filter | None, start: int, end: int, leaving: str = " , ") -> str:
        cut = self.text[start:end].strip(" ,")
        self.text = f"{self.text[:start]}{leaving}{self.text[end:]}"
        if name:
            self.said[name] = cut
        return cut


class _Order(NamedTuple):
    sort: DocumentSort = "upload_date"
    descending: bool = True
    limit: int = 0
    said: bool = False


def _order(left: _Left) -> _Order:
    for pattern, sort, descending in _ORDERS:
        if found := pattern.search(left.text):
            limit = number_of((found["limit"] or "").strip()) or 0
            left.understood(None, found.start() if limit else max(found.start(), found.end("limit")), found.end())
            return _Order(sort, descending, limit, True)
    return _Order()


def _pages(left: _Left) -> tuple[int, int]:
    for pattern, least, most in _PAGES:
        if (found := pattern.search(left.text)) and (number := number_of(found["count"])):
            left.understood("pages", *found.span())
            return least(number), most(number)
    return 0, 0


def _language(left: _Left) -> str:
    for match in re.finditer(r"\w+", left.text):
        if code := language_named(match[0]):
            left.understood("language", *match.span())
            return code
    return ""


def _subject(left: _Left, noun: Noun, rows: Sequence[Chunk]) -> dict[str, str] | None:
    """Return the words that documents must have, as they are compared and said; ``None`` if a word is not understood.

    Beside the noun stand words of names, beside a noun for any document only proper ones: "X200 documents".
    """
    about = _SUBJECT.search(left.text)
    spoken = re.findall(r"[\w-]+", left.understood(None, *about.span("subject"))) if about else []
    if about:
        left.understood(None, about.start(), about.start("subject"))
    before, _, after = left.text.partition(";")
    title_words = {word for row in rows for word in words(f"{row.title} {row.filename}")}
    beside = _unsaid([noun.prefix, *re.findall(r"[\w-]+", before)])
    if _unsaid(re.findall(r"[\w-]+", after)) or not all(
        set(words(word)) & title_words and (noun.kind or not word.islower()) for word in beside
    ):
        return None
    return {stem: word for word in (*beside, *_unsaid(spoken)) for stem in words(word)}


def _is_said(word: str) -> bool:
    return word in _SAID or is_determiner(word)


def _unsaid(several: Iterable[str]) -> list[str]:
    return [word for word in several if word and not _is_said(word.lower())]


def values_of(name: str, rows: Iterable[Chunk]) -> tuple[str, ...]:
    """The values that documents have of a fact, each once, sorted."""
    values = {folded(value): value for row in rows if row.document and (value := getattr(row.document, name, ""))}
    return tuple(values[key] for key in sorted(values))


def _department(left: _Left, rows: Sequence[Chunk]) -> str:
    """Return the department that is meant, and cut out the words that say so."""
    departments = sorted(values_of("department", rows), key=len, reverse=True)
    if match := _DEPARTMENT.search(left.text):
        asked = match["name"] or match["after"] or match["german"]
        left.understood("department", *match.span())
        return next((name for name in departments if asked.casefold() in _called(name)), asked)
    outside = left.text[: about.start("subject")] if (about := _about(left)) else left.text
    for name in departments:
        called = "|".join(map(re.escape, _called(name)))
        match = re.search(rf"(?<![\w-])(?:{called})(?:['’]s)?(?![\w-])", outside, re.IGNORECASE)
        if match and match[0] not in AROUND:  # "it" is no department, IT is
            left.understood("department", *match.span())
            return name
    return ""


def _about(left: _Left) -> re.Match[str] | None:
    """Return what a subject is said by, unless a department may be: "documents for Finance"."""
    match = _SUBJECT.search(left.text)
    return None if match and match[0].lower().startswith(("for", "für", "zu")) else match


def _called(department: str) -> Sequence[str]:
    """Return what a department is called, also in the other language."""
    own = department.casefold()
    return next((names for names in _DEPARTMENTS if own in names), [own])


def _author(left: _Left, rows: Sequence[Chunk]) -> str:
    """Return the author that is meant, and cut out the name; last names do if only one author bears them."""
    authors = values_of("author", rows)
    for name in sorted(authors, key=len, reverse=True):
        if found := re.search(rf"(?<!\w){re.escape(name)}(?!\w)", left.text, re.IGNORECASE):
            left.understood("author", *found.span())
            return name
    if found := _AUTHOR.search(left.text):
        asked = found["name"] or found["did"]
        bearing = [name for name in authors if folded(asked) in folded(name).split()]
        if len(bearing) == 1 or found["wrote"] or " " in asked:
            left.understood("author", *found.span("name" if found["name"] else "did"))
            return bearing[0] if len(bearing) == 1 else asked
    return ""
