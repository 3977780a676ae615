"""The progress bar of jobs that build articles, and what is counted while they do."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from kb_pipeline.cli.console import err
from kb_pipeline.cli.run_job import JobRun, run_job
from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.report import Table
from kb_pipeline.settings import Settings

if TYPE_CHECKING:
    from kb_pipeline.build import ArticleResult


class Tally:
    """Counts results while they come in, and moves the bar."""

    def __init__(self, label: str, total: int | None = None) -> None:
        self.started = time.perf_counter()
        self.failures: list[ArticleResult] = []
        self.warnings: list[str] = []
        self.made: Counter[str] = Counter()
        self.articles = 0
        self.unchanged = 0
        self.total = total or 0
        self.bar = Progress(
            TextColumn(label),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[failed]}"),
            TimeElapsedColumn(),
            console=err,
        )
        self._task = self.bar.add_task("", total=total, failed="")

    def advance(self, results: "Sequence[ArticleResult]", total: int) -> None:
        """Count recorded results."""
        self.total = total
        for result in results:
            self.articles += 1
            if result.error is not None:
                self.failures.append(result)
            self.unchanged += result.error is None and all(layer.reused for layer in result.layers)
            self._count(result)
        failed = f"[red]{len(self.failures)} failed" if self.failures else ""
        self.bar.update(self._task, completed=self.articles, total=total, failed=failed)

    def close(self) -> None:
        """Take the bar away if there turned out to be no article."""
        if not self.total:
            self.bar.update(self._task, visible=False)

    @property
    def published(self) -> int:
        """Articles that did not fail."""
        return self.articles - len(self.failures)

    @property
    def seconds(self) -> float:
        """Since the beginning."""
        return time.perf_counter() - self.started

    def _count(self, result: "ArticleResult") -> None:
        for layer in result.layers:
            for name in ("newly_described", "newly_embedded"):
                value = layer.report.get(name)
                if isinstance(value, int) and not layer.reused:
                    self.made[name] += value
            warnings = layer.report.get("warnings")
            if layer.name == "serving_article" and isinstance(warnings, Table):
                self.warnings += [f"{result.article_id}: {row['warning']}" for row in warnings.rows]


def run_with_bar(settings: Settings, job: str, config: Mapping[str, object], tally: Tally) -> JobRun:
    """Run a job that reports articles; that some of them failed is its result.

    Raises:
        KnowledgeBaseError: it broke off, or failed for another reason than its articles.
    """
    with tally.bar:
        run = run_job(settings, job, config, tally)
        tally.close()
    if not run.success and not (tally.failures and tally.articles == tally.total):
        raise KnowledgeBaseError(run.error)
    return run


def build_with_bar(settings: Settings, job: str, config: Mapping[str, object], tally: Tally) -> JobRun:
    """As :func:`run_with_bar`, for a job that builds articles: a worker loads models while Dagster is imported."""
    from kb_pipeline.build import warm_up

    warm_up(settings)
    return run_with_bar(settings, job, config, tally)
