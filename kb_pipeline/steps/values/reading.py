"""Finds what can be checked word by word in a text: numbers with their units, dates, times of day, and codes.

Equal values are equal however they are written: a week is seven days, 100k is 100,000, 3 March 2024 is 03.03.2024. The
names of units and months in all languages are those of CLDR (https://cldr.unicode.org, by Babel); numbers in words are
read by text2num. What could be read in several ways has all of these readings, and one that fits is enough.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Literal

from babel import Locale

from kb_pipeline.steps.values.calendar import LANGUAGES, months, weekdays
from kb_pipeline.steps.values.numbers import numbers_in

Kind = Literal["number", "date", "time", "code"]

Reading = tuple[object, ...]
"""A value in one reading: ("number", 5.0), ("duration", 300.0), ("date", 2024, 3, 0), ("time", 870), ("code", "v2")."""


@dataclass(frozen=True, slots=True)
class Value:
    """A value at ``text[start:end]``: ``readings`` with its unit if it has one, ``bare`` are those without it."""

    kind: Kind
    start: int
    end: int
    readings: frozenset[Reading]
    bare: frozenset[Reading] = frozenset()


_DAY = 86_400.0  # seconds
_SECONDS = {
    "nanosecond": 1e-9, "microsecond": 1e-6, "millisecond": 1e-3, "second": 1.0, "minute": 60.0, "hour": 3600.0,
    "day": _DAY, "night": _DAY, "week": 7 * _DAY, "fortnight": 14 * _DAY,
}  # fmt: skip
_MONTHS = {"month": 1.0, "quarter": 3.0, "year": 12.0, "decade": 120.0, "century": 1200.0}
_DAYS_OF_A_MONTH = (28, 30, 31)  # a month is as long as any of them
_DAYS_OF_A_YEAR = (365, 366)
_BYTES = ("byte", "kilobyte", "megabyte", "gigabyte", "terabyte", "petabyte")
_PERCENT = ("%", "percent", "per cent", "prozent", "pour cent", "por ciento")
_COMPOUND = {
    "sekündig": "second", "minütig": "minute", "stündig": "hour", "tägig": "day", "wöchig": "week",
    "monatig": "month", "jährig": "year",
}  # fmt: skip
"""German: "15-minütige Pause", which CLDR has not."""
_RECURRING = {
    "hour": "hourly stündlich", "day": "daily nightly täglich quotidien quotidienne diario diaria",
    "week": "weekly wöchentlich hebdomadaire semanal", "month": "monthly monatlich mensuel mensual",
    "quarter": "quarterly vierteljährlich trimestriel trimestral", "year": "yearly annually jährlich annuel anual",
}  # fmt: skip
_SCALES = {
    "k": 1e3, "thousand": 1e3, "tausend": 1e3, "mille": 1e3, "mil": 1e3, "m": 1e6, "million": 1e6, "millions": 1e6,
    "millionen": 1e6, "millones": 1e6, "bn": 1e9, "billion": 1e9, "milliarde": 1e9, "milliarden": 1e9,
}  # fmt: skip
_PARTS_OF_AN_HOUR = re.compile(
    r"(?:an? |eine[rn]? |une |un )?(?P<half>half[- ](?:an )?hour|halbe[n]? stunde|demi-heure|media hora)\b"
    r"|(?:an? |eine[rn]? |un )?(?P<quarter>quarter[- ](?:of an )?hour|viertelstunde|quart d['’]heure|cuarto de hora)\b"
    r"|(?P<three>three quarters of an hour|dreiviertelstunde)\b",
    re.IGNORECASE,
)
_PART = re.compile(
    r"(?<!\d)(?P<of>[1-9])/(?P<all>[2-9])(?!\d)|\b(?:half|hälfte|halbe[nmrs]?|moitié|mitad)\b", re.IGNORECASE
)
_ONE = r"(?:an?|one|per|each|every|ein(?:e[nmrs]?)?|pro|je|jede[nmrs]?|une?|par|chaque|una?|por|cada)"
_TIMES = r"(?:(?P<few>once|twice|einmal|zweimal|une fois|deux fois|una vez|dos veces)|(?:times|mal|fois|veces|-mal|x))"
"""How often: "four times an hour" is every quarter of an hour."""
_WORDS = frozenset({"to", "go"})
"""Words that are written like the French terabyte and gigabyte, "To" and "Go"."""
_FEW = {"twice": 2.0, "zweimal": 2.0, "deux fois": 2.0, "dos veces": 2.0}


@lru_cache(maxsize=1)
def _units() -> dict[str, str]:
    """Return the key of CLDR for each name of a unit, in small letters."""
    names: dict[str, str] = {}
    for language in LANGUAGES:
        for key, patterns in _patterns(language):
            for pattern in patterns:
                name = pattern.replace("{0}", "").strip(" .\u00a0\u202f").casefold()
                if (len(name) > 1 or name in ("h", "s")) and not re.fullmatch(_ONE, name):  # French years are "an"
                    names.setdefault(name, key)
                    if language == "de" and name.endswith("e"):
                        names.setdefault(f"{name}n", key)  # "nach 14 Tagen": CLDR's cases are not in Babel
    names |= dict.fromkeys(_PERCENT, "percent")
    for stem, key in _COMPOUND.items():
        names |= {stem + ending: key for ending in ("", "e", "er", "en", "es", "em")}
    return names


def _patterns(language: str) -> Iterator[tuple[str, list[str]]]:
    for name, widths in Locale(language)._data["unit_patterns"].items():  # Babel has no public way
        kind, _, key = str(name).partition("-")
        if (kind == "duration" and key in _SECONDS | _MONTHS) or (kind == "digital" and key in _BYTES):
            yield (
                key,
                [
                    pattern
                    for forms in widths.values()
                    for form, pattern in forms.items()
                    if isinstance(pattern, str) and form != "per"  # "20 requests per minute" are not 20 minutes
                ],
            )


@lru_cache(maxsize=1)
def _again() -> dict[str, str]:
    return {word: key for key, words in _RECURRING.items() for word in words.split()}


@lru_cache(maxsize=1)
def _patterns_of_text() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    units = "|".join(re.escape(name) for name in sorted(_units(), key=len, reverse=True))
    names_of_months = "|".join(re.escape(name) for name in sorted(months(), key=len, reverse=True))
    day, year = r"(?P<{0}>\d{{1,2}})(?:st|nd|rd|th|\.|er|º)?", r"(?P<{0}>\d{{4}})"
    dates = re.compile(
        rf"(?<!\d)(?P<y1>\d{{4}})-(?P<m1>\d{{2}})(?:-(?P<d1>\d{{2}}))?(?!\d)"
        rf"|(?<![\d.])(?P<d2>\d{{1,2}})\.(?P<m2>0?[1-9]|1[0-2])\.(?!\d)"
        rf"|(?<![\d.])(?P<a>\d{{1,2}})[./](?P<b>\d{{1,2}})[./](?P<y2>\d{{4}}|(?<=\d\d.\d\d.)\d{{2}})(?![\d.]*\d)"
        rf"|\b{day.format('d3')}\s+(?:of\s+|de\s+)?(?P<m3>{names_of_months})\b\.?(?:,?\s+(?:de\s+)?{year.format('y3')})?"
        rf"|\b(?P<m4>{names_of_months})\b\.?\s+(?:{day.format('d4')}\b(?:,?\s+{year.format('y4')})?|{year.format('y5')}\b)",
        re.IGNORECASE,
    )
    unit = re.compile(
        rf"(?:[\s\u00a0\u202f-]{{0,2}}|\s(?!{_ONE}\b)[^\W\d_]+\s)(?P<unit>{units})(?![^\W_])", re.IGNORECASE
    )
    again = "|".join(map(re.escape, sorted(_again(), key=len, reverse=True)))
    rate = re.compile(
        rf"\s?{_TIMES}\s(?:in\s(?:der|einer)\s|am\s|im\s|à\sla\s|al\s)?(?:{_ONE}\s)?(?P<unit>{units}|{again})\b",
        re.IGNORECASE,
    )
    return dates, unit, rate


_TIME = re.compile(
    r"(?:(?<![\d:])(?P<h1>\d{1,2}):(?P<m1>\d{2})(?::\d{2})?(?:\s?(?P<ap1>[ap])\.?m\b\.?|\s?(?:uhr|h)\b)?"
    r"|\b(?P<h2>\d{1,2})\s?(?P<ap2>[ap])\.?m\b\.?|\b(?P<h3>\d{1,2})(?:\s?uhr\b|h(?P<m3>\d{2})\b|\s?o['’]clock\b))"
    r"(?:\s(?:UTC|GMT)\b)?",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"(?<![\w.,:/#])(?<![^\W\d_]-)[-+−]?(?P<digits>\d+(?:[.,'’\u00a0\u202f ]\d{3})*(?:[.,]\d+)?)"
    r"(?P<scale>(?:k|m|bn|\s(?:thousand|tausend|million(?:en|s)?|millones|billion|milliarden?))(?!\w))?"
    r"(?P<ordinal>(?:st|nd|rd|th)(?!\w))?(?![\d_])(?![.,:/]\d)",
    re.IGNORECASE,
)
_AFTER_STEP = re.compile(r"[.)]\s")
_LONGEST_MARKER = 40
"""Characters of indentation, quote signs and bullets before the text of a line."""
_CODE = re.compile(
    r"(?<![\w/.-])(?:--?[a-z][\w-]+|/?[\w.+-]+(?:/[\w.+-]+)+|[\w+-]+(?:[._:+-][\w+-]+)*)(?![\w])", re.IGNORECASE
)
_LOOKS_LIKE_CODE = re.compile(
    r"(?!\d+x+$)(?=.*\d)(?=.*[^\W\d_]).{2,}|\w+_\w+|--\w.*|/\w.*|\d+(?:\.\d+){2,}|\w+\.[a-z]{2,4}", re.IGNORECASE
)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|[^\s\w-]|\d+")
_HALF = re.compile(r"\bhalf\s{1,2}\Z", re.IGNORECASE)
_PART_OF = re.compile(r"\b(?:quarters?|thirds?|most|part)\sof\s\Z", re.IGNORECASE)
_LONGEST_PART = 12
"""Characters before "an hour" in which "half" or "a quarter of" may stand."""
_OCLOCK = re.compile(r"\s(?:uhr|o['’]clock)\b", re.IGNORECASE)
_AND_A_HALF = re.compile(r"\sand a half\b", re.IGNORECASE)


_FEWEST_IN_ORDER = 4
"""The place in an order from which its word means nothing else: "second" is a unit, and "a third" a part."""


def values_of(text: str, languages: Sequence[str] = LANGUAGES) -> list[Value]:
    """The values of a text in its order; no part of the text is in two of them.

    ``languages`` are those in which it may write numbers as words: "once" is eleven in Spanish.
    """
    found: list[Value] = []
    taken = [False] * (len(text) + 1)

    def take(values: Iterator[Value]) -> None:
        for value in values:
            if not any(taken[value.start : value.end]):
                found.append(value)
                taken[value.start : value.end] = [True] * (value.end - value.start)

    for reader in (_dates, _weekdays, _times, _parts_of_an_hour, _numbers):
        take(reader(text))
    take(_numbers_in_words(text, languages))
    take(_single_units(text))
    take(_codes(text))
    return sorted(found, key=lambda value: value.start)


def said_otherwise(text: str) -> Iterator[Reading]:
    """What else a text says: after which time something is so again ("daily", "twice a day"), and parts as percent."""
    for word in set(re.findall(r"\w+", text.casefold())) & _again().keys():
        yield from _with_unit(1.0, _again()[word])
    for rate in _patterns_of_text()[2].finditer(text):  # "twice a year" speaks of a year as well
        yield from _with_unit(1.0, _key_of(rate["unit"]))
    for part in _PART.finditer(text):
        share = int(part["of"]) / int(part["all"]) if part["of"] else 0.5
        yield "percent", round(100 * share, 9)


def _dates(text: str) -> Iterator[Value]:
    for match in _patterns_of_text()[0].finditer(text):
        part = match.groupdict()

        def number(*names: str, part: dict[str, str | None] = part) -> int:
            return next((int(value) for name in names if (value := part[name])), 0)

        if part["a"]:
            year = number("y2")
            year += 2000 if year < 100 else 0
            pairs = {(number("a"), number("b")), (number("b"), number("a"))}
            dates = {("date", year, month, day) for day, month in pairs if 1 <= month <= 12 and 1 <= day <= 31}
        else:
            name = part["m3"] or part["m4"]
            month = months()[name.casefold()] if name else number("m1")
            month = month or number("m2")
            dates = {("date", number("y1", "y3", "y4", "y5"), month, number("d1", "d2", "d3", "d4"))}
        if dates:
            # "25.6." may end a sentence
            bare = frozenset[Reading]({("number", float(match[0].strip(".")))} if part["d2"] else ())
            yield Value("date", match.start(), match.end(), frozenset(dates), bare)


def _times(text: str) -> Iterator[Value]:
    for match in _TIME.finditer(text):
        hour = int(match["h1"] or match["h2"] or match["h3"])
        minute, half = int(match["m1"] or match["m3"] or 0), (match["ap1"] or match["ap2"] or "").lower()
        if hour > 24 or minute > 59:
            continue
        if half:
            readings = {("time", 60 * (hour % 12 + 12 * (half == "p")) + minute)}
        elif text[match.start() - 1 : match.start()] == "T":  # 2026-03-30T11:58:21Z
            readings = {("time", 60 * hour + minute)}
        else:
            readings = set(_hours(hour, minute))
        yield Value("time", match.start(), match.end(), frozenset(readings))


def _hours(hour: int, minute: int) -> Iterator[tuple[str, int]]:
    """Yield the times that an hour can mean: "at 8" is in the morning or in the evening."""
    yield "time", 60 * (hour % 24) + minute
    if hour <= 12:
        yield "time", 60 * ((hour + 12) % 24) + minute


def _weekdays(text: str) -> Iterator[Value]:
    for match in re.finditer(r"[^\W\d_]{5,}", text):
        if (day := weekdays().get(match[0].casefold().removesuffix("s"))) is not None:
            yield Value("date", match.start(), match.end(), frozenset({("weekday", day)}))


def _parts_of_an_hour(text: str) -> Iterator[Value]:
    for match in _PARTS_OF_AN_HOUR.finditer(text):
        share = 0.5 if match["half"] else 0.25 if match["quarter"] else 0.75
        yield Value("number", match.start(), match.end(), frozenset(_with_unit(share, "hour")))


def _numbers(text: str) -> Iterator[Value]:
    for match in _NUMBER.finditer(text):
        if match["ordinal"] or (_AFTER_STEP.match(text, match.end()) and _begins_line(text, match.start())):
            continue  # the number of a step, or a place in an order
        if text[match.end() : match.end() + 1].isalpha() and not _is_before_unit(text, match.end()):
            continue  # part of a code
        scale = _SCALES[match["scale"].strip().casefold()] if match["scale"] else 1.0
        yield _value(text, match.start(), match.end(), {number * scale for number in _read(match["digits"])})


def _is_before_unit(text: str, at: int) -> bool:
    """Return whether a unit follows without a space, as in 24h; 90s may be a decade."""
    unit = _patterns_of_text()[1].match(text, at)
    return unit is not None and unit.start("unit") == at and unit["unit"] not in "sS"


def _begins_line(text: str, at: int) -> bool:
    line = max(text.rfind("\n", max(0, at - _LONGEST_MARKER), at) + 1, at - _LONGEST_MARKER)
    return not text[max(0, line) : at].strip(" \t>*-+") and (line <= 0 or text[line - 1] == "\n")


def _read(digits: str) -> set[float]:
    """Return what digits can mean: "1.000" is a thousand in German, and one in English."""
    plain = re.sub(r"['’\u00a0\u202f ]", "", digits)
    readings = set()
    for point, comma in ((".", ","), (",", ".")):
        grouped = re.fullmatch(rf"\d{{1,3}}(?:{re.escape(comma)}\d{{3}})*(?:{re.escape(point)}\d+)?", plain)
        if grouped or comma not in plain:
            try:
                readings.add(float(plain.replace(comma, "").replace(point, ".")))
            except ValueError:
                continue
    return readings


def _numbers_in_words(text: str, languages: Sequence[str]) -> Iterator[Value]:
    words = list(_WORD.finditer(text))
    tokens = [match[0].casefold() for match in words]
    for language in languages:
        for number in numbers_in(tokens, language):
            start, end = words[number.start].start(), words[number.end - 1].end()
            is_counted = number.value >= _FEWEST_IN_ORDER if number.is_ordinal else number.value != 1
            if text[start].isdigit() or not is_counted:  # "one of them" counts nothing
                continue
            if oclock := _OCLOCK.match(text, end):
                yield Value("time", start, oclock.end(), frozenset(_hours(int(number.value) % 24, 0)))
            else:
                yield _value(text, start, end, {float(number.value)})


def _single_units(text: str) -> Iterator[Value]:
    """Yield "an hour", "per day", "twice a week"; nothing is counted by "one of them"."""
    _, units, rates = _patterns_of_text()
    for match in rates.finditer(text):
        if match["few"]:
            yield _rate(match, match.start(), _FEW.get(match["few"].casefold(), 1.0))
    for match in re.finditer(rf"\b{_ONE}\b", text, re.IGNORECASE):
        unit = units.match(text, match.end())
        if unit and unit.start("unit") <= match.end() + 2 and not _AND_A_HALF.match(text, unit.end()):
            if _PART_OF.search(text, max(0, match.start() - _LONGEST_PART), match.start()):
                continue  # three quarters of a year
            is_half = _HALF.search(text, max(0, match.start() - _LONGEST_PART), match.start())
            readings = frozenset(_with_unit(0.5 if is_half else 1.0, _units()[unit["unit"].casefold()]))
            yield Value("number", match.start(), unit.end(), readings)


def _rate(match: re.Match[str], start: int, times: float) -> Value:
    """Return how often as the time after which it is so again."""
    return Value("number", start, match.end(), frozenset(_with_unit(1 / times, _key_of(match["unit"]))))


def _key_of(unit: str) -> str:
    return _units().get(unit.casefold()) or _again()[unit.casefold()]


def _value(text: str, start: int, end: int, numbers: set[float]) -> Value:
    bare = frozenset[Reading](("number", round(number, 9)) for number in numbers)
    if (rate := _patterns_of_text()[2].match(text, end)) and not rate["few"] and 0 not in numbers:
        return _rate(rate, start, max(numbers))
    if (unit := _patterns_of_text()[1].match(text, end)) and unit["unit"] not in _WORDS:
        key = _units()[unit["unit"].casefold()]
        readings = frozenset(chain.from_iterable(_with_unit(number, key) for number in numbers))
        if unit["unit"] in "hH":  # "à 14h"
            readings |= {("time", 60 * (int(number) % 24)) for number in numbers if number in range(25)}
        return Value("number", start, unit.end(), readings, bare)
    return Value("number", start, end, bare, bare)


def _with_unit(number: float, key: str) -> Iterator[Reading]:
    """Yield a number with its unit in all common units: a year is twelve months, and 365 days."""
    if key in _SECONDS:
        yield "duration", round(number * _SECONDS[key], 9)
    elif key in _MONTHS:
        months = number * _MONTHS[key]
        yield "months", round(months, 9)
        for days in _DAYS_OF_A_MONTH:
            yield "duration", months * days * _DAY
        for days in _DAYS_OF_A_YEAR if months % 12 == 0 else ():
            yield "duration", months / 12 * days * _DAY
    elif key in _BYTES:
        for base in (1000.0, 1024.0):
            yield "bytes", round(number * base ** _BYTES.index(key), 3)
    else:
        yield key, number


def _codes(text: str) -> Iterator[Value]:
    for match in _CODE.finditer(text):
        if _LOOKS_LIKE_CODE.fullmatch(match[0]) and not re.fullmatch(r"\d+(?:st|nd|rd|th|s|er|e|º)", match[0], re.I):
            yield Value("code", match.start(), match.end(), frozenset({("code", match[0].casefold())}))
