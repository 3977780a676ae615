"""``kb empty``: removes what an environment made: serving articles, search indexes, layers, analyzers, partitions."""

import sys
from typing import Annotated

import typer
from rich.markup import escape

from kb_pipeline.application import open_application
from kb_pipeline.cli.console import AsJson, err, named, new_table, print_json
from kb_pipeline.cli.run_job import dagster_storage
from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.flow.workspace import open_workspace
from kb_pipeline.settings import load_settings
from kb_pipeline.store.audit import os_user
from kb_pipeline.store.home import dagster_home
from kb_pipeline.upkeep import empty as upkeep
from kb_pipeline.upkeep.empty import EnvironmentPart, PartResult, examine, name_of, parts_of


def empty(
    conversations: Annotated[
        bool, typer.Option("--conversations", help="Also delete conversations and investigations of all people.")
    ] = False,
    staging: Annotated[
        bool, typer.Option("--staging", help="Also delete the authors' articles in KB_STAGING.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be removed.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Remove everything that was made: index, serving articles, layers, caches, analyzers and partitions.

    Articles in staging, contributions, questions for evaluations, conversations and investigations stay, and what other
    programs keep in the same places. Refuses while a run is going on. It can be interrupted and repeated. Exit code 1:
    a part could not be emptied; the others are.
    """
    settings = load_settings()
    from kb_pipeline.defs.emptying import opened

    workspace = open_workspace(settings)
    home = dagster_home(settings)
    with dagster_storage(settings), opened() as partitions:
        if (running := partitions.unfinished()) and not dry_run:
            raise KnowledgeBaseError(
                f"runs are going on or waiting: {', '.join(running)}; nothing was removed. Wait for them, or cancel "
                "them in the Dagster UI, and try again"
            )
        parts = parts_of(workspace, staging=staging)
        if conversations:
            application = open_application(settings)
            parts.append(upkeep.conversations(application.count_conversations, application.delete_conversations))
            parts.append(upkeep.investigations(workspace))
        parts.append(
            EnvironmentPart(
                "partitions of Dagster", str(home), "articles and scenarios", partitions.find, partitions.remove
            )
        )
        environment = name_of(workspace)
        found = examine(parts)
        if not as_json or not (dry_run or yes):
            _print(found, "would be removed" if dry_run else "to remove")
        if not dry_run:
            if not yes:
                _confirm(environment)
            workspace.audit.add("empty", os_user(), "terminal", about=environment)
            found = _emptied(parts)
    if as_json:
        print_json({"environment": environment, "dry_run": dry_run, "parts": found})
    sys.exit(1 if any(part.error for part in found) else 0)


def _confirm(environment: str) -> None:
    if not sys.stdin.isatty():
        raise KnowledgeBaseError("nothing was removed; add --yes to remove it")
    typed = typer.prompt(f"Type the name of this environment, {environment}, to remove all of it", err=True)
    if typed != environment:
        raise KnowledgeBaseError(f"nothing was removed: {typed!r} is not {environment!r}")


def _emptied(parts: list[EnvironmentPart]) -> list[PartResult]:
    results = []
    for result in upkeep.empty(parts):
        results.append(result)
        if result.error:
            err.print(f"[red]failed:[/] {result.name}: {escape(result.error)}", soft_wrap=True)
        elif result.items:
            err.print(
                f"[green]removed[/] {result.name}: {len(result.items)} {result.unit} ({named(result.items)})",
                soft_wrap=True,
            )
    if not any(result.items or result.error for result in results):
        err.print("there was nothing to remove")
    return results


def _print(found: list[PartResult], title: str) -> None:
    table = new_table("part", "where", title)
    for part in found:
        what = f"{len(part.items)} {part.unit}: {named(part.items)}" if part.items else "nothing"
        table.add_row(part.name, escape(part.place), f"[red]{escape(part.error)}[/]" if part.error else what)
    err.print(table)
