"""What the XML of a workbook says of a sheet besides values: what is hidden, number formats, links, pictures."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from kb_pipeline.sources.sheets.sheet import Value, text_of

_TOKEN = re.compile(
    r"""
    "(?P<quoted>[^"]*)" | \\(?P<escaped>.) | \[\$(?P<currency>[^\]-]*)[^\]]*\]
    | (?P<unseen>\[[^\]<=>]*\] | [_*].)
    | (?P<digits>[#0?][#0?,]* (?:\.(?P<decimals>[#0?]+))?)
    | (?P<sign>[ %€$£¥+()-])
    | (?P<end>;)
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class NumberFormat:
    """How a format shows numbers: the words around them, and their decimals."""

    before: str
    after: str
    least: int
    most: int
    is_share: bool

    def show(self, value: float) -> str:
        """A number with its unit, without separators of thousands, which differ between languages."""
        text = f"{abs(value) * (100 if self.is_share else 1):.{self.most}f}"
        if self.most > self.least:
            whole, _, decimals = text.partition(".")
            kept = decimals.rstrip("0").ljust(self.least, "0")
            text = f"{whole}.{kept}" if kept else whole
        sign = "-" if value < 0 and float(text) else ""
        return f"{self.before}{sign}{text}{self.after}".strip()


@lru_cache(maxsize=1024)
def number_format(code: str) -> NumberFormat | None:
    """Understand a code such as ``#,##0.00 "€"``; ``None`` if it is for dates, fractions, thousands and the like."""
    before, after, digits, decimals = "", "", "", ""
    for token in _TOKEN.finditer(code):
        if token["end"]:  # what follows is for negative numbers, and says the same of them
            break
        if token["other"] or (token["digits"] and digits):
            return None
        if token["digits"]:
            digits, decimals = token["digits"], token["decimals"] or ""
        elif digits:
            after += _words(token)
        else:
            before += _words(token)
    if not digits or digits.endswith(","):
        return None
    return NumberFormat(before, after, decimals.count("0"), len(decimals), "%" in f"{before}{after}")


def _words(token: re.Match[str]) -> str:
    return token["quoted"] or token["escaped"] or token["currency"] or token["sign"] or ""


def hides_values(code: str) -> bool:
    """Whether a format shows nothing: ``;;;``."""
    return bool(code) and not code.strip("; ")


@dataclass
class SheetMarks:
    """What is said of one sheet. Rows and columns count from 0."""

    hidden_rows: Collection[int] = frozenset()
    hidden_columns: Sequence[tuple[int, int]] = ()
    """First and last of columns that are hidden."""
    codes: Mapping[tuple[int, int], str] = field(default_factory=dict)
    """The number formats of cells."""
    texts: Mapping[tuple[int, int], str] = field(default_factory=dict)
    """Cells of which the file says how they look."""
    links: Mapping[int, Mapping[int, str]] = field(default_factory=dict)
    pictures: Mapping[int, Sequence[str]] = field(default_factory=dict)
    without_value: int = 0
    """Formulas of which the file does not say the value."""

    def hides_row(self, row: int) -> bool:
        """Whether a row is hidden."""
        return row in self.hidden_rows

    def hides_column(self, column: int) -> bool:
        """Whether a column is hidden."""
        return any(first <= column <= last for first, last in self.hidden_columns)

    def text_of(self, row: int, column: int, value: Value) -> str | None:
        """What a cell shows; ``None`` if its format hides the value."""
        place = row, column
        if place in self.texts:
            return self.texts[place]
        code = self.codes.get(place, "")
        if hides_values(code):
            return None
        if code and isinstance(value, int | float) and not isinstance(value, bool):
            shown = number_format(code)
            if shown:
                return shown.show(value)
        return text_of(value)


NOTHING = SheetMarks()
