"""What a layer tells people about an article it made: numbers, texts, markdown, tables.

Plain data, so that the command line prints it and Dagster shows it as metadata.
"""

from collections.abc import Mapping
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
