"""``kb verify``: articles made again from their source, and compared with what readers see."""

import sys
from collections.abc import Mapping
from typing import Annotated, Any

import typer
from rich.markup import escape

from kb_pipeline.cli.console import err, print_json
from kb_pipeline.cli.options import AsJson, OnlyArticles
from kb_pipeline.cli.progress import Tally, run_with_bar
from kb_pipeline.errors import SettingsError
from kb_pipeline.settings import load_settings
from kb_pipeline.state import known_articles
from kb_pipeline.workspace import open_workspace


def verify(
    article: OnlyArticles = None,
    everything: Annotated[bool, typer.Option("--all", help="Every article, not only this week's twelfth.")] = False,
    as_json: AsJson = False,
) -> None:
    """Make articles again from their source and compare: files, index, text. Pays for nothing.

    Exit code 1: something is not as it should be.
    """
    settings = load_settings()
    known = known_articles(open_workspace(settings).layout)
    if strangers := sorted(set(article or ()) - set(known)):
        raise SettingsError(f"nothing is known of {', '.join(strangers)}; run: kb ingest")
    if article and everything:
        raise SettingsError("--all is every article; leave out --article")
    ids = list(dict.fromkeys(article or ())) or (known if everything else [])
    tally = Tally("verifying", len(ids) or None)
    run = run_with_bar(settings, "verify_published", {"articles": ids}, tally)
    results = [_plain(seen.article, seen.metadata) for seen in run.observed("search_index")]
    for result in results:
        for problem in result["problems"]:
            err.print(f"[red]wrong:[/] {escape(result['article_id'])}: {escape(problem)}", soft_wrap=True)
    skipped = sum(bool(result["skipped"]) for result in results)
    err.print(
        f"{len(results)} articles verified, [{'red' if tally.failures else 'green'}]{len(tally.failures)} not as they "
        f"should be[/], {skipped} not compared with their source"
    )
    if as_json:
        print_json({"run_id": run.id, "articles": results})
    sys.exit(1 if tally.failures else 0)


def _plain(article: str | None, metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {"article_id": article, "problems": metadata["problems"], "skipped": metadata["skipped"]}
