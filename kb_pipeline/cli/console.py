"""What the commands share for printing: results to stdout, everything about them to stderr."""

from datetime import datetime

from pydantic_core import to_json
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)


def explain(exc: Exception) -> None:
    """Say what went wrong, for a person."""
    err.print("error:", style="bold red", end=" ")
    err.print(str(exc), markup=False, soft_wrap=True)


def print_json(document: object) -> None:
    """The one document on stdout that ``--json`` promises; records and dataclasses become objects."""
    out.print_json(to_json(document).decode())


def new_table(*columns: str) -> Table:
    """A plain table whose cells fold rather than lose text."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def when(iso: str) -> str:
    """A time of the history, in this machine's time zone."""
    return f"{datetime.fromisoformat(iso).astimezone():%Y-%m-%d %H:%M}" if iso else ""


def named(ids: tuple[str, ...] | list[str], most: int = 3) -> str:
    """The first names of many, as markup."""
    more = f", … {len(ids) - most} more" if len(ids) > most else ""
    return escape(", ".join(ids[:most])) + more
