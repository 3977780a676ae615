"""``kb check``: do the settings lead anywhere?"""

import sys
from collections.abc import Iterator

from rich.markup import escape

from app.checking import check_answering
from app.settings import load_app_settings
from kb_pipeline.cli.console import err, new_table, out, print_json
from kb_pipeline.cli.options import AsJson
from kb_pipeline.connections import Connection, check_connections
from kb_pipeline.settings import load_settings
from kb_pipeline.workspace import open_workspace


def check(as_json: AsJson = False) -> None:
    """Ask everything that the settings name whether it is there and lets us in.

    Services that bill are asked for a page, an image or a few words. Exit code 1: something is not as it should be.
    """
    with err.status("asking"):
        connections = list(_all())
    if as_json:
        print_json({"connections": connections})
    else:
        _print(connections)
    sys.exit(1 if any(connection.problem for connection in connections) else 0)


def _all() -> Iterator[Connection]:
    settings, app_settings = load_settings(), load_app_settings()
    yield from check_connections(open_workspace(settings))
    yield from check_answering(app_settings, settings)


def _print(connections: list[Connection]) -> None:
    table = new_table("", "setting", "found", "seconds")
    for connection in connections:
        good = "[red]failed[/]" if connection.problem else escape(connection.found)
        table.add_row(connection.role, escape(connection.name), good, f"{connection.seconds:.1f}")
    out.print(table)
    for connection in connections:
        if connection.problem:
            err.print(f"[red]{connection.role}:[/] {escape(connection.problem)}", soft_wrap=True)
