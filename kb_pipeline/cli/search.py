"""``kb search``: the passages that answer, best first."""

import json
from typing import Annotated

import typer
from rich.markup import escape
from rich.padding import Padding

from kb_pipeline.cli.console import err, out
from kb_pipeline.records import Chunk, SearchHit, SearchMode
from kb_pipeline.settings import load_settings
from kb_pipeline.steps.chunk import plain_text
from kb_pipeline.workspace import Workspace, open_workspace

_PASSAGE = 420


def search(
    words: Annotated[str, typer.Argument(help="A question, or words.")],
    top: Annotated[int, typer.Option(min=1, max=50, help="How many passages.")] = 5,
    mode: Annotated[SearchMode, typer.Option(help="Both ways fused, words only, or meaning only.")] = "hybrid",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON array, for programs.")] = False,
) -> None:
    """Search the knowledge base."""
    workspace = open_workspace(load_settings())
    hits = workspace.reader().search(words, top=top, mode=mode)
    if as_json:
        out.print_json(json.dumps([_plain(hit) for hit in hits], ensure_ascii=False))
        return
    if not hits:
        err.print("no matches")
    for number, hit in enumerate(hits, 1):
        _print(number, hit, workspace)


def _plain(hit: SearchHit) -> dict[str, object]:
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
    }


def _passage(chunk: Chunk) -> str:
    lines = plain_text(chunk.content).splitlines()
    if lines and lines[0].strip() == chunk.section_header:
        lines = lines[1:]  # it is in the line above already
    text = " ".join(" ".join(lines).split())
    return text if len(text) <= _PASSAGE else text[:_PASSAGE].rsplit(" ", 1)[0] + " …"


def _print(number: int, hit: SearchHit, workspace: Workspace) -> None:
    chunk = hit.chunk
    path = " › ".join(chunk.heading_path) or chunk.title
    out.print(f"[bold]{number}. {escape(path)}[/]  [dim]{escape(chunk.article_id)}  {hit.score:.4f}[/]", soft_wrap=True)
    out.print(Padding(escape(_passage(chunk)), (0, 0, 0, 3)))
    for url in chunk.image_urls:
        out.print(f"   [cyan]{escape(str(workspace.layout.serving_root / url))}[/]", soft_wrap=True)
    out.print()
