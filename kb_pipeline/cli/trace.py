"""``kb trace``: from a passage back to its source, and to everything that made it."""

from dataclasses import asdict
from typing import Annotated

import typer
from rich.markup import escape
from rich.tree import Tree

from kb_pipeline.cli.console import out, print_json, when
from kb_pipeline.cli.options import AsJson
from kb_pipeline.cli.serve_lock import ui_url
from kb_pipeline.errors import SearchError
from kb_pipeline.lineage import Trace
from kb_pipeline.lineage import trace as find_trace
from kb_pipeline.settings import load_settings
from kb_pipeline.staging import Staging
from kb_pipeline.steps.chunk import plain_text
from kb_pipeline.steps.fingerprint import sha256
from kb_pipeline.workspace import open_workspace

_AROUND = " \t\r\n\"'`“”‘’«»,;"
_LINES = 3
_WIDTH = 160
_UNCHANGED, _CHANGED, _GONE = "unchanged", "changed since", "gone, or out of reach"


def trace(
    chunk: Annotated[str, typer.Argument(help="Id of a chunk, as kb search --json or a citation shows it.")],
    as_json: AsJson = False,
) -> None:
    """Show where a passage came from: source file, converter, models, versions, runs and times."""
    settings = load_settings()
    workspace = open_workspace(settings)
    found = find_trace(workspace, _cleaned(chunk))
    source = _source_now(found, workspace.staging)
    url = f"{ui_url(settings)}/runs/"
    if as_json:
        print_json(asdict(found) | {"source_now": source, "runs_url": url})
    else:
        out.width = max(out.width, _WIDTH)  # a tree is cut at it, and half a run's address is none
        out.print(_tree(found, source, url), soft_wrap=True)


def _cleaned(pasted: str) -> str:
    chunk_id = pasted.strip(_AROUND)
    if chunk_id.casefold().lstrip("[").startswith("ref #"):
        raise SearchError(f"{chunk_id} is a number within one answer; give the chunk id that its citation shows")
    return chunk_id


def _source_now(found: Trace, staging: Staging) -> str:
    try:
        data = (staging.root / found.chunk.article_id / found.provenance.source_file).read_bytes()
    except Exception:  # each store's client has its own; the rest of the trace is worth showing
        return _GONE
    return _UNCHANGED if sha256(data) == found.provenance.source_sha256 else _CHANGED


def _tree(found: Trace, source: str, url: str) -> Tree:
    chunk, made = found.chunk, found.provenance
    tree = Tree(f"[bold]{escape(chunk.id)}[/]")
    passage = tree.add(f"[bold]{escape(' › '.join(chunk.heading_path) or chunk.title)}[/]")
    lines = [line for line in plain_text(chunk.content).splitlines() if line.strip() not in ("", chunk.section_header)]
    for line in lines[:_LINES]:
        passage.add(escape(line))
    published = tree.add(f"article [bold]{escape(chunk.article_id)}[/], version {found.version}")
    published.add(f"published {when(found.published_at)} by {url}{found.published_by}")
    if chunk.source_url:
        published.add(f"original: {escape(chunk.source_url)}")
    file = tree.add(f"source {escape(found.source_path)}")
    file.add(f"sha256 {made.source_sha256} [{'green' if source == _UNCHANGED else 'yellow'}]({source})[/]")
    tools = tree.add("made with")
    tools.add(f"converter {escape(made.converter)}")
    tools.add(f"image model {escape(made.image_model)}, prompt version {escape(made.prompt_version)}")
    tools.add(f"embedding model {escape(found.embedding_model)}")
    tools.add(f"generation {found.generation.id} of the index, chunker {escape(found.generation.chunker)}")
    _add_layers(tree, found, url)
    return tree


def _add_layers(tree: Tree, found: Trace, url: str) -> None:
    if not found.layers:
        tree.add("layers: a newer version was made since, and is not the one that readers see")
        return
    layers = tree.add("layers")
    width = max(len(layer.layer) for layer in found.layers)
    for layer in found.layers:
        layers.add(f"{layer.layer:<{width}}  {when(layer.made_at)}  {url}{layer.run_id}")
