"""``kb generations``: the generations of the index, which one readers use, and how to switch."""

import sys
from typing import Annotated

import typer
from rich.markup import escape

from kb_pipeline.cli.console import AsJson, err, new_table, out, print_json, when
from kb_pipeline.cli.run_job import run_job
from kb_pipeline.evaluation.gate import find_refusal
from kb_pipeline.flow.workspace import Workspace, open_workspace
from kb_pipeline.search.catalog import Generation, LiveIndex
from kb_pipeline.settings import load_settings


def generations(
    switch: Annotated[str | None, typer.Option(metavar="ID", help="Switch readers to this generation.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the generations of the index, or switch readers to another one.

    A new embedding model or chunking builds a new generation beside the live one. Readers are switched to it once it
    holds every article and finds known answers as well. The previous generation is kept, so that you can switch back.
    """
    settings = load_settings()
    workspace = open_workspace(settings)
    if switch:
        run_job(settings, "switch_generation", {"generation": switch}).require_success()
    live = workspace.catalog.live()
    rows = [(generation, _uses(generation, live, workspace)) for generation in workspace.catalog.generations()]
    refusal = find_refusal(workspace, live.generation.id) if live else ""
    if as_json:
        print_json([_as_json(workspace, generation, uses, refusal) for generation, uses in rows])
    elif rows:
        _print(workspace, rows)
        if refusal:
            err.print(f"[red]refused:[/] {escape(refusal)}", soft_wrap=True)
    else:
        err.print(str(workspace.no_index()), markup=False, soft_wrap=True)
        sys.exit(1)


def _uses(generation: Generation, live: LiveIndex | None, workspace: Workspace) -> list[str]:
    ids = {
        "live": live and live.generation.id,
        "current settings": workspace.generation.id,
        "held back": live and live.held,
        "previous": live and live.previous and live.previous.id,
    }
    return [use for use, generation_id in ids.items() if generation_id == generation.id]


def _as_json(workspace: Workspace, generation: Generation, uses: list[str], refusal: str) -> dict[str, object]:
    """A generation as JSON; ``refused`` is why the generation of these settings is not promoted."""
    return generation.model_dump() | {
        "use": uses,
        "entries": workspace.catalog.open(generation).count_of("text"),
        "refused": refusal if generation.id == workspace.generation.id else "",
    }


def _print(workspace: Workspace, rows: list[tuple[Generation, list[str]]]) -> None:
    table = new_table("generation", "created", "embedding model", "chunker", "entries", "")
    table.columns[0].no_wrap = True  # its id is copied, for --switch
    for generation, uses in rows:
        table.add_row(
            generation.id,
            when(generation.created_at),
            escape(generation.embedding_model),
            escape(generation.chunker),
            str(workspace.catalog.open(generation).count_of("text")),
            ", ".join(uses),
            style="bold green" if "live" in uses else "",
        )
    out.print(table)
