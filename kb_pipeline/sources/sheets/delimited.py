"""Tables as text: values between commas, semicolons, tabs or bars, in whatever encoding."""

import csv
import io
from collections import Counter
from collections.abc import Iterator
from itertools import islice

from kb_pipeline.errors import UnreadableArticleError
from kb_pipeline.sources.first_bytes import kind_of
from kb_pipeline.sources.sheets.sheet import Row, Sheet, Value, Workbook, text_of
from kb_pipeline.steps.html.decode import to_text

_DELIMITERS = (",", ";", "\t", "|")
_SAMPLE_ROWS = 100
"""Rows by which the sign between values is told."""
_SAMPLE = 200_000
"""Characters in which these rows stand."""
_FEWEST_NULLS = 20
"""Zeros in them above which it is no text."""
_LONGEST_FIELD = 1_000_000
"""Characters of a value: a document in a cell; Python's own limit is an eighth of it."""


def read_delimited(name: str, data: bytes) -> Workbook:
    """Read a table of text.

    Raises:
        UnreadableArticleError: it is no text.
    """
    if kind := kind_of(data):
        raise UnreadableArticleError(f"{name} is {kind} under another name; rename it, or save it again")
    text = to_text(data)
    if text[:_SAMPLE].count("\0") > _FEWEST_NULLS:
        raise UnreadableArticleError(f"{name} is binary, not a table of text")
    delimiter = _said(text) or ("\t" if name.lower().endswith(".tsv") else _delimiter(text))
    csv.field_size_limit(_LONGEST_FIELD)
    return Workbook(iter([Sheet("", _rows(name, text, delimiter))]))


def _said(text: str) -> str:
    """The delimiter that the first line states, as Excel reads it: ``sep=;``."""
    first = text[:6].lower()
    return text[4] if first.startswith("sep=") and text[5:6] in ("\n", "\r", "") and text[4:5].strip(" ") else ""


def _delimiter(text: str) -> str:
    """The delimiter that gives most rows the same number of columns, and more than one."""

    def fit(delimiter: str) -> tuple[float, int]:
        rows = islice(_parsed(text[:_SAMPLE], delimiter), _SAMPLE_ROWS)
        try:
            widths = Counter(len(row) for row in rows if row)
        except csv.Error:
            return 0.0, 0
        width, times = widths.most_common(1)[0] if widths else (0, 0)
        return (times / widths.total(), width) if width > 1 else (0.0, 0)

    return max(_DELIMITERS, key=fit)


def _parsed(text: str, delimiter: str) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)


def _rows(name: str, text: str, delimiter: str) -> Iterator[Row]:
    blank = False
    reader = _parsed(text, delimiter)
    try:
        for number, fields in enumerate(reader, 1):
            if number == 1 and _said(text):
                continue
            cells = {column: shown for column, field in enumerate(fields) if (shown := text_of(field))}
            if cells:
                yield Row(number, cells, {column: _typed(fields[column]) for column in cells}, after_blank=blank)
            blank = not cells
    except csv.Error as exc:
        raise UnreadableArticleError(
            f"{name} is no table in line {reader.line_num:,} ({exc}); save it again from a spreadsheet program"  # type: ignore[attr-defined]
        ) from exc


def _typed(field: str) -> Value:
    """A number, so that rows of values are known from a header; what readers see stays the text."""
    try:
        return float(field.strip().rstrip("%").replace(",", ".").replace(" ", ""))
    except ValueError:
        return field
