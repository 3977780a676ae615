"""A sheet as readers see it: its rows as texts, numbered as in the file."""

import datetime
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from kb_pipeline.records import DocumentFacts
from kb_pipeline.wording import counted

Value = int | float | str | bool | datetime.time | datetime.date | datetime.datetime | datetime.timedelta
"""What a cell holds, as calamine gives it; "" if it is empty."""
_EXACT = 1e15
"""From here on spreadsheets show no more than their 15 digits."""
_SOME_DAY = datetime.date(2000, 1, 1)  # a time is rounded as part of any day


class Row(NamedTuple):
    """A row: its number in the file, counted from 1, and by the number of the column, from 0, the texts that are seen.

    ``values`` are what these texts were made of. ``spans`` says how many columns a merged cell covers, ``links`` where
    a cell leads. ``after_blank`` is set if the row above it is blank.
    """

    number: int
    cells: Mapping[int, str]
    values: Mapping[int, Value]
    spans: Mapping[int, int] = {}
    links: Mapping[int, str] = {}
    after_blank: bool = False


@dataclass
class Sheet:
    """A sheet: its name, "" if it has none, and its rows with a value."""

    name: str
    rows: Iterator[Row]
    pictures: Mapping[int, Sequence[str]] = field(default_factory=dict)
    """Pictures as HTML, by the number of the row at which they begin."""


@dataclass
class Workbook:
    """What a file holds; what is left out is counted while its sheets are read."""

    sheets: Iterator[Sheet]
    title: str = ""
    facts: DocumentFacts | None = None
    images: dict[str, bytes] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)
    hidden_sheets: int = 0
    hidden_rows: int = 0
    hidden_columns: int = 0
    hidden_cells: int = 0
    without_value: int = 0

    def warnings(self) -> Iterator[str]:
        """What authors should know of it."""
        hidden = [
            counted(count, f"hidden {what}")
            for count, what in (
                (self.hidden_sheets, "sheet"),
                (self.hidden_rows, "row"),
                (self.hidden_columns, "column"),
                (self.hidden_cells, "cell"),
            )
            if count
        ]
        if hidden:
            yield f"left out: {', '.join(hidden)}"
        if self.without_value:
            yield (
                f"{counted(self.without_value, 'formula')} without a value in the file: open it in a spreadsheet "
                "program and save it"
            )
        yield from self.told


def text_of(value: Value) -> str:
    """A value as a spreadsheet shows it without a format; dates are ISO 8601."""
    match value:
        case str():
            return "\n".join(filter(None, (" ".join(line.split()) for line in value.splitlines())))
        case bool():
            return str(value).upper()
        case float():
            return str(int(value)) if value.is_integer() and abs(value) < _EXACT else f"{value:.15g}"
        case datetime.datetime():
            return _to_seconds(value).isoformat(" ").removesuffix(" 00:00:00")
        case datetime.timedelta():
            minutes, seconds = divmod(round(value.total_seconds()), 60)
            return f"{minutes // 60}:{minutes % 60:02}" + (f":{seconds:02}" if seconds else "")
        case datetime.time():
            return _to_seconds(datetime.datetime.combine(_SOME_DAY, value)).time().isoformat()
        case _:
            return str(value)  # of a date, ISO 8601


def letters_of(column: int) -> str:
    """``A`` for column 0, ``AB`` for 27."""
    letters = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def _to_seconds(moment: datetime.datetime) -> datetime.datetime:
    """Without the fractions that come of days as floating point numbers."""
    return (moment + datetime.timedelta(milliseconds=500)).replace(microsecond=0)
