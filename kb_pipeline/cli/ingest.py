"""``kb ingest``: the staged articles, through Dagster, with a progress bar and a summary."""

import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from kb_pipeline import errors
from kb_pipeline.cli.console import err
from kb_pipeline.cli.instance import dagster_environment
from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.report import Table
from kb_pipeline.settings import Settings, load_settings
from kb_pipeline.staging import StagingListing
from kb_pipeline.workspace import open_workspace

if TYPE_CHECKING:
    from dagster_shared.error import SerializableErrorInfo

    from kb_pipeline.build import ArticleResult


def ingest(
    staging: Annotated[
        Path | None, typer.Option(help="Folder with one folder per article; default: KB_STAGING.")
    ] = None,
    article: Annotated[list[str] | None, typer.Option(help="Only this article; may be given several times.")] = None,
) -> None:
    """Ingest articles through Dagster: convert, describe images, chunk, embed, index."""
    settings = load_settings(staging=str(staging)) if staging else load_settings()
    listing = open_workspace(settings).staging.list_articles()
    article_ids = list(dict.fromkeys(article or listing.article_ids))
    for reason in listing.refused.values():
        err.print(f"[yellow]refused:[/] {escape(reason)}", soft_wrap=True)
    if not article_ids:
        err.print(f"nothing to ingest: {settings.staging} holds no article folder", markup=False)
        sys.exit(1 if listing.refused else 0)
    tally = Tally()
    ok = _run(settings, article_ids, tally)
    _summarise(tally, listing)
    sys.exit(0 if ok and not listing.refused else 1)


class Tally:
    """Counts results while they come in, and moves the bar."""

    def __init__(self) -> None:
        self.started = time.perf_counter()
        self.failures: list[ArticleResult] = []
        self.warnings: list[str] = []
        self.made: Counter[str] = Counter()
        self.articles = 0
        self.unchanged = 0
        self.bar = Progress(
            TextColumn("ingesting"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[failed]}"),
            TimeElapsedColumn(),
            console=err,
        )

    def advance(self, results: "Sequence[ArticleResult]", total: int) -> None:
        """Count recorded results."""
        for result in results:
            self.articles += 1
            if result.error is not None:
                self.failures.append(result)
            self.unchanged += result.error is None and all(layer.reused for layer in result.layers)
            self._count(result)
        failed = f"[red]{len(self.failures)} failed" if self.failures else ""
        self.bar.update(self.bar.task_ids[0], completed=self.articles, total=total, failed=failed)

    def _count(self, result: "ArticleResult") -> None:
        for layer in result.layers:
            for name in ("newly_described", "newly_embedded"):
                value = layer.report.get(name)
                if isinstance(value, int) and not layer.reused:
                    self.made[name] += value
            warnings = layer.report.get("warnings")
            if layer.name == "serving_article" and isinstance(warnings, Table):
                self.warnings += [f"{result.article_id}: {row['warning']}" for row in warnings.rows]


def _run(settings: Settings, article_ids: list[str], tally: Tally) -> bool:
    """Run the Dagster job in this process; its history is in the UI like every other run's."""
    os.environ.update(dagster_environment(settings))
    import dagster as dg  # 1.6 seconds that other commands need not pay

    from kb_pipeline.defs.jobs import ingest_articles
    from kb_pipeline.defs.resources import KnowledgeBase

    with dg.DagsterInstance.get() as instance, tally.bar:
        tally.bar.add_task("", total=len(article_ids), failed="")
        result = ingest_articles.execute_in_process(
            run_config={
                "ops": {"ingest": {"config": {"articles": article_ids}}},
                "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
            },
            instance=instance,
            resources={"kb": KnowledgeBase(staging=settings.staging), "progress": tally},
            raise_on_error=False,
        )
    if not result.success and tally.articles < len(article_ids):
        _summarise_failures(tally)
        failures = [event.step_failure_data.error for event in result.all_events if event.is_step_failure]
        raise KnowledgeBaseError("; ".join(_reason(error) for error in failures if error) or "the run failed")
    return result.success


def _summarise(tally: Tally, listing: StagingListing) -> None:
    seconds = time.perf_counter() - tally.started
    for warning in tally.warnings[:20]:
        err.print(f"[yellow]warning:[/] {escape(warning)}", soft_wrap=True)
    if len(tally.warnings) > 20:
        err.print(f"… and {len(tally.warnings) - 20} more warnings, in the manifests and in the Dagster UI")
    _summarise_failures(tally)
    good = tally.articles - len(tally.failures)
    err.print(
        f"[green]{good} articles published[/] ({tally.unchanged} unchanged), {len(tally.failures)} failed, "
        f"{len(listing.refused)} refused, in {seconds:.1f} s; "
        f"{tally.made['newly_described']} images described, {tally.made['newly_embedded']} chunks embedded",
        soft_wrap=True,
    )


def _summarise_failures(tally: Tally) -> None:
    for failure in tally.failures[:20]:
        reason = (failure.error or "").partition("\n")[0]  # a defect's stack trace is in the run
        err.print(f"[red]failed[/] in {failure.failed_layer}: {escape(reason)}", soft_wrap=True)
    if len(tally.failures) > 20:
        err.print(f"… and {len(tally.failures) - 20} more; the run in the Dagster UI lists them all")


def _reason(error: "SerializableErrorInfo") -> str:
    """The first error of ours in the chain that Dagster reports, else the one it all began with."""
    while error.cause and not hasattr(errors, error.cls_name or ""):
        error = error.cause
    return error.message.strip()
