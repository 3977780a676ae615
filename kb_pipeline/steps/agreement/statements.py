"""What the sentences of an article state: their words, the values and names among these, and the headings above them.

Pure. Tables, code and descriptions of images state nothing here, and neither do questions and examples.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kb_pipeline.languages import ENGLISH, NAMES, language_of, stem, stop_words
from kb_pipeline.records import Chunk, Record, sections
from kb_pipeline.steps.summary.prose import sentences
from kb_pipeline.steps.values.calendar import LANGUAGES
from kb_pipeline.steps.values.reading import Value, values_of

STATEMENTS_VERSION = "1"
"""Raise it with every change of what is read or how it is compared: all articles are then read and compared again."""

_FEWEST_WORDS, _MOST_WORDS = 3, 40
"""Words beside its values: with fewer a sentence says nothing without its place, with more it says several things."""
_NEAR = 2
"""Words before and after a value that say what it is a value of."""
_TOKEN = re.compile(r"\w+(?:['’.+-]\w+)*")
_CODE = re.compile(r"\d|_|\w\.\w")
_QUOTED = re.compile(r"[\"“„«][^\"“”„«»]{1,60}[\"”“»]")
_EXAMPLE = re.compile(
    r"\b(?:e\.g|z\. ?b|p\. ?ex|p\. ?ej)\.|\b(?:examples?|instance|beispiel\w*|exemples?|ejemplos?)\b", re.IGNORECASE
)
_IMAGE = re.compile(r"^> \*\*\[Image: .*(?:\n>.*)*", re.MULTILINE)
_SECTION_NUMBER = re.compile(r"^[\d.]+\.?\s+")


class Fact(Record):
    """A value of a statement: a number with its unit, a date, a time, or a name.

    ``readings`` are all that it can mean, with their dimension before them; of a name, its stems. ``before`` and
    ``after`` are the stems beside it. Facts with a common reading are equal.
    """

    kind: str
    text: str
    readings: frozenset[str]
    before: frozenset[str]
    after: frozenset[str]

    def is_beside_the_same(self, other: "Fact") -> bool:
        """Whether a word stands beside both."""
        return bool(self.before & other.before or self.after & other.after)

    @property
    def dimensions(self) -> frozenset[str]:
        """What it is measured in: "number", "duration", "date" ..."""
        return frozenset(reading.partition(" ")[0] for reading in self.readings)


class Statement(Record):
    """A sentence that states a value or a name. ``words`` are the stems of what it says beside its values.

    ``title`` and ``around`` are the stems of the article's title, and of that and the headings above the sentence.
    """

    chunk_id: str
    text: str
    words: tuple[str, ...]
    facts: tuple[Fact, ...]
    names: tuple[Fact, ...]
    title: frozenset[str]
    around: frozenset[str]


def is_code(word: str) -> bool:
    """Whether a word names one of many that are alike: ``x200``, ``max_size``, ``2.1.3``."""
    return _CODE.search(word) is not None


def statements_of(chunks: Sequence[Chunk]) -> list[Statement]:
    """The statements of the sections of an article, in order, each once."""
    texts = [(chunk, _IMAGE.sub("", chunk.content)) for chunk in sections(chunks)]
    language = language_of(" ".join(text for _, text in texts), NAMES) or ENGLISH
    found: dict[str, Statement] = {}
    for chunk, text in texts:
        title = frozenset(_stems_of_heading(chunk.title, language))
        above = frozenset(each for heading in chunk.heading_path for each in _stems_of_heading(heading, language))
        for sentence in sentences(text):
            if sentence.standing == "label" or sentence.text.endswith("?") or _EXAMPLE.search(sentence.text):
                continue
            around = title | above | frozenset(_stems_of_heading(sentence.section, language))
            statement = _statement(chunk.id, sentence.text, language, title, around)
            if statement and statement.text not in found:
                found[statement.text] = statement
    return list(found.values())


def _stems_of_heading(heading: str, language: str) -> Iterator[str]:
    for token in _TOKEN.findall(_SECTION_NUMBER.sub("", heading)):
        if token.lower() not in stop_words(language):
            yield stem(token.lower(), language)


def _statement(
    chunk_id: str, text: str, language: str, title: frozenset[str], around: frozenset[str]
) -> Statement | None:
    """The statement, or ``None`` if the sentence is too short or long, or states no value and no name."""
    values = _values(text, language)
    words: list[_Word] = []
    quoted = [match.span() for match in _QUOTED.finditer(text)]
    stopped = stop_words(language)
    for token in _TOKEN.finditer(text):
        low = token[0].lower()
        if low in stopped or any(value.start <= token.start() < value.end for value in values):
            continue
        in_quotes = any(start < token.start() < end for start, end in quoted)
        is_name = in_quotes or (token[0][0].isupper() and not _begins_clause(text, token.start()))
        words.append(_Word(token.start(), token.end(), stem(low, language), is_name, in_quotes))
    if not _FEWEST_WORDS <= len(words) <= _MOST_WORDS:
        return None
    facts = tuple(
        _fact(value.kind, text[value.start : value.end], _readings(value), value.start, value.end, words)
        for value in values
    )
    names = tuple(_names(text, words))
    if not facts and not names:
        return None
    return Statement(
        chunk_id=chunk_id,
        text=text,
        words=tuple(word.stem for word in words),
        facts=facts,
        names=names,
        title=title,
        around=around,
    )


class _Word(NamedTuple):
    """A word of a sentence that says something."""

    start: int
    end: int
    stem: str
    is_name: bool
    in_quotes: bool


def _values(text: str, language: str) -> list[Value]:
    """The values of a sentence that measure something; not those that number or name it, such as ``Figure 2``."""
    spoken = (language,) if language in LANGUAGES else ()
    read = values_of(text.rstrip(".…"), spoken)
    return [value for value in read if value.kind != "code" and not _is_label(text, value)]


def _is_label(text: str, value: Value) -> bool:
    """Whether a number belongs to the word before it: ``GIMP 2``, ``tune2fs(8)``, ``[10]``, ``SAFE=1``."""
    if value.kind != "number":
        return False
    before, after = text[: value.start], text[value.end :]
    if before.endswith(("=", "[", "#", "§")) or re.search(r"\w\($", before):
        return True
    word = re.search(r"(\w+)[ \u00a0]$", before)
    if word is None or not word[1][0].isupper():
        return False
    return not _begins_clause(text, word.start()) or not re.match(r"\s\w", after)


def _begins_clause(text: str, at: int) -> bool:
    """Whether a capital letter there says nothing, because a sentence or a clause begins."""
    before = text[:at].rstrip(" \"“„«'‘(>•*-")
    return not before or before[-1] in ".:!?…"


def _readings(value: Value) -> frozenset[str]:
    return frozenset(" ".join(map(str, reading)) for reading in value.readings)


def _fact(kind: str, text: str, readings: frozenset[str], start: int, end: int, words: Sequence[_Word]) -> Fact:
    before = [word.stem for word in words if word.end <= start][-_NEAR:]
    after = [word.stem for word in words if word.start >= end][:_NEAR]
    return Fact(kind=kind, text=text, readings=readings, before=frozenset(before), after=frozenset(after))


def _names(text: str, words: Sequence[_Word]) -> Iterator[Fact]:
    """The names in a sentence: words with a capital letter that stand side by side, or in the same quotes."""
    run: list[_Word] = []
    for word in (*words, None):
        if word and word.is_name and (not run or not text[run[-1].end : word.start].strip(" -\u00a0")):
            run.append(word)
            continue
        if run and not re.match(r"\s?\d", text[run[-1].end :]):  # "Section 3" numbers something
            kind = "quoted" if run[0].in_quotes else "name"
            stems_ = frozenset(each.stem for each in run)
            yield _fact(kind, text[run[0].start : run[-1].end], stems_, run[0].start, run[-1].end, words)
        run = [word] if word and word.is_name else []
