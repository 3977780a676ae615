"""``kb check``: whether everything that the settings name can be reached."""

import sys
from pathlib import Path

from rich.markup import escape

from kb_pipeline.application import open_application
from kb_pipeline.cli.console import AsJson, err, new_table, out, print_json
from kb_pipeline.cli.instance import check_history
from kb_pipeline.cli.run_job import ask_history
from kb_pipeline.flow.workspace import open_workspace
from kb_pipeline.settings import Settings, check_spelling, load_settings
from kb_pipeline.store.home import dagster_home
from kb_pipeline.upkeep.check import Connection, check_backend, check_connections


def check(as_json: AsJson = False) -> None:
    """Check that everything named in the settings can be reached and accepts our credentials.

    Each paid service gets one small request: a page, an image or a few words. Exit code 1: a check failed.
    """
    settings = load_settings()
    application = open_application(settings)
    kinds = Settings, type(application.settings)
    home = dagster_home(settings)
    with err.status("checking"):
        connections = [
            check_backend("settings", "KB_*", lambda: f"{check_spelling(*kinds)} are set"),
            *check_connections(open_workspace(settings)),
            *application.check(),
            check_backend("history", str(home), lambda: _history(settings, home)),
        ]
    if as_json:
        print_json({"connections": connections})
    else:
        _print(connections)
    sys.exit(1 if any(connection.problem for connection in connections) else 0)


def _history(settings: Settings, home: Path) -> str:
    files = check_history(home)
    if not (home / "dagster.yaml").exists():
        return "there is none yet"
    ask_history(settings)
    return f"it answers; {files}"


def _print(connections: list[Connection]) -> None:
    table = new_table("", "setting", "result", "seconds")
    for connection in connections:
        result = "[red]failed[/]" if connection.problem else escape(connection.found)
        table.add_row(connection.role, escape(connection.name), result, f"{connection.seconds:.1f}")
    out.print(table)
    for connection in connections:
        if connection.problem:
            err.print(f"[red]{connection.role}:[/] {escape(connection.problem)}", soft_wrap=True)
