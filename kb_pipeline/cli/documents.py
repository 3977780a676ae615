"""``kb documents``: the documents of the knowledge base with their facts, and what each is about."""

from collections.abc import Iterable
from typing import Annotated, cast, get_args

import typer
from pydantic import ValidationError
from rich.markup import escape

from kb_pipeline.cli.console import AsJson, err, new_table, out, print_json
from kb_pipeline.errors import SettingsError
from kb_pipeline.flow.workspace import open_workspace
from kb_pipeline.records import Chunk, DocumentSort
from kb_pipeline.search.base import SearchFilter
from kb_pipeline.settings import load_settings
from kb_pipeline.steps.main_file import INDEX_FILE

_SORTS = {"date": "upload_date", "type": "document_type", "pages": "page_count", "file": "filename"}
"""Short names of what documents are sorted by."""

Types = Annotated[list[str] | None, typer.Option("--type", help="Only documents of this type; can be repeated.")]


def documents(
    types: Types = None,
    departments: Annotated[
        list[str] | None, typer.Option("--department", help="Only documents of this department; can be repeated.")
    ] = None,
    since: Annotated[str, typer.Option(help="Only documents that came in on this day or later: 2024-05-31.")] = "",
    sort: Annotated[
        str, typer.Option(help="date, title, type, department, author, pages or file; a minus sign reverses it.")
    ] = "-date",
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Number of documents.")] = 20,
    as_json: AsJson = False,
) -> None:
    """List the documents with their types, departments, dates and pages, the newest first."""
    filters = document_filter(document_type=types, department=departments, upload_date=(since, "") if since else None)
    reader = open_workspace(load_settings()).reader()
    page = reader.index.documents(
        filters, sort=_sorted_by(sort.removeprefix("-")), descending=sort.startswith("-"), limit=limit
    )
    if as_json:
        print_json({"total": page.total, "documents": [document_json(row) for row in page.documents]})
        return
    table = new_table("document", "title", "type", "department", "author", "pages", "date")
    for row in page.documents:
        entry = row.entry
        is_told = entry.filename in ("", INDEX_FILE, row.article_id)  # the id of a loose document is its name
        file = "" if is_told else f"\n[dim]{escape(entry.filename)}[/]"
        facts = (entry.document_type, entry.department, entry.author, str(entry.page_count or ""), entry.upload_date)
        table.add_row(f"{escape(row.article_id)}{file}", escape(row.title), *map(escape, facts))
    if page.documents:
        out.print(table)
    shown = f"{len(page.documents)} of " if len(page.documents) < page.total else ""
    counted = f"{shown}{page.total} document{'s' * (page.total != 1)}"
    err.print(counted if page.total else "no documents; the filters may match none")


def document_filter(**limits: object) -> SearchFilter:
    """Make a filter of options of a command; empty ones do not limit.

    Raises:
        SettingsError: one is not what it must be.
    """
    try:
        return SearchFilter.model_validate({name: limit for name, limit in limits.items() if limit})
    except ValidationError as exc:
        problem = exc.errors()[0]
        reason = problem["msg"].removeprefix("Value error, ")
        raise SettingsError(f"{problem['loc'][0]}: {reason}") from exc


def document_json(row: Chunk) -> dict[str, object]:
    """A document row as programs get it."""
    entry = row.entry
    return {
        "article_id": row.article_id,
        "title": row.title,
        **entry.model_dump(exclude={"summary", "headings"}),
        "summary_brief": entry.summary.brief_text,
        "summary_standard": entry.summary.standard_text,
        "headings": [heading.model_dump() for heading in entry.headings],
        "source_url": row.source_url,
    }


def _sorted_by(name: str) -> DocumentSort:
    sort = _SORTS.get(name, name)
    if sort not in get_args(DocumentSort):
        names: Iterable[str] = dict.fromkeys([*_SORTS, "title", "department", "author"])
        raise SettingsError(f"--sort is {name[:40]!r}; it must be one of: {', '.join(names)}")
    return cast("DocumentSort", sort)
