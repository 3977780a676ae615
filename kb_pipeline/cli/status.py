"""``kb status`` and ``kb failures``: the state of the knowledge base, and the articles that fail."""

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from rich.markup import escape
from rich.padding import Padding
from rich.table import Table

from kb_pipeline.cli.console import AsJson, err, named, out, print_json, when
from kb_pipeline.cli.processes import who_serves
from kb_pipeline.flow.workspace import Workspace, open_workspace
from kb_pipeline.intake.folders import origin_of
from kb_pipeline.records import Usage
from kb_pipeline.settings import Settings, load_settings
from kb_pipeline.store.state import FIX_IT, ArticleState, BuildFailure, load_states
from kb_pipeline.upkeep.status import NO_ARTICLES, Status, read_status
from kb_pipeline.wording import counted

_MOST_LINES = 5
"""Lines of each kind, so that the state fits on a screen."""


def status(as_json: AsJson = False) -> None:
    """Show staged, published and failing articles, the index, failed checks, and model costs.

    Exit code 1: something needs attention.
    """
    settings = load_settings()
    current = read_status(open_workspace(settings))
    if as_json:
        print_json(_status_json(current, settings))
    else:
        _print_status(current, settings)
    sys.exit(1 if current.attention() else 0)


def _status_json(current: Status, settings: Settings) -> dict[str, object]:
    served = who_serves(settings)
    return {
        "staging": settings.staging,
        "home": settings.home,
        **asdict(current),
        "spent_in_all": current.overview.total_spent(),
        "needs_attention": current.attention(),
        "ui": served.url if served else None,
    }


def _print_status(current: Status, settings: Settings) -> None:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, line in _lines(current, settings):
        grid.add_row(name, line)
    out.print(grid)
    attention = current.attention()
    for problem, help_ in attention.items():
        out.print(f"[bold yellow]![/] {problem}: [bold]{help_}[/]", soft_wrap=True)
    if not attention:
        out.print("[bold green]✓[/] nothing needs attention")


def _lines(current: Status, settings: Settings) -> Iterator[tuple[str, str]]:
    served = who_serves(settings)
    yield "staging", escape(settings.staging)
    yield "home", escape(settings.home)
    yield "articles", _articles(current)
    for reason, count in Counter(stale.reason for stale in current.stale).most_common(_MOST_LINES):
        stale_ids = [stale.article_id for stale in current.stale if stale.reason == reason]
        yield "to ingest", f"[yellow]{count}[/] {escape(reason)} [dim]{named(stale_ids)}[/]"
    for reason in list(current.refused.values())[:_MOST_LINES]:
        yield "refused", f"[yellow]{escape(reason)}[/]"
    yield "index", _index(current, open_workspace(settings))
    if current.index.problem:
        yield "", f"[red]{escape(current.index.problem)}[/]"
    for damage in current.damaged_states[:_MOST_LINES]:
        yield "damaged", f"[yellow]{escape(damage)}[/]"
    for article_id, reason in list(current.hidden.items())[:_MOST_LINES]:
        yield "hidden", f"[yellow]{escape(article_id)}: {escape(reason)}[/]"
    if current.refusal:
        yield "", f"[yellow]{escape(current.refusal)}[/]"
    for name, ids in _index_problems(current).items():
        yield "", f"[yellow]{len(ids)} {name}[/] [dim]{named(ids)}[/]"
    for check in current.overview.checks.values():
        if check.failed:
            yield "check", f"[yellow]{check.name}[/] failed in {len(check.failed)}: {named(list(check.failed))}"
            yield "", f"[dim]{escape(next(iter(check.failed.values())).message)}[/]"
    yield "spent", _spent(current.overview.total_spent())
    if current.last_run and current.last_run.id:
        yield "last run", f"{when(current.last_run.at)}  [dim]{current.last_run.id}[/]"
    yield "Dagster", f"{served.url} (process {served.pid})" if served else "not running; start it with: kb serve"


def _articles(current: Status) -> str:
    overview = current.overview
    failing = f"[red]{len(overview.failures)} failing[/]" if overview.failures else "0 failing"
    counts = [f"{current.staged} staged", f"[green]{overview.published} published[/]", failing]
    if overview.behind:
        counts.append(f"{len(overview.behind)} of them published in an older version")
    if overview.pinned:
        counts.append(f"{len(overview.pinned)} rolled back ({named(list(overview.pinned))})")
    return ", ".join(counts)


def _index(current: Status, workspace: Workspace) -> str:
    index = current.index
    if current.live is None:
        return "damaged" if index.problem else escape(str(workspace.no_index()))
    live = current.live.generation
    generation = f"generation {live.id} ({escape(live.embedding_model)})"
    if live.id == index.generation:
        return f"{generation}: {counted(index.articles, 'article')}, {counted(index.entries, 'entry', 'entries')}"
    state = "held back" if current.live.held == index.generation else "refused" if current.refusal else "being built"
    progress = f"{index.articles} of {current.overview.published} articles"
    return f"{generation} is live; {index.generation} is {state}: {progress}"


def _index_problems(current: Status) -> dict[str, tuple[str, ...]]:
    index = current.index
    problems = {
        "missing": index.missing,
        "stale": index.stale,
        "without files": index.unserved,
        "orphaned": index.orphaned,
        "gone from staging": index.unstaged,
        "waiting for the new generation": index.pending,
    }
    return {name: ids for name, ids in problems.items() if ids}


def _spent(usages: tuple[Usage, ...]) -> str:
    if not usages:
        return "nothing"
    unknown = (
        "" if all(usage.cost is not None for usage in usages) else " (without models that have no price; set KB_PRICES)"
    )
    cost = f"{sum(usage.cost or 0.0 for usage in usages):.2f}{unknown}"
    by_time = sorted(usages, key=lambda usage: -usage.seconds)[:3]
    return "; ".join(
        [cost, *(f"{escape(usage.model)}: {usage.calls} calls, {usage.seconds:.0f} s" for usage in by_time)]
    )


def failures(as_json: AsJson = False) -> None:
    """List the articles whose newest version could not be published, and what is refused, with what to do about each.

    Exit code 1: at least one article fails.
    """
    settings = load_settings()
    workspace = open_workspace(settings)
    listing = workspace.staging.list_articles(look_inside=True)
    staged = set(listing.article_ids)
    failing = [(state, state.failure) for state in load_states(workspace.layout) if state.failure]
    rows = [
        (state, failure, _advice(settings, state.article_id in staged, state.article_id, failure))
        for state, failure in failing
    ]
    if as_json:
        print_json([_failure_json(*row) for row in rows])
    elif rows:
        _print_failures(rows)
    else:
        err.print("no article fails")
    if listing.refused:
        err.print(f"{counted(len(listing.refused), *NO_ARTICLES)}; rename or fix them:")
        for reason in listing.refused.values():
            err.print(Padding(f"[yellow]{escape(reason)}[/]", (0, 0, 0, 3)))
    sys.exit(1 if rows else 0)


def _advice(settings: Settings, is_staged: bool, article_id: str, failure: BuildFailure) -> str:
    """What to do. What a source brought is mended there, because its next run writes it again."""
    if not is_staged:
        return "it is gone from staging: kb remove"
    origin = None if "://" in settings.staging else origin_of(Path(settings.staging), article_id)
    if origin is None:
        return failure.remedy
    return failure.remedy.replace(FIX_IT, f"fix it in the source {origin.source}, then: kb intake run")


def _failure_json(state: ArticleState, failure: BuildFailure, advice: str) -> dict[str, object]:
    return {
        "article_id": state.article_id,
        "kind": failure.kind,
        "published_version": state.published_version,
        "what_to_do": advice,
        **failure.model_dump(exclude={"transient", "defect"}),
    }


def _print_failures(rows: list[tuple[ArticleState, BuildFailure, str]]) -> None:
    for state, failure, advice in rows:
        published = "an older version" if state.published else "no version"
        colour = "yellow" if failure.transient else "red"
        tries = f"{failure.attempts} {'try' if failure.attempts == 1 else 'tries'} since {when(failure.first_at)}"
        error = failure.reason.removeprefix(f"{state.article_id}: ")
        out.print(
            f"[bold]{escape(state.article_id)}[/]  [{colour}]{failure.kind}[/] in {failure.layer}, {tries}, "
            f"{published} is published",
            soft_wrap=True,
        )
        out.print(Padding(f"{escape(error)}\n[dim]{advice}[/]", (0, 0, 1, 3)))
