"""``kb versions``: what an article can be put back to."""

from rich.markup import escape

from kb_pipeline.cli.console import err, new_table, out, print_json, when
from kb_pipeline.cli.options import Article, AsJson
from kb_pipeline.history import VersionEntry, list_versions
from kb_pipeline.settings import load_settings
from kb_pipeline.workspace import open_workspace


def versions(article: Article, as_json: AsJson = False) -> None:
    """List an article's published versions, newest first; any of them can be put back."""
    entries = list_versions(open_workspace(load_settings()), article)
    if as_json:
        print_json([_plain(entry) for entry in entries])
        return
    table = new_table("version", "published", "by run", "words", "images", "title", "")
    for entry in entries:
        version, manifest = entry.version, entry.manifest
        table.add_row(
            version.id,
            when(version.published_at),
            version.run_id[:8],
            str(manifest.counts.words),
            str(len(manifest.images)),
            escape(manifest.title),
            _mark(entry),
        )
    out.print(table)
    err.print(f"[dim]kb diff {escape(article)} OLD   kb rollback {escape(article)} VERSION[/]", soft_wrap=True)


def _mark(entry: VersionEntry) -> str:
    if entry.in_place:
        return "[green]readers see it[/]" + (", put back" if entry.pinned else "")
    return "to be put back" if entry.pinned else ""


def _plain(entry: VersionEntry) -> dict[str, object]:
    return {
        **entry.version.model_dump(),
        "in_place": entry.in_place,
        "put_back": entry.pinned,
        "title": entry.manifest.title,
        "counts": entry.manifest.counts,
        "provenance": entry.manifest.provenance,
    }
