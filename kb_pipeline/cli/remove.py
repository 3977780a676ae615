"""``kb remove``: articles that are gone from staging go from index, serving and all layers."""

import sys
from typing import Annotated

import typer

from kb_pipeline.cli.console import err, named, print_json
from kb_pipeline.cli.options import AsJson
from kb_pipeline.cli.run_job import run_job
from kb_pipeline.errors import KnowledgeBaseError, SettingsError
from kb_pipeline.removal import gone_from_staging
from kb_pipeline.settings import Settings, load_settings
from kb_pipeline.state import known_articles
from kb_pipeline.workspace import open_workspace


def remove(
    article: Annotated[list[str] | None, typer.Argument(help="Ids of articles that are gone from staging.")] = None,
    missing: Annotated[bool, typer.Option("--missing", help="Every article that is gone from staging.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask, also when it is a large share of all.")] = False,
    as_json: AsJson = False,
) -> None:
    """Remove articles that are gone from staging: from the index, from what readers see, from all layers.

    An article that is still staged would only come back, and is refused: move its folder away first.
    """
    if bool(article) == missing:
        raise SettingsError("name articles, or say --missing")
    settings = load_settings()
    gone = _missing(settings) if missing else _named(settings, list(dict.fromkeys(article or ())))
    if not gone:
        err.print("nothing to remove: every known article is in staging")
    elif missing and not yes:
        _ask(gone)
    run = run_job(settings, "remove_articles", {"articles": gone, "confirm_mass_removal": yes}) if gone else None
    if run:
        run.require_success()
        # one may be staged again by now
        gone = [o.article for o in run.observed("search_index") if o.article and o.metadata.get("removed")]
        err.print(f"[green]{len(gone)} articles removed[/]: {named(gone, 10)}", soft_wrap=True)
    if as_json:
        print_json({"run_id": run.id if run else None, "removed": gone})


def _missing(settings: Settings) -> list[str]:
    workspace = open_workspace(settings)
    return gone_from_staging(workspace, known_articles(workspace.layout))[0]


def _named(settings: Settings, articles: list[str]) -> list[str]:
    workspace = open_workspace(settings)
    gone, staged = gone_from_staging(workspace, articles)
    if staged:
        raise SettingsError(
            f"still in {settings.staging}: {', '.join(staged)}; they would only come back, so move their folders "
            "away first"
        )
    if unknown := sorted(set(gone) - set(known_articles(workspace.layout))):
        raise SettingsError(f"nothing is known of {', '.join(unknown)}; it was removed already, or never ingested")
    return gone


def _ask(gone: list[str]) -> None:
    """Show what would go; without a terminal nobody can say yes."""
    err.print(f"gone from staging: {len(gone)} articles: {named(gone, 10)}", soft_wrap=True)
    if not sys.stdin.isatty():
        raise KnowledgeBaseError("nothing was removed; say --yes to remove them")
    typer.confirm("Remove them?", abort=True, err=True)
