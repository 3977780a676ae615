"""``kb ingest``: the staged articles, through Dagster, with a progress bar and a summary."""

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.markup import escape

from kb_pipeline.cli.console import err, named, print_json
from kb_pipeline.cli.options import AsJson, OnlyArticles, ThisAnalyzer
from kb_pipeline.cli.progress import Tally, build_with_bar
from kb_pipeline.cli.summary import document, summarise
from kb_pipeline.errors import SettingsError
from kb_pipeline.layers import Run
from kb_pipeline.settings import Settings, load_settings
from kb_pipeline.staging import StagingListing
from kb_pipeline.staleness import Stale, stale_articles
from kb_pipeline.workspace import open_workspace


def ingest(
    staging: Annotated[
        Path | None, typer.Option(help="Folder with one folder per article; default: KB_STAGING.")
    ] = None,
    article: OnlyArticles = None,
    analyzer: ThisAnalyzer = None,
    changed: Annotated[
        bool, typer.Option("--changed", help="Only what is new, changed, or made by other code or options; says why.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Ingest articles: convert, describe images, chunk, embed, index.

    What is still good is not made again. Exit code 1: some articles failed, or a folder is no article.
    """
    if changed and article:
        raise SettingsError("--changed finds the articles by itself; leave out --article")
    given = {"staging": str(staging) if staging else None, "analyzer": analyzer}
    settings = load_settings(**{name: value for name, value in given.items() if value})
    workspace = open_workspace(settings)
    _ = workspace.analyzer  # a wrong name is said before anything begins
    listing = workspace.staging.list_articles()
    for reason in listing.refused.values():
        err.print(f"[yellow]refused:[/] {escape(reason)}", soft_wrap=True)
    if changed:
        _ingest_changed(settings, listing, as_json=as_json)
    _ingest(settings, listing, article or [], as_json=as_json)


def _ingest(settings: Settings, listing: StagingListing, articles: Sequence[str], *, as_json: bool) -> NoReturn:
    if strangers := sorted(set(articles) - set(listing.article_ids)):
        raise SettingsError(f"no article in {settings.staging}: {', '.join(strangers)}")
    ids = list(dict.fromkeys(articles or listing.article_ids))
    if not ids:
        err.print(f"nothing to ingest: {settings.staging} holds no article folder", markup=False)
    _run(settings, "ingest_articles", ids, listing, as_json=as_json)


def _ingest_changed(settings: Settings, listing: StagingListing, *, as_json: bool) -> NoReturn:
    stale = stale_articles(open_workspace(settings), Run("look", ""))
    for reason, count in Counter(article.reason for article in stale).most_common():
        which = [article.article_id for article in stale if article.reason == reason]
        err.print(f"[bold]{count}[/] {escape(reason)}: {named(which, 5)}", soft_wrap=True)
    if not stale:
        err.print("nothing to ingest: every article is as its source, the code and the options make it")
    ids = [article.article_id for article in stale]
    _run(settings, "refresh_stale_articles", ids, listing, stale=stale, as_json=as_json)


def _run(
    settings: Settings,
    job: str,
    article_ids: Sequence[str],
    listing: StagingListing,
    *,
    as_json: bool,
    stale: Sequence[Stale] | None = None,
) -> NoReturn:
    tally = Tally("ingesting", len(article_ids))
    config = {} if stale is not None else {"articles": article_ids}
    run = build_with_bar(settings, job, config, tally) if article_ids else None
    if run:
        summarise(tally, listing.refused)
    if as_json:
        why = {} if stale is None else {"stale": stale}
        print_json(document(run, tally, listing.refused) | why)
    sys.exit(1 if tally.failures or listing.refused else 0)
