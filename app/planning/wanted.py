"""What a question says that documents must be like: kind, department, author, language, days, pages, subject, order."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from difflib import get_close_matches
from types import MappingProxyType
from typing import Literal

from app.grounding.words import words
from app.planning.dates import period_of
from app.planning.references import Reference
from app.planning.vocabulary import GENERIC, RELATED, SUFFIXES, kind_of_noun, same_department
from kb_pipeline.records import Chunk, DocumentEntry, DocumentSort
from kb_pipeline.search.base import SearchFilter, folded

Filter = Literal["kind", "department", "author", "language", "days", "pages", "subject"]
"""What documents can be limited by; the last of those that are set is the weakest."""

_LANGUAGES = MappingProxyType(
    {
        **dict.fromkeys(("english", "englisch", "englische", "englischen"), "en"),
        **dict.fromkeys(("german", "deutsch", "deutsche", "deutschen"), "de"),
        **dict.fromkeys(("french", "französisch", "französische", "französischen"), "fr"),
        **dict.fromkeys(("spanish", "spanisch", "spanische", "spanischen"), "es"),
        **dict.fromkeys(("italian", "italienisch", "italienische", "italienischen"), "it"),
    }
)
_NAME = r"[A-ZÄÖÜ][\w'’.-]+(?:\s+[A-ZÄÖÜ][\w'’-]+){0,2}"
_DEPARTMENT = re.compile(
    r"\b(?:the\s+)?(?P<before>[\w&-]+)\s+(?:department|dept|team)\b|\b(?:department|abteilung"
    r"|bereich)\s+(?P<after>[\w&-]+)"
    r"|\b(?:der|die)\s+(?P<german>[\w-]+abteilung)\b",
    re.IGNORECASE,
)
_AUTHOR = re.compile(
    rf"\b(?i:(?:written|authored|created|made|published|drafted|prepared)\s+by|by|from|von|author\s+is"
    rf"|autor(?:in)?\s+ist)\s+(?P<by>{_NAME})"
    rf"|\b(?i:did|has|have|hat)\s+(?P<did>{_NAME})\s+(?i:write|written|author(?:ed)?|create[d]?|publish(?:ed)?|make"
    rf"|made|geschrieben|verfasst|erstellt)\b"
    rf"|(?P<wrote>{_NAME})\s+(?i:wrote|authored|created|published|made|schrieb)\b"
)
_WROTE = re.compile(r"\b(?:written|authored|wr[oi]te|author|geschrieben|verfasst|autor)\b", re.IGNORECASE)
_COUNT = r"(?P<count>\d{1,4}|ten|twenty|fifty|hundred|zehn|zwanzig|fünfzig|hundert)"
_COUNTS = MappingProxyType(
    {"ten": 10, "zehn": 10, "twenty": 20, "zwanzig": 20, "fifty": 50, "fünfzig": 50, "hundred": 100, "hundert": 100}
)
_MORE_PAGES = re.compile(
    rf"\b(?:longer|more|over|mehr|länger)\s+(?:than\s+|als\s+)?{_COUNT}\s+(?:pages|seiten)\b", re.IGNORECASE
)
_LEAST_PAGES = re.compile(rf"\b(?:at\s+least|mindestens)\s+{_COUNT}\s+(?:pages|seiten)\b", re.IGNORECASE)
_FEWER_PAGES = re.compile(
    rf"\b(?:shorter|fewer|less|under|weniger|kürzer|unter)\s+(?:than\s+|als\s+)?{_COUNT}\s+(?:pages|seiten)\b",
    re.IGNORECASE,
)
_FIRST = re.compile(
    r"\b(?:(?:the\s+|die\s+)?(?P<number>\d{1,2}|two|three|four|five|six|seven|eight|nine|ten|zwei|drei|vier|fünf"
    r"|sechs|sieben|acht|neun|zehn)\s+"
    r"(?:newest|latest|most\s+recent|oldest|longest|shortest|neuesten|aktuellsten|ältesten|längsten)"
    r"|(?:newest|latest|most\s+recent|last|oldest|neuesten|letzten)\s+(?P<number2>\d{1,2}|two|three|four|five|six"
    r"|seven|eight|nine|ten|zwei|drei|vier|fünf)\s+(?!days|weeks|months|years|tage|wochen|monate|jahre))",
    re.IGNORECASE,
)
_NUMBERS = MappingProxyType(
    {
        word: number
        for number, names in enumerate(
            "two zwei,three drei,four vier,five fünf,six sechs,seven sieben,eight acht,nine neun,ten zehn".split(","), 2
        )
        for word in names.split()
    }
)
_ORDER_WORDINGS: tuple[tuple[str, DocumentSort, bool], ...] = (
    (r"\b(?:oldest|earliest|älteste[nrs]?)\b", "upload_date", False),
    (
        r"\b(?:newest|latest|most\s+recent|recent(?:ly)?|neueste[nrs]?|aktuellste[nrs]?|zuletzt)\b",
        "upload_date",
        True,
    ),
    (
        r"\b(?:longest|most\s+pages|längste[nrs]?|by\s+(?:length|pages|page\s+count)|nach\s+seiten\w*)\b",
        "page_count",
        True,
    ),
    (r"\b(?:shortest|fewest\s+pages|kürzeste[nrs]?)\b", "page_count", False),
    (r"\b(?:by\s+(?:title|name)|alphabetical(?:ly)?|alphabetisch|nach\s+(?:titel|name))\b", "title", False),
    (r"\b(?:by\s+department|nach\s+abteilung)\b", "department", False),
    (r"\b(?:by\s+author|nach\s+autor)\b", "author", False),
    (r"\b(?:by\s+type|nach\s+typ)\b", "document_type", False),
    (r"\b(?:by\s+date|nach\s+datum)\b", "upload_date", True),
)
_ORDERS = tuple((re.compile(wording, re.IGNORECASE), sort, descending) for wording, sort, descending in _ORDER_WORDINGS)
_SUBJECT = re.compile(
    r"\b(?:about|on|regarding|concerning|cover(?:ing|s)?|deal(?:ing|s)?\s+with|mention(?:ing|s)?|discuss(?:ing|es)?"
    r"|for|related\s+to|über|zu|zum|zur|zum\s+thema"
    r"|rund\s+um|behandeln|handeln\s+von)\s+(?P<subject>[^?,;]+)",
    re.IGNORECASE,
)
_NO_SUBJECT = frozenset(
    words(
        "document documents list overview newest latest first order sorted sort all available knowledge base"
        " department team upload uploaded written publish"
        " published added created have has had do does there show give find me us file files recent recently oldest"
        " longest shortest page pages long longer"
        " shorter than many number title date author type name came come in exist gibt es haben liste zeig alle"
        " seiten abteilung hochgeladen geschrieben"
        " veröffentlicht erstellt neueste neuesten älteste wurden stammen welche viele wie zuletzt descending"
        " ascending one own owns belong belongs wrote write"
        " receive received issue issued need want look search get display our company you we they work from by since"
        " until before after between contain"
    )
)
_LEAST_ALIKE = 0.75


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
        return tuple(name for name in _STRONGEST_FIRST if any(_values(getattr(self, name))))

    def but(self, name: Filter) -> "Wanted":
        """The same without one filter."""
        return replace(self, **{name: getattr(Wanted(), name)})

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


_STRONGEST_FIRST: tuple[Filter, ...] = ("kind", "department", "author", "language", "days", "pages", "subject")


def wanted_of(text: str, reference: Reference, rows: Sequence[Chunk], today: date) -> Wanted:
    """What a question wants documents to be like, in the values that the documents have.

    A department, an author or a type that no document has stays as the question says it, so that nothing meets it.
    """
    said: dict[Filter, str] = {}
    left = text
    period = period_of(text, today)
    if period:
        said["days"] = text[period.start : period.end].strip()
        left = f"{text[: period.start]} , {text[period.end :]}"
    kind = "" if reference.noun in GENERIC else reference.noun
    if kind:
        said["kind"] = reference.name.split()[-1] if not reference.about else _noun_in(reference.name)
    department, words_said = _department(left, rows)
    if department:
        said["department"] = words_said
        left = _cut(left, words_said)
    author, words_said = _author(left, rows)
    if author:
        said["author"] = words_said
        left = _cut(left, words_said)
    language = next((_LANGUAGES[word] for word in re.findall(r"\w+", left.lower()) if word in _LANGUAGES), "")
    if language:
        said["language"] = language
    pages = _pages(left)
    if any(pages):
        patterns = (_MORE_PAGES, _LEAST_PAGES, _FEWER_PAGES)
        said["pages"] = next(found[0] for pattern in patterns if (found := pattern.search(left)))
        for pattern in patterns:
            left = pattern.sub(" ", left)
    sort, descending = next(
        ((sort, descending) for wording, sort, descending in _ORDERS if wording.search(text)), ("upload_date", True)
    )
    number = _FIRST.search(text)
    asked = (number["number"] or number["number2"]).lower() if number else ""
    subject = _subject(left, reference, f"{said.get('department', '')} {said.get('author', '')}")
    if subject:
        said["subject"] = " ".join(subject.values())
    return Wanted(
        kind=kind,
        department=department,
        author=author,
        language=language,
        days=(period.first, period.last) if period else ("", ""),
        pages=pages,
        subject=tuple(subject),
        said=said,
        sort=sort,
        descending=descending,
        limit=(_NUMBERS.get(asked) or int(asked)) if asked else 0,
    )


def is_of_kind(row: Chunk, kind: str) -> bool:
    """Whether a document is of a kind: by its type, else by title and file name, or by the ending of its file."""
    entry = row.document or DocumentEntry(filename=row.filename)
    if kind in GENERIC or not kind:
        return True
    if entry.filename.lower().endswith(SUFFIXES.get(kind, ())):
        return True
    named = entry.document_type or f"{row.title} {_words_of_file(entry.filename)}"
    kinds = {kind_of_noun(word) for word in re.findall(r"[\w-]+", named)} | {kind_of_noun(named)}
    return kind in kinds


def related_kind(kind: str, rows: Iterable[Chunk]) -> str:
    """Another kind that may be meant, of which there are documents; "" if there is none."""
    return next((other for other in RELATED.get(kind, ()) if any(is_of_kind(row, other) for row in rows)), "")


def respelt(wanted: Wanted, rows: Sequence[Chunk]) -> Wanted:
    """The same with department and author in the spelling of the documents, if one is close enough."""
    department = _nearest(wanted.department, values_of("department", rows))
    return replace(wanted, department=department, author=_nearest(wanted.author, values_of("author", rows)))


def _nearest(asked: str, known: Iterable[str]) -> str:
    by_folded = {folded(value): value for value in known}
    near = get_close_matches(folded(asked), by_folded, 1, _LEAST_ALIKE)
    return by_folded[near[0]] if near else asked


def values_of(name: str, rows: Iterable[Chunk]) -> tuple[str, ...]:
    """The values that documents have of a fact, each once, sorted."""
    values = {folded(value): value for row in rows if row.document and (value := getattr(row.document, name, ""))}
    return tuple(values[key] for key in sorted(values))


def words_about(row: Chunk) -> frozenset[str]:
    """The words by which a document can be found: title, file name, type, headings and brief summary."""
    entry = row.document or DocumentEntry(filename=row.filename)
    headings = " ".join(heading.text for heading in entry.headings)
    return frozenset(
        words(
            f"{row.title} {_words_of_file(entry.filename)} {entry.document_type} {headings} {entry.summary.brief_text}"
        )
    ) | frozenset(words(" ".join(row.key_topics)))


def _words_of_file(filename: str) -> str:
    return re.sub(r"[\W_]+", " ", filename.rpartition(".")[0])


def _noun_in(name: str) -> str:
    return next((word for word in name.split() if kind_of_noun(word)), name)


def _department(text: str, rows: Sequence[Chunk]) -> tuple[str, str]:
    """Return the department that is meant, and the words that say so."""
    known = values_of("department", rows)
    explicit = _DEPARTMENT.search(text)
    if explicit:
        asked = explicit["before"] or explicit["after"] or explicit["german"]
        words_said = re.sub(r"^(?:the|der|die)\s+", "", explicit[0], flags=re.IGNORECASE)
        return next((name for name in known if same_department(asked, name)), asked), words_said
    subject = _SUBJECT.search(text)
    outside = (
        text[: subject.start("subject")]
        if subject and subject[0].lower().startswith(("about", "on ", "über", "zu"))
        else text
    )
    for name in sorted(known, key=len, reverse=True):
        if found := re.search(rf"(?<!\w){re.escape(name)}(?!\w)", outside, re.IGNORECASE):
            return name, found[0]
    for word in re.findall(r"[\w-]+", outside):
        for name in known:
            if same_department(word, name):
                return name, word
    return "", ""


def _author(text: str, rows: Sequence[Chunk]) -> tuple[str, str]:
    """Return the author that is meant, and the words that say so; last names do if only one author bears them."""
    known = values_of("author", rows)
    for name in sorted(known, key=len, reverse=True):
        if found := re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE):
            return name, found[0]
    if found := _AUTHOR.search(text):
        asked = found["by"] or found["did"] or found["wrote"]
        bearing = [name for name in known if folded(asked) in folded(name).split()]
        if len(bearing) == 1:
            return bearing[0], asked
        if _WROTE.search(text) or " " in asked:
            return asked, asked
    return "", ""


def _pages(text: str) -> tuple[int, int]:
    if more := _MORE_PAGES.search(text):
        return _number(more) + 1, 0
    if least := _LEAST_PAGES.search(text):
        return _number(least), 0
    if fewer := _FEWER_PAGES.search(text):
        return 1, max(1, _number(fewer) - 1)
    return 0, 0


def _number(found: re.Match[str]) -> int:
    word = found["count"].lower()
    return _COUNTS[word] if word in _COUNTS else int(word)


def _subject(text: str, reference: Reference, said_otherwise: str) -> dict[str, str]:
    """Return the words that a document must have, as they are compared, and as they are said."""
    said = _SUBJECT.search(text)
    pieces = re.sub(r"['’]s\b", "", f"{reference.qualifiers} {said['subject'] if said else ''}")
    used = set(words(said_otherwise))
    subject: dict[str, str] = {}
    for word in re.findall(r"[\w-]+", pieces):
        for stem in words(word):
            is_order = any(wording.search(word) for wording, _, _ in _ORDERS)
            if (
                stem not in _NO_SUBJECT
                and stem not in used
                and word.lower() not in _LANGUAGES
                and not kind_of_noun(word)
                and not is_order
            ):
                subject.setdefault(stem, word)
    return subject


def _cut(text: str, piece: str) -> str:
    return re.sub(rf"{re.escape(piece)}(?:['’]s\b)?", " ", text, flags=re.IGNORECASE)


def _values(value: object) -> tuple[object, ...]:
    return tuple(value) if isinstance(value, tuple) else (value,)
