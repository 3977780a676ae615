"""``kb generations``: which index readers use, which others there are, and the way back."""

import sys
from typing import Annotated

import typer
from rich.markup import escape

from kb_pipeline.cli.console import err, new_table, out, print_json, when
from kb_pipeline.cli.options import AsJson
from kb_pipeline.cli.run_job import run_job
from kb_pipeline.evaluation.gate import find_refusal
from kb_pipeline.search.catalog import Generation, LiveIndex
from kb_pipeline.settings import load_settings
from kb_pipeline.workspace import Workspace, open_workspace


def generations(
    switch: Annotated[
        str | None, typer.Option(metavar="ID", help="Let readers use this generation from now on.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the generations of the index, or switch readers to another one.

    Another embedding model or chunking makes a new generation beside the live one, and readers are switched to it
    once it holds every article and finds known answers as well. The one before stays for a way back.
    """
    settings = load_settings()
    workspace = open_workspace(settings)
    if switch:
        run_job(settings, "switch_generation", {"generation": switch}).require_success()
    live = workspace.catalog.live()
    rows = [(known, _uses(known, live, workspace)) for known in workspace.catalog.generations()]
    refusal = find_refusal(workspace, live.generation.id) if live else ""
    if as_json:
        print_json([_plain(workspace, known, uses, refusal) for known, uses in rows])
    elif rows:
        _print(workspace, rows)
        if refusal:
            err.print(f"[red]refused:[/] {escape(refusal)}", soft_wrap=True)
    else:
        err.print("there is no index yet; run: kb ingest")
        sys.exit(1)


def _uses(known: Generation, live: LiveIndex | None, workspace: Workspace) -> list[str]:
    """What a generation is there for."""
    uses = {
        "live": live and live.generation.id,
        "of these settings": workspace.generation.id,
        "held back": live and live.held,
        "way back": live and live.previous and live.previous.id,
    }
    return [use for use, generation in uses.items() if generation == known.id]


def _plain(workspace: Workspace, known: Generation, uses: list[str], refusal: str) -> dict[str, object]:
    """A generation for programs; ``refused`` says why the one of these settings is not promoted."""
    refused = refusal if known.id == workspace.generation.id else ""
    return known.model_dump() | {"use": uses, "entries": _entries(workspace, known), "refused": refused}


def _entries(workspace: Workspace, known: Generation) -> int:
    return workspace.catalog.open(known).count()


def _print(workspace: Workspace, rows: list[tuple[Generation, list[str]]]) -> None:
    table = new_table("generation", "made", "embedding model", "chunker", "entries", "")
    for known, uses in rows:
        style = "bold green" if "live" in uses else ""
        made, entries = when(known.created_at), str(_entries(workspace, known))
        model = escape(known.embedding_model)
        table.add_row(known.id, made, model, escape(known.chunker), entries, ", ".join(uses), style=style)
    out.print(table)
