"""The commands that check and repair what is published: ``kb remove``, ``reconcile``, ``rollback`` and ``verify``.

Each runs a Dagster job and reports its result; the work itself is in :mod:`kb_pipeline.upkeep`.
"""

import sys
from typing import Annotated

import typer
from rich.markup import escape

from kb_pipeline.cli.console import Article, AsJson, OnlyArticles, err, named, print_json
from kb_pipeline.cli.naming import check_not_mistyped, did_you_mean
from kb_pipeline.cli.progress import ResultCounter, document, run_with_bar, summarise
from kb_pipeline.cli.run_job import run_job
from kb_pipeline.errors import KnowledgeBaseError, SettingsError
from kb_pipeline.flow.index_state import IndexState
from kb_pipeline.flow.workspace import Workspace, open_workspace
from kb_pipeline.settings import load_settings
from kb_pipeline.store.state import known_articles, load_state
from kb_pipeline.upkeep.reconcile import compare
from kb_pipeline.upkeep.remove import gone_from_staging, leftovers
from kb_pipeline.upkeep.versions import list_versions
from kb_pipeline.wording import counted


def remove(
    article: Annotated[list[str] | None, typer.Argument(help="Ids of articles that are no longer in staging.")] = None,
    missing: Annotated[
        bool, typer.Option("--missing", help="Remove every article that is no longer in staging.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask, even for a large share of all articles.")] = False,
    as_json: AsJson = False,
) -> None:
    """Remove articles that are no longer in staging from the index, the serving folder and all layers.

    Refuses an article that is still in staging, because the next ingest would bring it back: move its folder away
    first.
    """
    if bool(article) == missing:
        raise SettingsError("name the articles to remove, or use --missing")
    settings = load_settings()
    workspace = open_workspace(settings)
    ingested = known_articles(workspace.layout)
    removable = [*ingested, *leftovers(workspace, ingested)]
    if missing:
        gone = gone_from_staging(workspace, removable)[0]
    else:
        gone = _check_named(workspace, list(dict.fromkeys(article or ())), removable)
    if not gone:
        err.print("nothing to remove: every article is still in staging")
    elif missing and not yes:
        _confirm_removal(gone)
    run = run_job(settings, "remove_articles", {"articles": gone, "confirm_mass_removal": yes}) if gone else None
    if run:
        run.require_success()
        # an article that was staged again in the meantime is not removed
        gone = [o.article for o in run.observed("search_index") if o.article and o.metadata.get("removed")]
        err.print(f"[green]{counted(len(gone), 'article')} removed[/]: {named(gone, 10)}", soft_wrap=True)
    if as_json:
        print_json({"run_id": run.id if run else None, "removed": gone})


def _check_named(workspace: Workspace, articles: list[str], removable: list[str]) -> list[str]:
    gone, staged = gone_from_staging(workspace, articles)
    if staged:
        raise SettingsError(
            f"still in {workspace.settings.staging}: {', '.join(staged)}; the next ingest would bring them back, so "
            "move their folders away first"
        )
    if unknown := sorted(set(gone) - set(removable)):
        advice = did_you_mean(unknown, removable) or "; they were removed already, or never ingested"
        raise SettingsError(f"unknown articles: {', '.join(unknown)}{advice}")
    return gone


def _confirm_removal(gone: list[str]) -> None:
    err.print(
        f"{counted(len(gone), 'article is', 'articles are')} no longer in staging: {named(gone, 10)}", soft_wrap=True
    )
    if not sys.stdin.isatty():
        raise KnowledgeBaseError("nothing was removed; add --yes to remove them")
    typer.confirm("Remove them?", abort=True, err=True)


_PROBLEMS = {
    "missing": "published, but not in the index",
    "stale": "in the index with other sections than were published",
    "unserved": "published, but their files are missing",
    "orphaned": "in the index or the serving folder, but of no article",
    "pending": "not yet in this generation of the index",
    "unstaged": "no longer in staging; run: kb remove --missing",
}
_REPAIRS = {
    "published_again": "published again",
    "removed": "removed",
    "to_build": "rebuilt, because their files could not simply be restored",
    "dropped_generations": "generations of the index dropped",
    "mended": "damaged files or tables restored or rebuilt",
    "lost": "lost for good",
}


def reconcile(article: OnlyArticles = None, as_json: AsJson = False) -> None:
    """Repair the index and the serving files: republish what is missing or stale, remove what belongs to no article.

    Nothing is described or embedded twice. --article republishes an article in any case, for damage that kb verify
    found. Exit code 1: something is still wrong.
    """
    settings = load_settings()
    workspace = open_workspace(settings)
    _require_ingested(article, known_articles(workspace.layout))
    before = compare(workspace)
    _print_problems(before, "wrong")
    tally = ResultCounter("repairing")
    run = run_with_bar(settings, "reconcile", {"articles": article or []}, tally)
    if not run.observed("index_state"):
        run.require_success()
    first, *others = run.observed("index_state")
    lost = [text for observation in (first, *others) for text in observation.metadata.get("lost", [])]
    metadata = {**first.metadata, "lost": lost}
    repairs = {name: metadata[name] for name in _REPAIRS}
    after = compare(workspace)
    for name, meaning in _REPAIRS.items():
        if repairs[name]:
            err.print(f"{len(repairs[name])} {meaning} ({named(repairs[name])})", soft_wrap=True, markup=False)
    if tally.articles:
        summarise(tally, {})
    _print_problems(after, "still wrong")
    if not run.success:
        err.print(f"[red]still wrong:[/] {escape(run.error)}", soft_wrap=True)
    elif after.is_good:
        err.print("[green]readers find exactly what was published[/]")
    if as_json:
        print_json({"before": before, "repaired": repairs, "after": after, "built": document(run, tally, {})})
    sys.exit(0 if after.is_good and run.success and not tally.failures else 1)


def _require_ingested(articles: list[str] | None, ingested: list[str]) -> None:
    if unknown := sorted(set(articles or ()) - set(ingested)):
        advice = did_you_mean(unknown, ingested) or "; run: kb ingest"
        raise SettingsError(f"never ingested: {', '.join(unknown)}{advice}")


def _print_problems(state: IndexState, word: str) -> None:
    for name, meaning in _PROBLEMS.items():
        ids: tuple[str, ...] = getattr(state, name)
        if ids:
            err.print(f"[yellow]{word}:[/] {len(ids)} {meaning} ({named(ids)})", soft_wrap=True)
    if state.problem:
        err.print(f"[yellow]{word}:[/] {escape(state.problem)}", soft_wrap=True)
    if state.doubled_entries:
        err.print(f"[yellow]{word}:[/] {state.doubled_entries} duplicate entries")


def rollback(
    article: Article,
    version: Annotated[
        str | None, typer.Argument(help="A version id or its beginning; default: the previous version.")
    ] = None,
    release: Annotated[
        bool, typer.Option("--release", help="Undo a rollback: publish the current source again.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Roll an article back to an earlier version, until its source changes or you release it.

    Exit code 1: the version could not be published.
    """
    if release and version:
        raise SettingsError("--release publishes the current source; leave out the version")
    settings = load_settings()
    workspace = open_workspace(settings)
    check_not_mistyped(workspace.layout, article)
    list_versions(workspace, article)  # an unknown article fails here, before a run starts
    tally = ResultCounter("publishing", 1)
    config = {"article": article, "version": version or "", "release": release}
    run = run_with_bar(settings, "rollback_article", config, tally)
    if tally.failures:
        summarise(tally, {})
    state = load_state(workspace.layout, article)
    if not tally.failures:
        undo = f"until its source changes; undo: kb rollback {article} --release" if state.pinned_version else ""
        err.print(f"[green]readers now see version {state.published_version}[/] {escape(undo)}", soft_wrap=True)
    if as_json:
        versions = {"published_version": state.published_version, "put_back": state.pinned_version}
        print_json(versions | document(run, tally, {}))
    sys.exit(1 if tally.failures else 0)


def verify(
    article: OnlyArticles = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Verify every article, not only this week's twelfth.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Rebuild articles from their sources and compare them with the published files and the index. Costs nothing.

    Exit code 1: an article differs.
    """
    settings = load_settings()
    ingested = known_articles(open_workspace(settings).layout)
    _require_ingested(article, ingested)
    if article and everything:
        raise SettingsError("--all verifies every article; leave out --article")
    ids = list(dict.fromkeys(article or ())) or (ingested if everything else [])
    tally = ResultCounter("verifying", len(ids) or None)
    run = run_with_bar(settings, "verify_published", {"articles": ids}, tally)
    results = [
        {"article_id": o.article, "problems": o.metadata["problems"], "skipped": o.metadata["skipped"]}
        for o in run.observed("search_index")
    ]
    for result in results:
        for problem in result["problems"]:
            err.print(f"[red]wrong:[/] {escape(result['article_id'])}: {escape(problem)}", soft_wrap=True)
    skipped = sum(bool(result["skipped"]) for result in results)
    err.print(
        f"{counted(len(results), 'article')} verified, [{'red' if tally.failures else 'green'}]{len(tally.failures)} "
        f"with problems[/], {skipped} not compared with their source"
    )
    if ingested and not results:
        err.print("no article is in this week's twelfth; verify them all: kb verify --all")
    if as_json:
        print_json({"run_id": run.id, "articles": results})
    sys.exit(1 if tally.failures else 0)
