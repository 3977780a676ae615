"""``kb show``: one article as the index sees it."""

import sys
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from kb_pipeline.cli.console import err, out
from kb_pipeline.layers.chunks import load_chunks
from kb_pipeline.layers.serving_article import load_manifest
from kb_pipeline.layout import Layout
from kb_pipeline.settings import load_settings
from kb_pipeline.state import load_state
from kb_pipeline.storage import read_bytes


def show(
    article: Annotated[str, typer.Argument(help="The article's id: the name of its folder.")],
    markdown: Annotated[bool, typer.Option("--markdown", help="Only the markdown, as it is.")] = False,
) -> None:
    """Show an article's serving markdown, images, provenance and chunks."""
    layout = Layout.of(load_settings())
    folder = layout.serving(article)
    if not (folder / "manifest.json").is_file():
        err.print(f"there is no serving article {article!r} in {layout.serving_root}; run: kb ingest", markup=False)
        sys.exit(2)
    text = read_bytes(folder / "article.md").decode()
    if markdown:
        sys.stdout.write(text)
        return
    out.print(text, markup=False)
    _print_manifest(layout, article)
    _print_chunks(layout, article)


def _print_manifest(layout: Layout, article: str) -> None:
    manifest = load_manifest(layout.serving(article))
    rows = {
        "source": manifest.source_url or "",
        "language": manifest.language or "",
        **manifest.provenance.model_dump(),
    }
    rows["links to"] = ", ".join(sorted({link.article_id for link in manifest.article_links}))
    rows["warnings"] = "\n".join(manifest.warnings)
    table = Table("", "", show_header=False, title=escape(manifest.title))
    for name, value in rows.items():
        if value:
            table.add_row(name, escape(str(value)))
    out.print(table)


def _print_chunks(layout: Layout, article: str) -> None:
    version = load_state(layout, article).published_version
    if version is None or not layout.chunks(article, version).is_file():
        return
    table = Table("#", "section", "characters", "images", "id", title="chunks")
    for chunk in load_chunks(layout, article, version):
        path = escape(" › ".join(chunk.heading_path))
        table.add_row(str(chunk.chunk_index), path, str(len(chunk.content)), str(len(chunk.image_urls)), chunk.id)
    out.print(table)
