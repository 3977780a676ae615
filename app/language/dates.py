"""Reads the days that a question means: "since May", "Q3 2024", "last year", "zwischen März und Juni".

Libraries that read dates were measured on the same texts: they know no quarters, read "before June 2024" as two
dates, and take the verb "may" for a month. Names of months and numbers are those of libraries.
"""

import calendar
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta

from kb_pipeline.steps.values.calendar import months
from kb_pipeline.steps.values.numbers import number_of, place_of

_MONTHS = months(("en", "de"))
_SHORT = frozenset("may mar sep dec".split())
"""Months that are other words as well: they count after a word like "since" or beside a year only."""
_DAYS = {"day": 1, "tag": 1, "week": 7, "woche": 7}
_MONTHS_OF = {"month": 1, "monat": 1, "year": 12, "jahr": 12}  # of the others: months differ in days
_YEAR = r"(?:19|20)\d\d"
_MONTH = rf"(?:{'|'.join(sorted(_MONTHS, key=len, reverse=True))})\b\.?"
_QUARTER = r"(?:Q[1-4]|(?:(?:the|im|des|dem) )?(?:[1-4](?:st|nd|rd|th|\.)|[^\W\d_]+) (?:quarter|quartals?))"
_POINT = (
    rf"(?:(?P<iso>{_YEAR}-\d\d-\d\d)|(?P<dotted>\d{{1,2}}\.\d{{1,2}}\.{_YEAR})|(?P<isomonth>{_YEAR}-\d\d)\b"
    rf"|(?P<day>\d{{1,2}}(?:st|nd|rd|th|\.)? (?:of )?{_MONTH}(?:,? {_YEAR})?"
    rf"|{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?\b(?:,? {_YEAR})?)"
    rf"|(?P<month>{_MONTH}(?: {_YEAR})?)|(?P<year>{_YEAR})\b"
    r"|(?P<relative>(?:last|previous|this|letzte[nrsm]?|vorige[nrsm]?|diese[nrsm]?)"
    r" (?:year|quarter|month|week|jahr(?:es)?|quartals?|monats?|woche))"
    rf"|(?P<quarter>{_QUARTER}(?: ?(?:of )?{_YEAR})?)"
    r"|(?P<named>today|yesterday|heute|gestern))"
)
_LAST_FEW = re.compile(
    r"\b(?:(?:in|over|within|from|aus) )?(?:the |den )?(?:last|past|letzten|vergangenen)"
    rf" (?P<number>\d{{1,3}}|[^\W\d_]+) (?P<unit>{'|'.join([*_DAYS, *_MONTHS_OF])})(?:s|en|n|e)?\b",
    re.IGNORECASE,
)
_BETWEEN = re.compile(
    rf"\b(?:between|from|zwischen|von|vom) (?:dem )?{_POINT} (?:and|to|until|und|bis)(?: zum| dem)?"
    f" {_POINT.replace('(?P<', '(?P<to_')}",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"\b(?P<how>since|from|after|before|until|up to|(?:later|newer|earlier|older) than|seit|ab|nach|vor|bis)"
    r" (?:(?:the )?(?:beginning|start|end) of |anfang |ende |dem |zum |the )?"
    rf"{_POINT}(?P<onwards> (?:on|onwards?|an)\b)?",
    re.IGNORECASE,
)
_WITHIN = re.compile(rf"\b(?:(?:in|im|on|of|for|from|aus|am|vom|dated) (?:dem |the )?)?{_POINT}", re.IGNORECASE)
Span = tuple[date, date]


@dataclass(frozen=True, slots=True)
class Period:
    """The first and the last day that are meant, as ISO 8601, "" for an open end, and where the question says so."""

    first: str
    last: str
    start: int
    end: int


def period_of(text: str, today: date) -> Period | None:
    """The days that a question limits documents to; ``None`` if it names none. A month alone is the latest one."""
    if (match := _LAST_FEW.search(text)) and (number := number_of(match["number"])):
        unit = match["unit"].lower()
        days, months = _DAYS.get(unit, 0), _MONTHS_OF.get(unit, 0)
        first = _months_before(today, number * months) - timedelta(number * days)
        return Period(first.isoformat(), "", *match.span())
    if (match := _BETWEEN.search(text)) and (one := _span(match, "", today)) and (other := _span(match, "to_", today)):
        begins, ends = one[0], other[1]
        if len(re.findall(_YEAR, match[0])) == 1:  # the year of the end is that of the beginning as well
            begins = begins.replace(year=ends.year)
        begins = begins if begins <= ends else begins.replace(year=ends.year - 1)
        return Period(begins.isoformat(), ends.isoformat(), *match.span())
    if (match := _OPEN.search(text)) and (span := _span(match, "", today)):
        how = match["how"].lower()
        if how in ("since", "seit", "ab") or (how == "from" and match["onwards"]):
            return Period(span[0].isoformat(), "", *match.span())
        if how in ("after", "later than", "newer than", "nach"):
            return Period((span[1] + timedelta(1)).isoformat(), "", *match.span())
        if how in ("before", "earlier than", "older than", "vor"):
            return Period("", (span[0] - timedelta(1)).isoformat(), *match.span())
        if how != "from":
            return Period("", span[1].isoformat(), *match.span())
    for match in _WITHIN.finditer(text):
        is_another_word = match["month"] == match[0] and match[0].lower() in _SHORT
        if not is_another_word and (span := _span(match, "", today)):
            return Period(span[0].isoformat(), span[1].isoformat(), *match.span())
    return None


def _span(found: re.Match[str], prefix: str, today: date) -> Span | None:
    """Return the first and the last day of what a match names; ``None`` if it names no day that exists."""
    groups = found.groupdict()
    name = next(name for name in _READINGS if groups[prefix + name])
    try:
        return _READINGS[name](groups[prefix + name].lower(), today)
    except ValueError:
        return None


def _month(year: int, month: int, months: int = 1) -> Span:
    last = month + months - 1
    return date(year, month, 1), date(year, last, calendar.monthrange(year, last)[1])


def _months_before(day: date, months: int) -> date:
    year, month = divmod(day.year * 12 + day.month - 1 - months, 12)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def _day(text: str, today: date) -> Span:
    month, year = _month_in(text), _year_in(text)
    day = int(re.findall(r"\d{1,2}", re.sub(_YEAR, "", text))[0])
    named = date(year or today.year, month, day)
    named = named if year or named <= today else named.replace(year=today.year - 1)
    return named, named


def _named_month(text: str, today: date) -> Span:
    month = _month_in(text)
    return _month(_year_in(text) or today.year - (month > today.month), month)


def _quarter(text: str, today: date) -> Span:
    number = int(text[1]) if re.match(r"q\d", text) else next(filter(None, map(place_of, text.split())), 0)
    first = 3 * number - 2
    return _month(_year_in(text) or today.year - (first > today.month), first, 3)


def _relative(text: str, today: date) -> Span:
    which, unit = text.split()
    back = int(not which.startswith(("this", "diese")))
    if unit.startswith("w"):
        monday = today - timedelta(today.weekday() + 7 * back)
        return monday, monday + timedelta(6)
    months = 12 if unit[0] in "yj" else 3 if unit[0] == "q" else 1
    day = _months_before(date(today.year, today.month - (today.month - 1) % months, 1), months * back)
    return _month(day.year, day.month, months)


def _day_of(day: date) -> Span:
    return day, day


_READINGS: dict[str, Callable[[str, date], Span]] = {
    "iso": lambda text, _: _day_of(date.fromisoformat(text)),
    "dotted": lambda text, _: _day_of(date(*reversed([int(part) for part in text.split(".")]))),
    "day": _day,
    "isomonth": lambda text, _: _month(int(text[:4]), int(text[5:])),
    "quarter": _quarter,
    "month": _named_month,
    "year": lambda text, _: _month(int(text), 1, 12),
    "relative": _relative,
    "named": lambda text, today: _day_of(today - timedelta(text in ("yesterday", "gestern"))),
}


def _month_in(text: str) -> int:
    return next(_MONTHS[word] for word in re.findall(r"[^\W\d_]+", text) if word in _MONTHS)


def _year_in(text: str) -> int | None:
    match = re.search(_YEAR, text)
    return int(match[0]) if match else None
