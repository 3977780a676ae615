"""What the sentences and the rows of tables of an article state: their words, their values and names, what is around.

Pure. Code and descriptions of images state nothing here, and neither do questions and examples.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from babel import Locale
from phonenumbers import PhoneNumberFormat, PhoneNumberMatcher, format_number

from kb_pipeline.languages import ENGLISH, NAMES, language_of, stem, stop_words
from kb_pipeline.records import Chunk, Record, sections
from kb_pipeline.steps.agreement.rows import rows_of
from kb_pipeline.steps.summary.prose import Sentence, sentences
from kb_pipeline.steps.values.calendar import LANGUAGES
from kb_pipeline.steps.values.reading import Value, values_of

STATEMENTS_VERSION = "3"
"""Raise it with every change of what is read or how it is compared: all articles are then read and compared again."""

Bound = Literal["", "least", "most"]

_FEWEST_WORDS, _MOST_WORDS = 2, 40
"""Words beside its values: with fewer a sentence says nothing without its place, with more it says several things."""
_NEAR = 2
"""Words before and after a value that say what it is a value of."""
_NOUNS_ARE_NAMES = frozenset({"de"})
"""Languages that write all nouns with a capital letter: there, only several such words side by side are a name."""
_TOKEN = re.compile(r"\w+(?:['’.+-]\w+)*")
_CODE = re.compile(r"\d|_|\w\.\w")
_QUOTED = re.compile(r"[\"“„«][^\"“”„«»]{1,60}[\"”“»]")
_EXAMPLE = re.compile(
    r"\b(?:e\.g|z\. ?b|p\. ?ex|p\. ?ej)\."
    r"|(?<![\w.@/-])(?:examples?|instance|beispiel\w*|exemples?|ejemplos?)(?!\.?[\w@-])",
    re.IGNORECASE,
)
_IMAGE = re.compile(r"^> \*\*\[Image: .*(?:\n>.*)*", re.MULTILINE)
_SECTION_NUMBER = re.compile(r"^[\d.]+\.?\s+")
_ADDRESS = re.compile(
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"  # of mail
    r"|(?:\w+://)?[a-z0-9-]+(?:\.[a-z0-9-]+)+\.[a-z]{2,}(?!\w)(?:/[\w./~%-]*)?"  # of a host or a page
    r"|(?<![\w.:/<>*?])/(?:[\w.-]+/)+[\w.-]+"  # of a file
    r"|\b(?:(?:ctrl|strg|control|alt|shift|cmd|command|super|windows|option)\s?[+-]\s?)+\w+\b",  # of a command
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_TO = re.compile(r"\s?(?:to|and|until|till|by|through|bis|und|mal|à|et|a|y|hasta|[-–x×])\s", re.IGNORECASE)
"""Between the two values of a range or a size: "8:00 to 18:00", "400 by 400"."""
_RANGED = frozenset({"number", "time", "date"})
_BOUND_WORDS: tuple[tuple[str, Bound], ...] = (
    (r"at least|not? less than|minimum|minimal\w*|mindestens|au moins|al menos", "least"),
    (r"at most|up to|not? more than|maximum|maximal\w*|höchstens|bis zu|au plus|como máximo", "most"),
)
_BOUNDS: tuple[tuple[re.Pattern[str], Bound], ...] = tuple(
    (re.compile(rf"\b(?:{words})\b", re.IGNORECASE), bound) for words, bound in _BOUND_WORDS
)
_MARK = re.compile(r"[,;–—()]\s")
"""Ends a clause."""
_SHORTENED = re.compile(r"\b[^\W\d_a-z]\w{0,3}\.$")
"""A title before a name: "Prof. Miller"."""
_BOUND_WITHIN = 40
"""Characters before a value in which a bound of it stands."""


class Fact(Record):
    """A value of a statement: a number with its unit, a date, a time, an address, or a name.

    ``readings`` are all that it can mean, with their dimension before them; of a name, its stems. ``before`` and
    ``after`` are the stems beside it, ``clause`` those of its clause. ``bound``: it is the least or the most that
    there can be.
    """

    kind: str
    text: str
    readings: frozenset[str]
    before: frozenset[str]
    after: frozenset[str]
    clause: frozenset[str] = frozenset()
    bound: Bound = ""

    def is_beside_the_same(self, other: "Fact") -> bool:
        """Whether a word stands beside both."""
        return bool((self.before | self.after) & (other.before | other.after))

    def equals(self, other: "Fact") -> bool:
        """Whether both can mean the same; a month is equal to each of its days."""
        if self.readings & other.readings:
            return True
        return self.kind == other.kind == "date" and any(
            _is_same_day(one, another) for one in self.readings for another in other.readings
        )

    @property
    def dimensions(self) -> frozenset[str]:
        """What it is measured in: "number", "duration", "date" ..."""
        return frozenset(reading.partition(" ")[0] for reading in self.readings)


class ArticleStatement(Record):
    """A sentence or a row that states a value or a name. ``words`` are the stems of what it says beside its values.

    ``title`` and ``around`` are the stems of the article's title, and of that, the headings above and the sentence
    before it. ``subject`` are those of what a row is about.
    """

    chunk_id: str
    text: str
    words: tuple[str, ...]
    facts: tuple[Fact, ...]
    names: tuple[Fact, ...]
    title: frozenset[str]
    around: frozenset[str]
    subject: frozenset[str] = frozenset()


def is_code(word: str) -> bool:
    """Whether a word names one of many that are alike: ``x200``, ``max_size``, ``2.1.3``."""
    return _CODE.search(word) is not None


def statements_of(chunks: Sequence[Chunk]) -> list[ArticleStatement]:
    """The statements of the sections of an article, in order, each once."""
    texts = [(chunk, _IMAGE.sub("", chunk.content)) for chunk in sections(chunks)]
    language = language_of(" ".join(text for _, text in texts), NAMES) or ENGLISH
    found: dict[tuple[str, tuple[str, ...]], ArticleStatement] = {}
    for chunk, text in texts:
        title = frozenset(_stems_of(chunk.title, language))
        above = title | {each for heading in chunk.heading_path for each in _stems_of(heading, language)}
        place = _Place(chunk.id, language, title, frozenset(above))
        for statement in (*_of_sentences(text, place), *_of_rows(text, place)):
            found.setdefault((statement.text, statement.words), statement)
    return list(found.values())


class _Place(NamedTuple):
    """Where sentences and rows stand: the section, its language, and the stems of the title and of all above it."""

    chunk_id: str
    language: str
    title: frozenset[str]
    around: frozenset[str]

    def below(self, *texts: str) -> "_Place":
        """The place of what stands below headings or behind a sentence."""
        return self._replace(around=self.around | {each for text in texts for each in _stems_of(text, self.language)})


def _of_sentences(text: str, place: _Place) -> Iterator[ArticleStatement]:
    before: Sentence | None = None
    for sentence in sentences(text):
        if not (sentence.text.endswith("?") or _EXAMPLE.search(sentence.text)):
            here = place.below(sentence.section)
            if before and before.section == sentence.section and before.standing == sentence.standing:
                here = here.below(before.text)
                own = _statement(sentence.text, here)
                if not own and not _values(before.text, place.language):  # "Size of the queue. Default: 500"
                    own = _statement(f"{before.text} {sentence.text}", here)
            else:
                own = _statement(sentence.text, here)
            if own:
                yield own
        before = sentence


def _of_rows(text: str, place: _Place) -> Iterator[ArticleStatement]:
    for row in rows_of(text):
        subject = f"{row.subject} {row.column} "
        statement = _statement(subject + row.cell, place.below(row.section), said_from=len(subject))
        if statement and (statement.facts or not row.is_first):
            about = frozenset() if row.is_first else frozenset(_stems_of(row.subject, place.language))
            yield statement.model_copy(update={"text": row.text, "subject": about})


def _stems_of(text: str, language: str) -> Iterator[str]:
    for token in _TOKEN.findall(_SECTION_NUMBER.sub("", text)):
        if token.lower() not in stop_words(language):
            yield stem(token.lower(), language)


def _statement(text: str, place: _Place, *, said_from: int = 0) -> ArticleStatement | None:
    """The statement, or ``None`` if the sentence is too short or long, or states no value and no name.

    Values and names are looked for from ``said_from`` on.
    """
    language = place.language
    values = [value for value in _values(text, language) if value.start >= said_from]
    words: list[_Word] = []
    bounds = (match.span() for pattern, _ in _BOUNDS for match in pattern.finditer(text))
    taken = [*((value.start, value.end) for value in values), *bounds]
    quoted = [match.span() for match in _QUOTED.finditer(text)]
    stopped = stop_words(language)
    for token in _TOKEN.finditer(text):
        low = token[0].lower()
        if low in stopped or any(start <= token.start() < end for start, end in taken):
            continue
        in_quotes = any(start < token.start() < end for start, end in quoted)
        is_capital = token[0][0].isupper() and (said_from > 0 or not _begins_clause(text, token.start()))
        is_name = token.start() >= said_from and (in_quotes or is_capital)
        words.append(_Word(token.start(), token.end(), stem(low, language), is_name, in_quotes))
    if not _FEWEST_WORDS <= len(words) <= _MOST_WORDS:
        return None
    facts = tuple(_fact(value, text, words, language) for value in values)
    names = tuple(_names(text, words, language))
    if not facts and not names:
        return None
    return ArticleStatement(
        chunk_id=place.chunk_id,
        text=text,
        words=tuple(word.stem for word in words),
        facts=facts,
        names=names,
        title=place.title,
        around=place.around,
    )


class _Word(NamedTuple):
    """A word of a sentence that says something."""

    start: int
    end: int
    stem: str
    is_name: bool
    in_quotes: bool


class _Read(NamedTuple):
    """A value as it stands in a sentence."""

    kind: str
    start: int
    end: int
    readings: frozenset[str]


def _values(text: str, language: str) -> list[_Read]:
    """The values of a sentence that measure something, and addresses; not what numbers it: ``Figure 2``."""
    found = list(_addresses(text))
    spoken = (language,) if language in LANGUAGES else ()
    for value in values_of(text.rstrip(".…"), spoken):
        if value.kind == "code" or any(each.start < value.end and value.start < each.end for each in found):
            continue
        if _is_in_code(text, value):
            continue
        if _is_year(text, value, language):
            found.append(
                _Read("date", value.start, value.end, frozenset({f"date {text[value.start : value.end]} 0 0"}))
            )
            continue
        kind = "label" if _is_label(text, value, language) else value.kind
        found.append(_Read(kind, value.start, value.end, _readings(value)))
    return list(_with_ranges(text, sorted(found, key=lambda each: each.start)))


def _addresses(text: str) -> Iterator[_Read]:
    for match in _ADDRESS.finditer(text):
        said = match[0].rstrip(".-").casefold()
        yield _Read("address", match.start(), match.start() + len(said), frozenset({f"{_sort_of(said)} {said}"}))
    if "+" in text:
        for number in PhoneNumberMatcher(text, None):
            said = format_number(number.number, PhoneNumberFormat.E164)
            yield _Read("address", number.start, number.end, frozenset({f"phone {said}"}))


def _sort_of(address: str) -> str:
    return "mail" if "@" in address else "file" if address[0] == "/" else "keys" if "+" in address else "host"


def _with_ranges(text: str, values: Sequence[_Read]) -> Iterator[_Read]:
    """Two values of the same kind that a word joins are one."""
    last: _Read | None = None
    for value in values:
        if last and last.kind == value.kind in _RANGED and _TO.fullmatch(text[last.end : value.start]):
            readings = {f"range-{one} {other}" for one in last.readings for other in value.readings}
            last = _Read(value.kind, last.start, value.end, frozenset(readings))
            continue
        if last:
            yield last
        last = value
    if last:
        yield last


def _is_in_code(text: str, value: Value) -> bool:
    """Whether a number is part of a code: ``tune2fs(8)``, ``[10]``, ``SAFE=1``, ``32-bit``."""
    before, after = text[: value.start], text[value.end :]
    if value.kind != "number":
        return False
    return bool(before.endswith(("=", "[", "#", "§")) or re.search(r"\w\($", before) or re.match(r"-/?[^\W_]", after))


def _is_year(text: str, value: Value, language: str) -> bool:
    """Whether a number is a year: it counts nothing, and stands behind a word like "in"."""
    if not _YEAR.fullmatch(text[value.start : value.end]):
        return False
    before = re.search(r"(\w+)[ \u00a0]$", text[: value.start])
    after = re.match(r"\s(\w+)", text[value.end :])
    stopped = stop_words(language)
    return before is not None and before[1].lower() in stopped and (after is None or after[1].lower() in stopped)


def _is_label(text: str, value: Value, language: str) -> bool:
    """Whether a number belongs to the word before it, because it counts nothing: ``GIMP 2``, ``port 80``."""
    if value.kind != "number" or value.readings != value.bare:
        return False
    before = re.search(r"([^\W\d_]+)[ \u00a0]$", text[: value.start])
    after = re.match(r"\s?(\w+|%|°|\$|€|£)", text[value.end :])
    stopped = stop_words(language)
    if before is None or before[1].lower() in stopped:
        return False
    if after is None or after[1].lower() in stopped:
        return True
    is_name = before[1][0].isupper() and not _begins_clause(text, before.start())
    return is_name and language not in _NOUNS_ARE_NAMES


def _begins_clause(text: str, at: int) -> bool:
    """Whether a capital letter there says nothing, because a sentence or a clause begins."""
    before = text[:at].rstrip(" \"“„«'‘(>•*-")
    return not before or (before[-1] in ".:!?…" and not _SHORTENED.search(before))


def _readings(value: Value) -> frozenset[str]:
    return frozenset(" ".join(map(str, reading)) for reading in value.readings)


def _is_same_day(one: str, other: str) -> bool:
    """Whether two dates do not differ in year, month or day, as far as both name them."""
    kind, *parts = one.split()
    another, *others = other.split()
    return kind == another and all(a == b or "0" in (a, b) for a, b in zip(parts, others, strict=True))


def _fact(value: _Read, text: str, words: Sequence[_Word], language: str) -> Fact:
    before = [word.stem for word in words if word.end <= value.start][-(1 if value.kind == "label" else _NEAR) :]
    after = [word.stem for word in words if word.start >= value.end][:_NEAR]
    if currency := _currency(text, value):
        after = [stem(currency, language), *after]
    said = text[max(0, value.start - _BOUND_WITHIN) : value.start]
    bound: Bound = next((bound for pattern, bound in _BOUNDS if pattern.search(said)), "")
    return Fact(
        kind=value.kind,
        text=text[value.start : value.end],
        readings=value.readings,
        before=frozenset(before),
        after=frozenset(after),
        clause=frozenset(_clause(value, text, words)),
        bound=bound,
    )


def _clause(value: _Read, text: str, words: Sequence[_Word]) -> Iterator[str]:
    """The stems of the words between the marks before and after a value."""
    start = max((match.end() for match in _MARK.finditer(text, 0, value.start)), default=0)
    mark = _MARK.search(text, value.end)
    end = mark.start() if mark else len(text)
    return (word.stem for word in words if start <= word.start < end)


def _currency(text: str, value: _Read) -> str:
    """The name of the currency whose sign stands beside a number: "euro" of ``€9``."""
    beside = text[: value.start].rstrip()[-1:] + text[value.end :].lstrip()[:1]
    return next((name for sign, name in _currencies().items() if sign in beside), "")


@lru_cache(maxsize=1)
def _currencies() -> dict[str, str]:
    """The names of the currencies that have a sign of one character, by that, from CLDR."""
    english = Locale("en")
    return {
        str(sign): str(english.currencies[code]).split()[-1].lower()
        for code, sign in english.currency_symbols.items()
        if len(sign) == 1 and code in english.currencies
    }


def _names(text: str, words: Sequence[_Word], language: str) -> Iterator[Fact]:
    """The names in a sentence: words with a capital letter that stand side by side, or in the same quotes."""
    run: list[_Word] = []
    for word in (*words, None):
        if word and word.is_name and (not run or not text[run[-1].end : word.start].strip(" .-\u00a0")):
            run.append(word)
            continue
        is_name = len(run) > 1 or (run and run[0].in_quotes) or language not in _NOUNS_ARE_NAMES
        if run and is_name and not re.match(r"\s?\d", text[run[-1].end :]):  # "Section 3" numbers something
            kind = "quoted" if run[0].in_quotes else "name"
            stems = frozenset(each.stem for each in run)
            yield _fact(_Read(kind, run[0].start, run[-1].end, stems), text, words, language)
        run = [word] if word and word.is_name else []
