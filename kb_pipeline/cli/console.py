"""What the commands share: printing (results to stdout, everything else to stderr) and common arguments and options."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Annotated

import typer
from pydantic_core import to_json
from rich import box
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.markup import escape
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from kb_pipeline.records import Scalar

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)
_DIFF_STYLES = {"+++": "bold", "---": "bold", "@@": "cyan", "+": "green", "-": "red"}

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout, for programs.")]
Article = Annotated[str, typer.Argument(help="The article's id: the name of its folder.")]
OnlyArticles = Annotated[
    list[str] | None, typer.Option("--article", metavar="ID", help="Only this article; can be repeated.")
]
ThisAnalyzer = Annotated[
    str | None,
    typer.Option(
        "--analyzer", help="Analyzer for this run: local, content-understanding, mistral-doc-ai; default: KB_ANALYZER."
    ),
]


def explain(exc: Exception) -> None:
    """Print an error for a person."""
    err.print("error:", style="bold red", end=" ")
    err.print(str(exc), markup=False, soft_wrap=True)


def print_json(document: object) -> None:
    """Print the one document on stdout that ``--json`` promises; records and dataclasses become objects."""
    if out.is_terminal:
        out.print_json(to_json(document).decode())
    else:  # rich looks for colours in every line: for 100,000 ids that took 160 MB
        out.file.write(f"{to_json(document, indent=2).decode()}\n")


class Listing(Table):
    """A plain table whose words stay whole. Where they do not fit beside each other, each row is a paragraph."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for column in self.columns:
            column.width = None
        sizes = [self._size(column, console) for column in self.columns]
        least = sum(size.minimum for size in sizes)
        around = Measurement.get(console, console.options.update_width(_ENDLESS), self).minimum - least
        spare = options.max_width - around - least
        if spare < 0:
            yield from self._paragraphs(console)
            return
        wanted = sum(size.span for size in sizes)
        if wanted > spare:
            for column, size in zip(self.columns, sizes, strict=True):
                column.width = size.minimum + spare * size.span // wanted
        yield from super().__rich_console__(console, options)

    @staticmethod
    def _size(column: Column, console: Console) -> Measurement:
        endless = console.options.update_width(_ENDLESS)
        cells = [Measurement.get(console, endless, cell) for cell in (column.header, *column.cells)]
        longest = max(cell.maximum for cell in cells)
        return Measurement(longest if column.no_wrap else max(cell.minimum for cell in cells), longest)

    def _paragraphs(self, console: Console) -> Iterator[RenderableType]:
        """Each row as a line of its first cell, and a paragraph of the others, each behind the name of its column."""
        names = [str(column.header) for column in self.columns]
        for cells in zip(*(column.cells for column in self.columns), strict=True):
            first, *others = (_DOT.join(console.render_str(str(cell)).split()) for cell in cells)
            yield Text.assemble(first, style="bold")
            facts = [
                Text.assemble((f"{name} " if name else "", "dim"), fact)
                for name, fact in zip(names[1:], others, strict=True)
                if fact
            ]
            yield Padding(_DOT.join(facts), (0, 0, 0, 3))


_ENDLESS = 100_000
"""Columns of a terminal in which nothing is folded."""
_DOT = Text(" · ")


def new_table(*columns: str) -> Listing:
    """A plain table that folds long cells instead of cutting them."""
    table = Listing(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def table_of(rows: Sequence[Mapping[str, Scalar]]) -> Listing:
    """A table of at least one row; the keys of the first row name the columns."""
    table = new_table(*rows[0])
    for row in rows:
        table.add_row(*(escape(str(cell)) for cell in row.values()))
    return table


def print_table(rows: Sequence[Mapping[str, Scalar]]) -> None:
    """Print rows as a table, if there are some."""
    if rows:
        out.print(table_of(rows))


def print_facts(facts: Mapping[str, str]) -> None:
    """Print what is known of something, a line for each fact that is not empty."""
    for name, value in facts.items():
        for line in value.splitlines():  # one line each, so that hashes and ids can be copied
            out.print(f"  [dim]{name}[/]  {escape(line)}", soft_wrap=True)


def when(iso: str) -> str:
    """An ISO timestamp in this machine's time zone, to the minute."""
    return f"{datetime.fromisoformat(iso).astimezone():%Y-%m-%d %H:%M}" if iso else ""


def diff_style(line: str) -> str:
    """The style of a line of a unified diff."""
    return next((style for start, style in _DIFF_STYLES.items() if line.startswith(start)), "")


def named(ids: tuple[str, ...] | list[str], most: int = 3) -> str:
    """The first ``most`` ids and the number of the others, as markup."""
    more = f", … {len(ids) - most} more" if len(ids) > most else ""
    return escape(", ".join(ids[:most])) + more
