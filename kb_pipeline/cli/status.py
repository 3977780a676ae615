"""``kb status``: the knowledge base at a glance."""

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict

from rich.markup import escape
from rich.table import Table

from kb_pipeline.cli.console import named, out, print_json, when
from kb_pipeline.cli.glance import Status, look
from kb_pipeline.cli.options import AsJson
from kb_pipeline.cli.serve_lock import who_serves
from kb_pipeline.records import Usage
from kb_pipeline.settings import Settings, load_settings
from kb_pipeline.workspace import open_workspace

_SHOWN = 5


def status(as_json: AsJson = False) -> None:
    """Show what is staged, published, failing, waiting; the index, the checks, the cost.

    Exit code 1: something needs attention.
    """
    settings = load_settings()
    seen = look(open_workspace(settings))
    attention = seen.attention()
    if as_json:
        print_json(_plain(seen, settings))
    else:
        _print(seen, settings)
    sys.exit(1 if attention else 0)


def _plain(seen: Status, settings: Settings) -> dict[str, object]:
    served = who_serves(settings)
    return {
        "staging": settings.staging,
        "home": settings.home,
        **asdict(seen),
        "spent_in_all": seen.overview.total_spent(),
        "needs_attention": seen.attention(),
        "ui": served.url if served else None,
    }


def _print(seen: Status, settings: Settings) -> None:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, line in _lines(seen, settings):
        grid.add_row(name, line)
    out.print(grid)
    attention = seen.attention()
    for problem, help_ in attention.items():
        out.print(f"[bold yellow]![/] {problem}: [bold]{help_}[/]", soft_wrap=True)
    if not attention:
        out.print("[bold green]✓[/] everything is as it should be")


def _lines(seen: Status, settings: Settings) -> Iterator[tuple[str, str]]:
    served = who_serves(settings)
    yield "staging", escape(settings.staging)
    yield "home", escape(settings.home)
    yield "articles", _articles(seen)
    for reason, count in Counter(stale.reason for stale in seen.stale).most_common(_SHOWN):
        which = [stale.article_id for stale in seen.stale if stale.reason == reason]
        yield "to ingest", f"[yellow]{count}[/] {escape(reason)} [dim]{named(which)}[/]"
    for reason in list(seen.refused.values())[:_SHOWN]:
        yield "refused", f"[yellow]{escape(reason)}[/]"
    yield "index", _index(seen)
    if seen.refusal:
        yield "", f"[yellow]{escape(seen.refusal)}[/]"
    for name, ids in _wrong(seen).items():
        yield "", f"[yellow]{len(ids)} {name}[/] [dim]{named(ids)}[/]"
    for check in seen.overview.checks.values():
        if check.failed:
            yield "check", f"[yellow]{check.name}[/] did not pass in {len(check.failed)}: {named(list(check.failed))}"
    yield "spent", _spent(seen.overview.total_spent())
    if seen.last_run and seen.last_run.id:
        yield "last run", f"{when(seen.last_run.at)}  [dim]{seen.last_run.id}[/]"
    yield "Dagster", f"{served.url} (process {served.pid})" if served else "not served now; kb serve"


def _articles(seen: Status) -> str:
    told = seen.overview
    failing = f"[red]{len(told.failures)} failing[/]" if told.failures else "0 failing"
    counts = [f"{seen.staged} staged", f"[green]{told.published} published[/]", failing]
    counts += [f"{len(told.behind)} of them in an older version"] if told.behind else []
    counts += [f"{len(told.pinned)} put back ({named(list(told.pinned))})"] if told.pinned else []
    return ", ".join(counts)


def _index(seen: Status) -> str:
    index = seen.index
    if seen.live is None:
        return "none yet; kb ingest"
    live = seen.live.generation
    said = f"generation {live.id} ({escape(live.embedding_model)})"
    if live.id == index.generation:
        return f"{said}: {index.articles} articles, {index.entries} entries"
    state = "held back" if seen.live.held == index.generation else "refused" if seen.refusal else "being built"
    return f"{said} is live; {index.generation} is {state}: {index.articles} of {seen.overview.published} articles"


def _wrong(seen: Status) -> dict[str, tuple[str, ...]]:
    index = seen.index
    found = {
        "missing": index.missing,
        "stale": index.stale,
        "without their files": index.unserved,
        "orphaned": index.orphaned,
        "gone from staging": index.unstaged,
        "waiting for the new generation": index.pending,
    }
    return {name: ids for name, ids in found.items() if ids}


def _spent(usages: tuple[Usage, ...]) -> str:
    if not usages:
        return "nothing"
    unknown = "" if all(usage.cost is not None for usage in usages) else " (of some models unknown: KB_PRICES)"
    cost = f"{sum(usage.cost or 0.0 for usage in usages):.2f}{unknown}"
    by_time = sorted(usages, key=lambda usage: -usage.seconds)[:3]
    return "; ".join(
        [cost, *(f"{escape(usage.model)}: {usage.calls} calls, {usage.seconds:.0f} s" for usage in by_time)]
    )
