"""``kb search``: the passages that match a query, best first."""

from typing import Annotated

import typer
from rich.markup import escape
from rich.padding import Padding

from kb_pipeline.cli.console import AsJson, err, out, print_json
from kb_pipeline.cli.documents import Types, document_filter
from kb_pipeline.cli.naming import check_not_mistyped
from kb_pipeline.flow.workspace import Workspace, open_workspace
from kb_pipeline.records import Chunk, SearchHit
from kb_pipeline.search.base import of_mode, split_modes
from kb_pipeline.settings import load_settings
from kb_pipeline.steps.chunk import plain_text
from kb_pipeline.store.audit import os_user

_MOST_CHARACTERS = 420
"""Characters of a passage: five lines of a terminal."""


def search(
    words: Annotated[str, typer.Argument(help="A question or keywords.")],
    top: Annotated[int, typer.Option(min=1, max=50, help="Number of passages.")] = 5,
    mode: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODE",
            help="How to search: hybrid (keywords and vectors combined; the default), keyword, vector. And what: poc "
            "(without sections that are left for later), production (with them), all; default: KB_MODE. Give the "
            "option twice for both.",
        ),
    ] = None,
    documents: Annotated[
        list[str] | None, typer.Option("--document", metavar="ID", help="Only in this document; can be repeated.")
    ] = None,
    types: Types = None,
    blocks: Annotated[
        str, typer.Option(help="What to search, with commas between: text (sections), image, document (summaries).")
    ] = "text",
    as_json: AsJson = False,
) -> None:
    """Search the knowledge base for passages."""
    kinds = tuple(dict.fromkeys(kind.strip() for kind in blocks.split(",") if kind.strip()))
    how, of_what = split_modes(mode or ())
    filters = document_filter(article_ids=documents, document_type=types, block_type=kinds)
    workspace = open_workspace(load_settings())
    deferred = of_mode(of_what or workspace.settings.mode)
    for article_id in documents or ():
        check_not_mistyped(workspace.layout, article_id)
    limits = filters.model_copy(update={"deferred": deferred})
    hits = workspace.reader().search(words, top=top, mode=how, filters=limits)
    article_ids = dict.fromkeys(hit.chunk.article_id for hit in hits)
    workspace.audit.add("search", os_user(), "terminal", articles=article_ids, text=words)
    if as_json:
        print_json([_hit_json(hit) for hit in hits])
        return
    if not hits:
        err.print("no matches")
    for number, hit in enumerate(hits, 1):
        _print_hit(number, hit, workspace)


def _hit_json(hit: SearchHit) -> dict[str, object]:
    chunk = hit.chunk
    return {
        "score": round(hit.score, 6),
        "article_id": chunk.article_id,
        "title": chunk.title,
        "section": chunk.section_header,
        "heading_path": list(chunk.heading_path),
        "passage": chunk.content,
        "images": list(chunk.image_urls),
        "source_url": chunk.source_url,
        "chunk_id": chunk.id,
        **({"pages": list(chunk.pages)} if chunk.pages else {}),
        **({"filename": chunk.filename} if chunk.filename else {}),
        **({"block_type": chunk.block_type} if chunk.block_type != "text" else {}),
    }


def _print_hit(number: int, hit: SearchHit, workspace: Workspace) -> None:
    chunk = hit.chunk
    path = " › ".join(chunk.heading_path) or chunk.title
    out.print(f"[bold]{number}. {escape(path)}[/]  [dim]{escape(chunk.article_id)}  {hit.score:.4f}[/]", soft_wrap=True)
    out.print(Padding(escape(_passage(chunk)), (0, 0, 0, 3)))
    for url in chunk.image_urls:
        out.print(f"   [cyan]{escape(str(workspace.layout.serving_root / url))}[/]", soft_wrap=True)
    out.print()


def _passage(chunk: Chunk) -> str:
    lines = plain_text(chunk.content).splitlines()
    if lines and lines[0].strip() == chunk.section_header:
        lines = lines[1:]  # already printed in the line above
    text = " ".join(" ".join(lines).split())
    return text if len(text) <= _MOST_CHARACTERS else text[:_MOST_CHARACTERS].rsplit(" ", 1)[0] + " …"
