"""``kb ingest`` and ``kb retry``: build articles through Dagster, with a progress bar and a summary."""

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.markup import escape

from kb_pipeline.cli.console import AsJson, OnlyArticles, ThisAnalyzer, err, named, print_json
from kb_pipeline.cli.naming import did_you_mean
from kb_pipeline.cli.progress import ResultCounter, build_with_bar, document, summarise
from kb_pipeline.errors import SettingsError
from kb_pipeline.flow.layers import layers_between
from kb_pipeline.flow.stale import Stale, stale_articles
from kb_pipeline.flow.workspace import open_workspace
from kb_pipeline.settings import Settings, load_settings
from kb_pipeline.store.staging import StagingListing
from kb_pipeline.store.state import load_states


def ingest(
    staging: Annotated[
        Path | None, typer.Option(help="Folder that holds one folder per article; default: KB_STAGING.")
    ] = None,
    serving: Annotated[
        Path | None,
        typer.Option(
            "--serving",
            metavar="FOLDER",
            help="Folder of article.md and images/ that another program made; the same as --staging with "
            "KB_STAGING_HOLDS=serving.",
        ),
    ] = None,
    article: OnlyArticles = None,
    analyzer: ThisAnalyzer = None,
    changed: Annotated[
        bool, typer.Option("--changed", help="Only articles that are new, changed, or outdated; prints the reasons.")
    ] = False,
    first: Annotated[
        str | None,
        typer.Option("--from", metavar="LAYER", help="Start with this layer; earlier ones stay as they are."),
    ] = None,
    last: Annotated[
        str | None,
        typer.Option(
            "--until", metavar="LAYER", help="Stop after this layer; before search_index nothing is published."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Ingest articles: convert, describe images, chunk, embed, index.

    Reuses whatever is still up to date. Exit code 1: an article failed, or a folder in staging is not an article.
    """
    if changed and article:
        raise SettingsError("--changed selects the articles itself; leave out --article")
    if changed and (first or last):
        raise SettingsError("--changed makes whatever is stale in every layer; leave out --from and --until")
    if staging and serving:
        raise SettingsError("--staging and --serving both name the folder of articles; leave one out")
    names = [layer.name for layer in layers_between(first, last)]
    place = serving or staging
    options = {
        "staging": str(place) if place else None,
        "staging_holds": "serving" if serving else None,
        "analyzer": analyzer,
    }
    settings = load_settings(**{name: value for name, value in options.items() if value})
    workspace = open_workspace(settings)
    _ = workspace.analyzer  # a wrong name fails here, before anything starts
    listing = workspace.staging.list_articles(look_inside=True)
    for reason in listing.refused.values():
        err.print(f"[yellow]refused:[/] {escape(reason)}", soft_wrap=True)
    if changed:
        _ingest_changed(settings, listing, as_json=as_json)
    _ingest(settings, listing, article or [], names, as_json=as_json)


def _ingest(
    settings: Settings, listing: StagingListing, articles: Sequence[str], layers: Sequence[str], *, as_json: bool
) -> NoReturn:
    if not_staged := sorted(set(articles) - set(listing.article_ids)):
        hint = did_you_mean(not_staged, listing.article_ids)
        raise SettingsError(f"no article in {settings.staging}: {', '.join(not_staged)}{hint}")
    ids = list(dict.fromkeys(articles or listing.article_ids))
    if not ids:
        err.print(f"nothing to ingest: {settings.staging} holds no article folder", markup=False)
    config = {"articles": ids, "first_layer": layers[0], "last_layer": layers[-1]}
    _run(
        settings,
        "ingest_articles",
        config,
        ResultCounter("ingesting", len(ids), last=layers[-1]),
        listing,
        as_json=as_json,
    )


def _ingest_changed(settings: Settings, listing: StagingListing, *, as_json: bool) -> NoReturn:
    stale = stale_articles(open_workspace(settings))
    for reason, count in Counter(article.reason for article in stale).most_common():
        ids = [article.article_id for article in stale if article.reason == reason]
        err.print(f"[bold]{count}[/] {escape(reason)}: {named(ids, 5)}", soft_wrap=True)
    if not stale:
        err.print("nothing to ingest: every article is up to date with its source, the code and the settings")
    tally = ResultCounter("ingesting", len(stale))
    _run(settings, "refresh_stale_articles", {}, tally, listing, stale=stale, as_json=as_json)


def _run(
    settings: Settings,
    job: str,
    config: Mapping[str, object],
    tally: ResultCounter,
    listing: StagingListing,
    *,
    as_json: bool,
    stale: Sequence[Stale] | None = None,
) -> NoReturn:
    run = build_with_bar(settings, job, config, tally) if tally.total else None
    if run:
        summarise(tally, listing.refused)
    if as_json:
        print_json(document(run, tally, listing.refused) | ({} if stale is None else {"stale": stale}))
    sys.exit(1 if tally.failures or listing.refused else 0)


def retry(article: OnlyArticles = None, as_json: AsJson = False) -> None:
    """Retry the failing articles, and only those.

    Exit code 1: an article failed again.
    """
    settings = load_settings()
    states = {state.article_id: state for state in load_states(open_workspace(settings).layout)}
    if unknown := sorted(set(article or ()) - states.keys()):
        advice = did_you_mean(unknown, list(states)) or f"; run: kb ingest --article {unknown[0]}"
        raise SettingsError(f"never ingested: {', '.join(unknown)}{advice}")
    failing = [article_id for article_id in dict.fromkeys(article or states) if states[article_id].failure]
    if others := [article_id for article_id in article or () if article_id not in failing]:
        err.print(f"not failing, skipped: {named(others)}", soft_wrap=True)
    tally = ResultCounter("retrying", len(failing))
    run = build_with_bar(settings, "retry_failing_articles", {"articles": failing}, tally) if failing else None
    if run:
        summarise(tally, {})
    else:
        err.print("nothing to retry")
    if as_json:
        print_json(document(run, tally, {}))
    sys.exit(1 if tally.failures else 0)
