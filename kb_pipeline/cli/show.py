"""The commands that show one published article or passage: ``kb show``, ``diff``, ``trace`` and ``versions``.

They only read. Not here: the state of all articles (:mod:`kb_pipeline.cli.status`).
"""

import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated

import typer
from rich.markup import escape
from rich.text import Text
from rich.tree import Tree

from kb_pipeline.cli.console import Article, AsJson, diff_style, err, out, print_facts, print_json, when
from kb_pipeline.cli.naming import check_not_mistyped
from kb_pipeline.cli.processes import ui_url
from kb_pipeline.errors import SearchError, SettingsError
from kb_pipeline.flow.agreement import findings_in
from kb_pipeline.flow.layers.chunks import load_chunks
from kb_pipeline.flow.layers.converted_markdown import pages_report
from kb_pipeline.flow.layers.serving_article import load_manifest
from kb_pipeline.flow.workspace import open_workspace
from kb_pipeline.records import Chunk, Manifest, PageInfo, PageReading, sections
from kb_pipeline.settings import load_settings
from kb_pipeline.steps.agreement.findings import statements_agree
from kb_pipeline.steps.chunk import plain_text
from kb_pipeline.steps.fingerprint import sha256
from kb_pipeline.steps.pages import PagedText, article_pages
from kb_pipeline.store.audit import AuditLog, os_user
from kb_pipeline.store.files import read_bytes
from kb_pipeline.store.layout import Layout
from kb_pipeline.store.staging import Staging
from kb_pipeline.store.state import load_state
from kb_pipeline.upkeep.trace import Trace
from kb_pipeline.upkeep.trace import trace as find_trace
from kb_pipeline.upkeep.versions import VersionEntry, compare_versions, list_versions
from kb_pipeline.wording import counted

_AROUND_PASTED_IDS = " \t\r\n\"'`“”‘’«»,;"
_READ_BY: dict[PageReading, str] = {
    "tags": "read by the document's own structure tags",
    "text": "read by its text and layout",
    "ocr": "read by OCR",
    "nothing": "with nothing to read",
    "unread": "not read completely: words of it are missing",
}
_PASSAGE_LINES = 3
"""Lines of a passage, enough to recognise it."""
_TRACE_WIDTH = 1000
"""Columns: longer than any address."""
_UNCHANGED, _CHANGED, _GONE = "unchanged", "changed since", "gone, or out of reach"


def show(
    article: Article,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print only the markdown.")] = False,
    page: Annotated[int | None, typer.Option(help="Show only this page of a document, counted from 1.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show the published markdown of an article, its provenance and its chunks."""
    if markdown and as_json:
        raise SettingsError("--markdown and --json are two formats; leave out one of them")
    settings = load_settings()
    layout = Layout.of(settings)
    folder = layout.serving(article)
    if not (folder / "manifest.json").is_file():
        check_not_mistyped(layout, article)
        advice = "" if settings.search_index else "; run: kb ingest"  # that index is filled by another program
        raise SettingsError(f"there is no published article {article!r} in {layout.serving_root}{advice}")
    AuditLog(settings).add("open", os_user(), "terminal", articles=[article], about=f"page {page}" if page else "")
    manifest = load_manifest(folder)
    paged = article_pages(read_bytes(folder / "article.md").decode(), manifest)
    if page is not None:
        _show_page(manifest, paged, page, markdown=markdown, as_json=as_json)
        return
    text = paged.text
    if markdown:
        sys.stdout.write(text)
        return
    chunks = _published_chunks(layout, article)
    if as_json:
        print_json({"article_id": article, "markdown": text, "manifest": manifest, "chunks": chunks})
        return
    out.print(text, markup=False)
    _print_manifest(layout, article, manifest, chunks)
    _print_chunks(chunks)


def _show_page(manifest: Manifest, paged: PagedText, number: int, *, markdown: bool, as_json: bool) -> None:
    page = next((one for one in manifest.pages if one.number == number), None)
    if page is None:
        last = max((one.number for one in manifest.pages), default=0)
        there = f"it has the pages 1 to {last}" if last else "it has no pages"
        raise SettingsError(f"{manifest.article_id} has no page {number}; {there}")
    text = paged.of_page(number)
    if as_json:
        print_json({"article_id": manifest.article_id, "page": page, "markdown": text})
    elif markdown:
        sys.stdout.write(text)
    else:
        out.print(text, markup=False)
        out.print(f"\n[dim]{_page_line(page)}, {page.words:,} words in the file[/]", soft_wrap=True)


def _page_line(page: PageInfo) -> str:
    label = f" (printed: {escape(page.label)})" if page.label else ""
    return f"page {page.number}{label}, {_READ_BY[page.read_by]}"


def _print_manifest(layout: Layout, article: str, manifest: Manifest, chunks: Sequence[Chunk]) -> None:
    rows = {
        "source": manifest.source_url or "",
        "language": manifest.language or "",
        "topics": ", ".join(chunks[0].key_topics if chunks else manifest.key_topics),
        **manifest.provenance.model_dump(),
    }
    rows["document"] = manifest.document.path if manifest.document else ""
    rows.update({name: str(value) for name, value in pages_report(manifest.pages).items()})
    rows["links to"] = ", ".join(sorted({link.article_id for link in manifest.article_links}))
    rows["warnings"] = "\n".join(manifest.warnings)
    failed = [check for layer in load_state(layout, article).layers.values() for check in layer.failed_checks]
    failed += [statements_agree(findings) for findings in findings_in(layout, [article]).values()]
    rows["checks"] = "\n".join(f"{check.name}: {check.message}" for check in failed)
    out.print(f"\n[bold]{escape(manifest.title)}[/]", soft_wrap=True)
    print_facts({name: str(value or "") for name, value in rows.items()})


def _published_chunks(layout: Layout, article: str) -> list[Chunk]:
    version = load_state(layout, article).published_version
    if version is None or not layout.chunks(article, version).is_file():
        return []
    return sections(load_chunks(layout, article, version))


def _print_chunks(chunks: Sequence[Chunk]) -> None:
    if chunks:
        out.print("\n[bold]chunks[/]")
    for chunk in chunks:
        path = escape(" › ".join(chunk.heading_path))
        size = f"{counted(len(chunk.content), 'character')}, {counted(len(chunk.image_urls), 'image')}"
        out.print(f"{chunk.chunk_index}  {path}  [dim]{size}[/]", soft_wrap=True)
        out.print(f"   {escape(chunk.id)}", soft_wrap=True)


def diff(
    article: Article,
    old: Annotated[str, typer.Argument(help="A version id or its beginning; kb versions lists them.")],
    new: Annotated[
        str | None, typer.Argument(help="The version to compare with; default: the one that readers see.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the differences between two versions of an article, in text and images, as a unified diff."""
    workspace = open_workspace(load_settings())
    check_not_mistyped(workspace.layout, article)
    other = new or next(entry.version.id for entry in list_versions(workspace, article) if entry.in_place)
    difference = compare_versions(workspace, article, old, other)
    workspace.audit.add("open", os_user(), "terminal", articles=[article], about=f"versions {old} and {other}")
    if as_json:
        print_json({"article_id": article, "old": old, "new": other, "diff": difference})
        return
    if not difference:
        err.print("the text and the images are the same")
    for line in difference.splitlines():
        out.print(Text(line, diff_style(line)), soft_wrap=True)


def trace(
    chunk: Annotated[str, typer.Argument(help="The chunk id that a citation or kb search --json shows.")],
    as_json: AsJson = False,
) -> None:
    """Trace a passage to its origin: source file, converter, models, version, runs and times."""
    settings = load_settings()
    workspace = open_workspace(settings)
    origin = find_trace(workspace, _clean_chunk_id(chunk))
    workspace.audit.add("open", os_user(), "terminal", articles=[origin.chunk.article_id], about=_clean_chunk_id(chunk))
    source = _source_now(origin, workspace.staging)
    runs_url = f"{ui_url(settings)}/runs/"
    if as_json:
        print_json(asdict(origin) | {"source_now": source, "runs_url": runs_url})
    else:
        out.width = max(out.width, _TRACE_WIDTH)  # rich cuts a tree at this width, and a cut URL is of no use
        out.print(_trace_tree(origin, source, runs_url), soft_wrap=True)


def _clean_chunk_id(pasted: str) -> str:
    chunk_id = pasted.strip(_AROUND_PASTED_IDS)
    if chunk_id.casefold().lstrip("[").startswith("ref #"):
        raise SearchError(f"{chunk_id} numbers a citation within one answer; use the chunk id that the citation shows")
    return chunk_id


def _source_now(origin: Trace, staging: Staging) -> str:
    try:
        data = staging.path(origin.chunk.article_id, origin.provenance.source_file).read_bytes()
    except Exception:  # each store raises its own; the rest of the trace is still useful
        return _GONE
    return _UNCHANGED if sha256(data) == origin.provenance.source_sha256 else _CHANGED


def _trace_tree(origin: Trace, source: str, runs_url: str) -> Tree:
    chunk, made = origin.chunk, origin.provenance
    tree = Tree(f"[bold]{escape(chunk.id)}[/]")
    passage = tree.add(f"[bold]{escape(' › '.join(chunk.heading_path) or chunk.title)}[/]")
    lines = [line for line in plain_text(chunk.content).splitlines() if line.strip() not in ("", chunk.section_header)]
    for line in lines[:_PASSAGE_LINES]:
        passage.add(escape(line))
    published = tree.add(f"article [bold]{escape(chunk.article_id)}[/], version {origin.version}")
    published.add(f"published {when(origin.published_at)} by {runs_url}{origin.published_by}")
    if chunk.source_url:
        published.add(f"original: {escape(chunk.source_url)}")
    file = tree.add(f"source {escape(origin.source_path)}")
    for page in origin.pages:
        file.add(_page_line(page))
    file.add(f"sha256 {made.source_sha256} [{'green' if source == _UNCHANGED else 'yellow'}]({source})[/]")
    for one in origin.contributions:
        described = f": {escape(one.description)}" if one.description else ""
        contribution = tree.add(f"contribution {one.id}{described}")
        contribution.add(f"by {escape(one.contributed_by or 'the service')}, {_on(one.contributed_at)}")
        contribution.add(f"accepted by {escape(one.accepted_by)}, {_on(one.accepted_at)}")
        if not one.is_recorded:
            contribution.add("[yellow]only its footnote says so; the queue has no such accepted contribution[/]")
    tools = tree.add("made with")
    tools.add(f"converter {escape(made.converter)}")
    tools.add(f"image model {escape(made.image_model)}, prompt version {escape(made.prompt_version)}")
    tools.add(f"embedding model {escape(origin.embedding_model)}")
    tools.add(f"generation {origin.generation.id} of the index, chunker {escape(origin.generation.chunker)}")
    _add_layers(tree, origin, runs_url)
    return tree


def _on(iso: str) -> str:
    return when(iso) if "T" in iso else iso


def _add_layers(tree: Tree, origin: Trace, runs_url: str) -> None:
    if not origin.layers:
        tree.add("layers: not shown, because a newer version was built that readers do not see")
        return
    layers = tree.add("layers")
    width = max(len(layer.layer) for layer in origin.layers)
    for layer in origin.layers:
        layers.add(f"{layer.layer:<{width}}  {when(layer.made_at)}  {runs_url}{layer.run_id}")


def versions(article: Article, as_json: AsJson = False) -> None:
    """List the published versions of an article, newest first. You can roll back to each of them."""
    workspace = open_workspace(load_settings())
    check_not_mistyped(workspace.layout, article)
    entries = list_versions(workspace, article)
    if as_json:
        print_json([_version_json(entry) for entry in entries])
        return
    for entry in entries:
        version, manifest = entry.version, entry.manifest
        size = f"{counted(manifest.counts.words, 'word')}, {counted(len(manifest.images), 'image')}"
        line = f"[bold]{version.id}[/]  {when(version.published_at)}  {size}  {_version_remark(entry)}"
        out.print(line.rstrip(), soft_wrap=True)
        out.print(f"   {escape(manifest.title)}", soft_wrap=True)
        out.print(f"   [dim]run {version.run_id}[/]", soft_wrap=True)
    err.print(f"[dim]kb diff {escape(article)} OLD   kb rollback {escape(article)} VERSION[/]", soft_wrap=True)


def _version_remark(entry: VersionEntry) -> str:
    if entry.in_place:
        return "[green]readers see it[/]" + (", rolled back" if entry.pinned else "")
    return "rollback pending" if entry.pinned else ""


def _version_json(entry: VersionEntry) -> dict[str, object]:
    return {
        **entry.version.model_dump(),
        "in_place": entry.in_place,
        "put_back": entry.pinned,
        "title": entry.manifest.title,
        "counts": entry.manifest.counts,
        "provenance": entry.manifest.provenance,
    }
