"""What a pasted text says: the elements and alert types that it names, its times, and the alerts in it. Pure.

A text is a sentence, a line, a whole storm, a block of fields, or JSON as monitoring systems send it.
"""

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from unicodedata import normalize

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from app.network.alerts import Alert, meaning_of
from app.network.likelihood import SEVERITY
from kb_pipeline.network.scenario import Symptom
from kb_pipeline.network.tables import FIRST_YEAR, LAST_YEAR
from kb_pipeline.network.topology import Topology

NAMED = "named in the text"
"""In place of an alert type, where a text names an element and no type: somebody says that it has to do with it."""
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_SYSLOG_TIME = (
    rf"(?P<month>{'|'.join(_MONTHS)}) {{1,2}}(?P<day>\d{{1,2}})(?: (?P<year>\d{{4}}))? (?P<clock>\d\d:\d\d:\d\d)"
)
_TIME = re.compile(
    r"\b(?:\d{4}([-/])\d\d\1\d\d|\d\d\.\d\d\.\d{4})(?:[T ]|, )\d\d:\d\d(?::\d\d)?"
    r"(?:\.\d+|,\d{3}\b)?(?:Z|[+-]\d\d:?\d\d)?"
    rf"|\b{_SYSLOG_TIME}(?:\.\d+)?"
)
_DAY_FIRST = re.compile(r"(\d\d)\.(\d\d)\.(\d{4})")
_SYSLOG = re.compile(rf"[^\w<]{{0,2}}(?:<(?P<priority>\d{{1,3}})>(?:1 )?)?[^\w<]{{0,2}}(?:{_SYSLOG_TIME}(?:\.\d+)?)?")
_WORD = re.compile(r"[^\s,;|\"'<>()\[\]{}]+")
_DASH = re.compile(r"[\u2010-\u2013\u2212]")
"""Dashes that programs for letters and pages put in place of the one in a name."""
_START = re.compile(r"[A-Za-z]+[-_]")
_INSIDE = re.compile(r"[:=/.@#]")
"""What may join an element with something else in one word: ``host:port``, ``key=value``, ``host.domain``."""
_RUN = re.compile(r"(?<![A-Za-z\d\u00c0-\u024f])[A-Za-z\d]+(?:[-_][A-Za-z\d]+)*(?![A-Za-z\d\u00c0-\u024f])")
"""What may be a name within signs and letters of other scripts: Chinese and Thai put no space before or behind it,
Korean and Japanese none before an ending, and people put it in all kinds of quotation marks."""
_SEPARATORS = re.compile("[-_ \u2010-\u2013\u2212]")
_LIKE_A_NAME = re.compile(r"(?=\S*[A-Za-z])(?=\S*\d)[\w-]{4,}|(?=\S*[-_])[A-Z_-]{4,}")
_PARAGRAPH = re.compile(r"\n\s*\n")
_LONGEST_NAME = 8
"""Most words of a name that is looked for in a text."""
_LONGEST_KIND = 3
"""Most words as which people write an alert type: ``node down`` for ``NODE_DOWN``."""
_STRANGE = 20
"""Names which the network does not have that are told of one text."""
_AHEAD = 86400.0
"""Seconds that a time without a year may lie ahead: clocks and time zones differ."""


@dataclass(frozen=True)
class Pasted:
    """What a person pasted: the elements and alert types it names, what it names that the network does not have, the
    alerts in it, and its newest time, if it has one. Where it names no element, ``meant`` are those it may mean."""

    entities: tuple[str, ...]
    kinds: tuple[str, ...]
    unknown: tuple[str, ...]
    alerts: tuple[Alert, ...]
    newest: float | None
    meant: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Record:
    """One alert of a text, as far as it can be told: a line, a paragraph, or an object of JSON."""

    here: tuple[str, ...]
    kinds: tuple[str, ...]
    times: tuple[float, ...]
    severity: str


def read_pasted(text: str, network: Topology, symptoms: Mapping[str, Symptom], now: float) -> Pasted:
    """Find elements (by id or name), alert types and times in a pasted alert or storm.

    An alert without a time of its own has the time above it in the text, else the first time of the text, else ``now``.
    """
    read = _Reading(network, symptoms, now)
    objects = _objects(text)
    if objects is None:
        pieces = text.splitlines()
        records = read.records(pieces)
        if not any(each.here and each.kinds for each in records) and "\n" in text.strip():
            blocks = read.records(_PARAGRAPH.split(text))  # fields, a line each
            records = blocks if any(each.here and each.kinds for each in blocks) else records
    else:
        pieces = read.texts(objects)
        records = [each for piece in pieces for each in read.records([piece], earliest=True)]
    times = [at for each in records for at in each.times]
    last = times[0] if times else now
    alerts: dict[Alert, None] = {}
    for record in records:
        last = record.times[0] if record.times else last
        alerts.update(dict.fromkeys(read.alerts(record, last)))
    told = {each.entity for each in alerts if each.kind != NAMED}
    words = dict.fromkeys(word for piece in pieces for word in _words(piece))
    entities = tuple(dict.fromkeys(name for each in records for name in each.here))
    return Pasted(
        entities,
        tuple(dict.fromkeys(kind for each in records for kind in each.kinds)),
        tuple(read.strange(words)[:_STRANGE]),
        tuple(each for each in alerts if each.kind != NAMED or each.entity not in told),
        max(times, default=None),
        () if entities else _of_words(words, network),
    )


def _of_words(words: Collection[str], network: Topology) -> tuple[str, ...]:
    """The elements whose ids are made of words that stand apart in a text: "the VPN of Acme" for ``VPN-ACME``."""
    said = {word.upper() for word in words}
    parts = ((name, [part for part in _SEPARATORS.split(name.upper()) if part.isalpha()]) for name in network.ids)
    return tuple(name for name, of_it in parts if len(of_it) > 1 and said.issuperset(of_it))


class _Reading:
    """Reads the pieces of one text by the names of a network."""

    def __init__(self, network: Topology, symptoms: Mapping[str, Symptom], now: float) -> None:
        self.network, self.symptoms, self.now = network, symptoms, now
        self.by_id: dict[str, str] = {}
        self._kinds = {_bare(each): each for each in symptoms}

    def texts(self, objects: Sequence[Any]) -> list[str]:
        """The texts of the alerts in objects of JSON."""
        everything = [" ".join(_scalars(each)) for each in objects]
        known = self._ids({part for each in everything for word in _words(each) for part in _parts(word)})

        def is_told(word: str) -> bool:
            return any(part in known or _bare(part) in self._kinds for part in _parts(word))

        return [text for each in objects for text in _texts(each, is_told)]

    def records(self, pieces: Sequence[str], *, earliest: bool = False) -> list[_Record]:
        """What each piece names; ``earliest``: its earliest time is the one that counts, and not its first."""
        words_of = [_words(piece) for piece in pieces]
        by_id = self._ids({part for words in words_of for word in words for part in _parts(word)})
        words_of = [[part for word in words for part in self._known_parts(word, by_id)] for words in words_of]
        self.by_id |= by_id
        nameless = [words for words in words_of if not any(word in by_id for word in words)]
        phrases = {phrase for words in nameless for phrase in _phrases(words)}
        by_name = _spaced(phrases, self.network) | _found(phrases, self.network, "name", str.lower)
        records = []
        for piece, words in zip(pieces, words_of, strict=True):
            here = [by_id[word] for word in words if word in by_id]
            here = here or [by_name[phrase] for phrase in _phrases(words) if phrase in by_name]
            host = next((by_id[part] for part in _parts(_host(piece)) if part in by_id), None)
            here = [each for each in here if each != host] or here  # it tells what it sees of another
            kinds = [self._kinds[bare] for bare in _runs(words, _LONGEST_KIND, _bare) if bare in self._kinds]
            times = [at for each in _TIME.finditer(piece) if (at := self._seconds(each)) is not None]
            severity = next((word.upper() for word in words if word.upper() in SEVERITY), "")
            named = tuple(dict.fromkeys(here)), tuple(dict.fromkeys(kinds))
            records.append(_Record(*named, tuple(sorted(times) if earliest else times), severity))
        return records

    def alerts(self, record: _Record, at: float) -> Iterator[Alert]:
        """The alerts of a record: what its types can be said of, or whatever it names where it has no type.

        With a time of its own it is one alert of a log; without, it may be a sentence about several elements.
        """
        several = None if not record.times else 1
        fitting = [
            (name, kind)
            for kind in record.kinds
            for name in [each for each in record.here if self._fits(kind, each)][:several]
        ]
        fitting = fitting or [(name, kind) for kind in record.kinds[:1] for name in record.here[:1]]
        for name, kind in fitting or [(name, NAMED) for name in record.here]:
            yield Alert(name, kind, at, record.severity)

    def strange(self, words: Collection[str]) -> list[str]:
        """The words that look like names of elements and are none: they begin as some id does, or are nearly one."""
        starts = {each.upper() for each in self.network.id_starts}
        others = [
            word for word in words if not any(part in self.by_id or _bare(part) in self._kinds for part in _parts(word))
        ]
        begun = [word for word in others if (start := _START.match(word)) and start.group().upper() in starts]
        return begun or [word for word in others if not self.by_id and _LIKE_A_NAME.fullmatch(word)]

    def _ids(self, words: Collection[str]) -> dict[str, str]:
        """The elements of words; if there is none, of those that are an id but for its dashes and underscores."""
        return _found(words, self.network, "id", str.upper) or _found(
            [word for word in words if _LIKE_A_NAME.fullmatch(word.upper())], self.network, "id", _bare
        )

    def _known_parts(self, word: str, by_id: Mapping[str, str]) -> list[str]:
        """The word, or what is known of it where it is known only in parts."""
        whole, *parts = _parts(word)
        known = [part for part in parts if part in by_id or _bare(part) in self._kinds]
        return known if known and whole not in by_id else [word]

    def _fits(self, kind: str, name: str) -> bool:
        vertex_type = self.network.types[self.network.number[name]]
        return meaning_of(kind, vertex_type, self.symptoms) in ("own", "derived")

    def _seconds(self, match: re.Match[str]) -> float | None:
        if match["month"] is None:
            return _seconds(match.group())
        month, day = _MONTHS.index(match["month"]) + 1, int(match["day"])
        this_year = datetime.fromtimestamp(self.now, UTC).year
        years = [int(match["year"])] if match["year"] else [this_year + 1, this_year, this_year - 1]
        times = [_seconds(f"{year}-{month:02}-{day:02} {match['clock']}") for year in years]
        past = [at for at in times if at is not None and (match["year"] or at <= self.now + _AHEAD)]
        return past[0] if past else None


def _words(text: str) -> list[str]:
    return [bare for word in _WORD.findall(_TIME.sub(" ", text)) if (bare := word.strip(".:!?"))]


def _host(line: str) -> str:
    """The machine that wrote a line of syslog: it stands behind the time. Empty for other lines."""
    begin = _SYSLOG.match(line)
    if begin is None or not (begin["priority"] or begin["month"]):
        return ""
    return next(iter(_words(line[begin.end() :])), "")


def _found(texts: Collection[str], network: Topology, column: str, folded: Callable[[str], str]) -> dict[str, str]:
    """The ids of the elements whose id or name is one of the texts, in whatever case. The first of several counts."""
    wanted = sorted(texts)
    if not wanted:
        return {}
    values = network.table[column].combine_chunks()
    same_case = pc.utf8_lower(values) if folded is str.lower else pc.utf8_upper(values)
    if folded is _bare:
        same_case = pc.replace_substring_regex(same_case, _SEPARATORS.pattern, "")
    keys = sorted({folded(each) for each in wanted})
    place = pc.index_in(same_case, value_set=pa.array(keys, pa.string()))
    here = np.flatnonzero(place.is_valid().to_numpy(zero_copy_only=False))
    owners: dict[str, list[str]] = {}
    for vertex, key in zip(here.tolist(), place.take(pa.array(here)).to_pylist(), strict=True):
        owners.setdefault(keys[key], []).append(network.ids[vertex])
    if folded is _bare:  # R-11 and R1-1 cannot be told apart
        owners = {key: ids for key, ids in owners.items() if len(ids) == 1}
    return {text: owners[folded(text)][0] for text in wanted if folded(text) in owners}


def _spaced(phrases: Collection[str], network: Topology) -> dict[str, str]:
    """The elements whose ids are written with spaces: ``core mel 01``."""
    joined = {phrase: phrase.replace(" ", "-") for phrase in phrases if " " in phrase}
    found = _found([each for each in joined.values() if _LIKE_A_NAME.fullmatch(each.upper())], network, "id", _bare)
    return {phrase: found[each] for phrase, each in joined.items() if each in found}


def _parts(word: str) -> list[str]:
    """A word, and what it joins."""
    inner = [*_INSIDE.split(word), *_RUN.findall(_DASH.sub("-", normalize("NFKC", word)))]
    return [word, *dict.fromkeys(part for part in inner if part != word and any(map(str.isalpha, part)))]


def _bare(text: str) -> str:
    """A name or alert type without what people leave out of it."""
    return _SEPARATORS.sub("", text.upper())


def _phrases(words: Sequence[str]) -> Iterator[str]:
    """Runs of words that may be a name; a name has more than three letters."""
    return (phrase for phrase in _runs(words, _LONGEST_NAME, str) if len(phrase) > 3)


def _runs(words: Sequence[str], longest: int, written: Callable[[str], str]) -> Iterator[str]:
    for start in range(len(words)):
        for end in range(start + 1, min(start + longest, len(words)) + 1):
            yield written(" ".join(words[start:end]))


def _objects(text: str) -> list[Any] | None:
    """The objects of a text that is JSON, as a whole or line by line; ``None`` if it is none."""
    for pieces in ([text], [line for line in text.splitlines() if line.strip()]):
        try:
            objects = [json.loads(piece) for piece in pieces]
            return objects if all(isinstance(each, dict | list) and _is_flat(each) for each in objects) else None
        except (ValueError, RecursionError):
            continue
    return None


def _is_flat(value: Any, depth: int = 50) -> bool:  # noqa: ANN401
    """Whether a value of JSON is not nested deeper than any alert is."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return depth > 0 and all(_is_flat(each, depth - 1) for each in inner)


def _texts(value: Any, is_told: Callable[[str], bool]) -> list[str]:  # noqa: ANN401
    """The texts of the alerts in a value of JSON: of a list that names elements or types each item, else the whole."""
    if isinstance(value, list):
        return [text for each in value for text in _texts(each, is_told)]
    inner = [text for some in _lists(value) for text in _texts(some, is_told)]
    if any(is_told(word) for text in inner for word in _words(text)):
        return inner
    return [" ".join(_scalars(value))]


def _lists(value: Any) -> Iterator[list[Any]]:  # noqa: ANN401
    """The lists of objects in an object, however deep."""
    for each in value.values() if isinstance(value, dict) else ():
        if isinstance(each, dict):
            yield from _lists(each)
        elif isinstance(each, list) and any(isinstance(item, dict) for item in each):
            yield each


def _scalars(value: Any) -> Iterator[str]:  # noqa: ANN401
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _scalars(each)
    else:
        yield str(value)


def _seconds(text: str) -> float | None:
    try:
        written = _DAY_FIRST.sub(r"\3-\2-\1", text).replace("/", "-")
        at = datetime.fromisoformat(written.replace(", ", "T").replace(" ", "T"))
    except ValueError:  # digits that look like a time, such as month 99
        return None
    if not FIRST_YEAR <= at.year < LAST_YEAR:
        return None
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
