"""What the commands share: printing (results to stdout, everything else to stderr) and common arguments and options."""

from datetime import datetime
from typing import Annotated

import typer
from pydantic_core import to_json
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

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


def new_table(*columns: str) -> Table:
    """A plain table that folds long cells instead of cutting them."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


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
