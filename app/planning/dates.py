"""Reads the days that a question means: "since May", "Q3 2024", "last year", "zwischen März und Juni"."""

import calendar
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from types import MappingProxyType

_MONTHS = MappingProxyType(
    {
        name: number
        for number, names in enumerate(
            (
                "january jan januar",
                "february feb februar",
                "march mar märz",
                "april apr",
                "may mai",
                "june jun juni",
                "july jul juli",
                "august aug",
                "september sept sep",
                "october oct oktober okt",
                "november nov",
                "december dec dezember dez",
            ),
            1,
        )
        for name in names.split()
    }
)
_QUARTERS = MappingProxyType(
    {
        **{word: number for number, word in enumerate("first second third fourth".split(), 1)},
        **{word: number for number, word in enumerate("ersten zweiten dritten vierten".split(), 1)},
        **{word: number for number, word in enumerate("1st 2nd 3rd 4th".split(), 1)},
        **{f"{number}.": number for number in range(1, 5)},
    }
)
_NUMBERS = MappingProxyType(
    {
        word: number
        for number, words in enumerate(
            (
                "a one ein einem einer",
                "two zwei",
                "three drei",
                "four vier",
                "five fünf",
                "six sechs",
                "seven sieben",
                "eight acht",
                "nine neun",
                "ten zehn",
            ),
            1,
        )
        for word in words.split()
    }
)
_MONTH = rf"(?:{'|'.join(sorted(_MONTHS, key=len, reverse=True))})\b\.?"
_YEAR = r"(?:19|20)\d\d"
_DAY = (
    rf"(?:(?P<iso>{_YEAR}-\d\d-\d\d)"
    r"|(?P<dotted>\d{1,2}\.\d{1,2}\.(?:19|20)\d\d)"
    rf"|(?P<dayfirst>\d{{1,2}}(?:st|nd|rd|th|\.)?\s+(?:of\s+)?{_MONTH}(?:,?\s+{_YEAR})?)"
    rf"|(?P<monthfirst>{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?\b(?!\d)(?:,?\s+{_YEAR})?)"
    rf"|(?P<isomonth>{_YEAR}-\d\d)\b"
    rf"|(?P<quarter>(?:Q[1-4]|(?:(?:the|im|des|dem)\s+)?(?:{'|'.join(map(re.escape, _QUARTERS))})\s+(?:quarter"
    rf"|quartals?))"
    rf"(?:\s*(?:of\s+|/\s*)?{_YEAR})?)"
    rf"|(?P<month>{_MONTH}(?:\s+{_YEAR})?)"
    rf"|(?P<year>(?:(?:the\s+year|jahr)\s+)?{_YEAR})\b"
    r"|(?P<relative>(?:last|previous|this|the\s+current|letzte[nrsm]?|vorige[nrsm]?|vergangene[nrsm]?|diese[nrsm]?)\s+"
    r"(?:year|quarter|month|week|jahr(?:es)?|quartals?|monats?|woche))"
    r"|(?P<named>today|yesterday|heute|gestern))"
)
_SOME = r"(?P<number>\d{1,3}|" + "|".join(_NUMBERS) + r")\s+"
_AGO = re.compile(
    rf"\b(?:(?:in|over|within|during|from)\s+)?(?:the\s+)?(?:last|past)\s+{_SOME}(?P<unit>day|week|month|year)s?\b"
    rf"|\b(?:in|aus)\s+den\s+(?:letzten|vergangenen)\s+{_SOME.replace('number', 'zahl')}"
    r"(?P<einheit>tag|woche|monat|jahr)(?:en|n|e)?\b",
    re.IGNORECASE,
)
_BETWEEN = re.compile(
    rf"\b(?:between|zwischen)\s+(?:dem\s+|the\s+)?{_DAY}\s+(?:and|und)\s+(?:dem\s+"
    rf"|the\s+)?{_DAY.replace('(?P<', '(?P<to_')}"
    rf"|\b(?:from|von|vom)\s+{_DAY.replace('(?P<', '(?P<of_')}\s+(?:to|until|till|through|bis)\s+(?:zum\s+)?"
    rf"{_DAY.replace('(?P<', '(?P<til_')}",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"\b(?P<how>since|from|after|before|until|till|up\s+to|by(?=\s+(?:the\s+end|end))|later\s+than|newer\s+than"
    r"|earlier\s+than|older\s+than|seit|ab|nach|vor|bis)\s+"
    r"(?:(?:the\s+)?(?:beginning|start|end)\s+of\s+|anfang\s+|ende\s+|dem\s+|zum\s+|the\s+)?"
    rf"{_DAY}(?P<onwards>\s+(?:on|onwards?|an))?",
    re.IGNORECASE,
)
_WITHIN = re.compile(
    rf"\b(?:(?:in|im|on|at|during|of|for|from|aus|am|vom|dated)\s+(?:dem\s+|the\s+)?)?{_DAY}", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Period:
    """The first and the last day that are meant, as ISO 8601, "" for an open end, and where the question says so."""

    first: str
    last: str
    start: int
    end: int


def period_of(text: str, today: date) -> Period | None:
    """The days that a question limits documents to; ``None`` if it names none.

    A month or a quarter without a year is the latest one that has begun. "May" is a month only after a word like
    "since", or before a year.
    """
    for found in _AGO.finditer(text):
        number, unit = found["number"] or found["zahl"], (found["unit"] or found["einheit"]).lower()
        count = _NUMBERS.get(number.lower()) or int(number)
        return Period(_back(today, count, unit).isoformat(), "", *found.span())
    for found in _BETWEEN.finditer(text):
        ends = [_span(found, prefix, today) for prefix in ("", "to_", "of_", "til_")]
        spans = [span for span in ends if span]
        if len(spans) == 2:
            first, last = spans[0][0], spans[1][1]
            if len(re.findall(_YEAR, found[0])) < 2:  # the year of the end is that of the beginning as well
                first = first.replace(year=last.year)
                first = first if first <= last else _back(first, 1, "year")
            return Period(first.isoformat(), last.isoformat(), *found.span())
    for found in _OPEN.finditer(text):
        if span := _span(found, "", today):
            how = " ".join(found["how"].lower().split())
            begins, ends_at = span
            if how in ("since", "seit", "ab") or (how == "from" and found["onwards"]):
                return Period(begins.isoformat(), "", *found.span())
            if how in ("after", "later than", "newer than", "nach"):
                return Period((ends_at + timedelta(1)).isoformat(), "", *found.span())
            if how in ("before", "earlier than", "older than", "vor"):
                return Period("", (begins - timedelta(1)).isoformat(), *found.span())
            if how != "from":
                return Period("", ends_at.isoformat(), *found.span())
    for found in _WITHIN.finditer(text):
        if _is_the_verb_may(found):
            continue
        if span := _span(found, "", today):
            return Period(span[0].isoformat(), span[1].isoformat(), *found.span())
    return None


def _is_the_verb_may(found: re.Match[str]) -> bool:
    return (found["month"] or "").lower() in ("may", "mar", "sep", "dec") and found[0] == found["month"]


def _span(found: re.Match[str], prefix: str, today: date) -> tuple[date, date] | None:
    """Return the first and the last day of what one group of a match names; ``None`` if it names no day that exists."""
    readings: dict[str, Callable[[str, date], tuple[date, date]]] = {
        "iso": lambda text, _: _one(date.fromisoformat(text)),
        "dotted": lambda text, _: _one(date(*reversed([int(part) for part in text.split(".")]))),
        "dayfirst": _named_day,
        "monthfirst": _named_day,
        "isomonth": lambda text, _: _month(int(text[:4]), int(text[5:])),
        "quarter": _quarter,
        "month": _named_month,
        "year": lambda text, _: _year(int(text[-4:])),
        "relative": _relative,
        "named": lambda text, now: _one(now - timedelta(text.lower() in ("yesterday", "gestern"))),
    }
    groups = found.groupdict()
    for name, read in readings.items():
        if text := groups.get(prefix + name):
            try:
                return read(text, today)
            except ValueError:
                return None
    return None


def _one(day: date) -> tuple[date, date]:
    return day, day


def _month(year: int, month: int) -> tuple[date, date]:
    return date(year, month, 1), date(year, month, calendar.monthrange(year, month)[1])


def _year(year: int) -> tuple[date, date]:
    return date(year, 1, 1), date(year, 12, 31)


def _named_day(text: str, today: date) -> tuple[date, date]:
    month, year = _month_in(text), _year_in(text)
    day = int(next(iter(re.findall(r"\d{1,2}", re.sub(_YEAR, "", text)))))
    named = date(year or today.year, month, day)
    return _one(named if year or named <= today else date(today.year - 1, month, day))


def _named_month(text: str, today: date) -> tuple[date, date]:
    month = _month_in(text)
    return _month(_year_in(text) or today.year - (month > today.month), month)


def _quarter(text: str, today: date) -> tuple[date, date]:
    short = re.match(r"Q([1-4])", text, re.IGNORECASE)
    number = int(short[1]) if short else next(_QUARTERS[word] for word in text.lower().split() if word in _QUARTERS)
    return _quarter_of(_year_in(text) or today.year - (3 * number - 2 > today.month), number)


def _quarter_of(year: int, number: int) -> tuple[date, date]:
    return date(year, 3 * number - 2, 1), _month(year, 3 * number)[1]


def _relative(text: str, today: date) -> tuple[date, date]:
    which, unit = text.lower().split()[-2:]
    before = int(not which.startswith(("this", "current", "diese")))
    if unit.startswith(("year", "jahr")):
        return _year(today.year - before)
    if unit.startswith(("quarter", "quartal")):
        quarter = (today.month - 1) // 3 - before
        return _quarter_of(today.year + quarter // 4, quarter % 4 + 1)
    if unit.startswith(("month", "monat")):
        month = today.month - 1 - before
        return _month(today.year + month // 12, month % 12 + 1)
    monday = today - timedelta(today.weekday() + 7 * before)
    return monday, monday + timedelta(6)


def _back(today: date, count: int, unit: str) -> date:
    if unit.startswith(("day", "tag")):
        return today - timedelta(count)
    if unit.startswith(("week", "woche")):
        return today - timedelta(7 * count)
    months = today.year * 12 + today.month - 1 - count * (12 if unit.startswith(("year", "jahr")) else 1)
    year, month = divmod(months, 12)
    return date(year, month + 1, min(today.day, calendar.monthrange(year, month + 1)[1]))


def _month_in(text: str) -> int:
    return next(_words(text))


def _words(text: str) -> Iterator[int]:
    return (_MONTHS[word] for word in re.findall(r"[^\W\d_]+", text.lower()) if word in _MONTHS)


def _year_in(text: str) -> int | None:
    found = re.search(_YEAR, text)
    return int(found[0]) if found else None
