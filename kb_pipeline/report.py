"""What a layer tells people about an article it made: numbers, texts, markdown, tables.

Plain data, so that the command line prints it and Dagster shows it as metadata.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

from kb_pipeline.records import Record

Scalar = bool | int | float | str


class Markdown(Record):
    """Text to be rendered."""

    kind: Literal["markdown"] = "markdown"
    text: str


class Table(Record):
    """Rows with the same columns."""

    kind: Literal["table"] = "table"
    rows: tuple[Mapping[str, Scalar], ...]


ReportValue = Scalar | Markdown | Table
Report = Mapping[str, ReportValue]

PREVIEW_CHARACTERS = 3000


def preview(markdown: str) -> Markdown:
    """The beginning of a markdown text, cut at a line border."""
    if len(markdown) <= PREVIEW_CHARACTERS:
        return Markdown(text=markdown)
    cut = markdown[:PREVIEW_CHARACTERS].rsplit("\n", 1)[0]
    return Markdown(text=f"{cut}\n\n*… {len(markdown) - len(cut):,} more characters*")


_BAR = 24
_BARS = 14
_LABEL = 28


def bars(values: Sequence[tuple[str, int]]) -> Markdown:
    """A bar chart of named numbers as text, in their order; of many, the first ones."""
    largest = max((value for _, value in values), default=0) or 1
    lines = [f"{_bar(value / largest):<{_BAR}} {value:>5} {_cut(name)}" for name, value in values[:_BARS]]
    more = [f"… and {len(values) - _BARS} more"] if len(values) > _BARS else []
    return Markdown(text="\n".join(["```", *lines, *more, "```"]))


def _bar(share: float) -> str:
    eighths = round(share * _BAR * 8)
    return "█" * (eighths // 8) + "▏▎▍▌▋▊▉"[eighths % 8 - 1] * (eighths % 8 > 0)


def _cut(name: str) -> str:
    line = name.replace("`", "'")
    return line if len(line) <= _LABEL else f"{line[: _LABEL - 1]}…"
