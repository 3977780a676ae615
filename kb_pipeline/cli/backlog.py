"""``kb backlog``: what the articles leave for later."""

from typing import Annotated

import typer
from rich.markup import escape

from kb_pipeline.cli.console import AsJson, err, out, print_json
from kb_pipeline.cli.naming import check_not_mistyped
from kb_pipeline.flow.workspace import open_workspace
from kb_pipeline.settings import load_settings
from kb_pipeline.upkeep.backlog import backlog as read_backlog


def backlog(
    article: Annotated[str | None, typer.Argument(help="Only this article; default: all.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the items of sections that are left for later (KB_DEFERRED_SECTIONS)."""
    workspace = open_workspace(load_settings())
    if article:
        check_not_mistyped(workspace.layout, article)
    sections = list(read_backlog(workspace, article))
    if as_json:
        print_json(sections)
        return
    for each in sections:
        out.print(f"[bold]{escape(each.title)}[/]  [dim]{escape(each.article_id)}[/]", soft_wrap=True)
        for section in each.sections:
            out.print(f"  [dim]{escape(' › '.join(section.heading_path))}[/]", soft_wrap=True)
            for item in section.items:
                out.print(f"  - {escape(item)}", soft_wrap=True)
    items = sum(len(each.items) for each in sections)
    if sections:
        err.print(f"{items} item{'s' * (items != 1)} in {len(sections)} article{'s' * (len(sections) != 1)}")
    else:
        err.print(f"nothing is left for later in {article or 'the published articles'}")
