"""The progress of jobs that process articles, and the summary of their results, as text and as JSON.

A terminal shows a bar; a file gets a line now and then.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from kb_pipeline.cli.console import err
from kb_pipeline.cli.run_job import JobRun, run_job
from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.limited.process import activities
from kb_pipeline.records import Table
from kb_pipeline.settings import Settings
from kb_pipeline.wording import counted

if TYPE_CHECKING:
    from kb_pipeline.flow.build import ArticleResult


_MOST_LINES = 20
"""Warnings that are shown: a screen."""
_LINE_SECONDS, _LOOK_SECONDS = 30.0, 1.0
"""Seconds between lines where no bar can move, and between looks whether one is due."""
_MOST_ACTIVITIES = 3
"""Activities that are named: as many as fit on the line."""


class ResultCounter:
    """Counts results as they arrive, and moves the bar, or prints a line every half minute where no bar can move."""

    def __init__(
        self,
        label: str,
        total: int | None = None,
        clock: Callable[[], float] = time.perf_counter,
        console: Console = err,
        activities: Callable[[], Sequence[str]] = activities,
        last: str = "search_index",
    ) -> None:
        """``clock`` returns seconds, from any point in time; ``activities`` is what is being done now.

        ``last`` is the layer after which the run stops; before the index nothing is published.
        """
        self.last = last
        self._label, self._clock, self._console, self._activities = label, clock, console, activities
        self.started = self._said_at = clock()
        self.failures: list[ArticleResult] = []
        self.warnings: list[str] = []
        self.made: Counter[str] = Counter()
        self.articles = 0
        self._first: tuple[float, int] | None = None
        self.unchanged = 0
        self.total = total or 0
        self.bar = Progress(
            TextColumn(label),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[failed]}"),
            TimeElapsedColumn(),
            console=console,
        )
        self._task = self.bar.add_task("", total=total, failed="")

    def advance(self, results: "Sequence[ArticleResult]", total: int) -> None:
        """Count finished articles; ``total`` is the number of articles of the run."""
        self.total = total
        for result in results:
            self.articles += 1
            if result.error is not None:
                self.failures.append(result)
            self.unchanged += result.error is None and all(layer.reused for layer in result.layers)
            self._count(result)
        if self.articles and self._first is None:
            self._first = (self._clock(), self.articles)
        failed = f"[red]{len(self.failures)} failed" if self.failures else ""
        self.bar.update(self._task, completed=self.articles, total=total, failed=failed)
        self.tell()

    def tell(self) -> None:
        """Print a line where no bar can move, if the last one is half a minute old."""
        if not self._console.is_terminal and self._clock() - self._said_at >= _LINE_SECONDS:
            self._said_at = self._clock()
            self._console.print(self._line(), markup=False, soft_wrap=True)

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Print lines inside the block also while no article is finished, from another thread."""
        ended = threading.Event()

        def tell() -> None:
            while not ended.wait(_LOOK_SECONDS):
                self.tell()

        teller = threading.Thread(target=tell, name="progress", daemon=True)
        teller.start()
        try:
            yield
        finally:
            ended.set()
            teller.join()

    def close(self) -> None:
        """Hide the bar if there was no article."""
        if not self.total:
            self.bar.update(self._task, visible=False)

    @property
    def good(self) -> int:
        """Articles that did not fail."""
        return self.articles - len(self.failures)

    @property
    def published(self) -> int:
        """Articles that readers can find; none if the run stops before the index."""
        return self.good if self.last == "search_index" else 0

    @property
    def seconds(self) -> float:
        """Seconds since the tally was created."""
        return self._clock() - self.started

    def _line(self) -> str:
        parts = [f"{self.articles} of {self.total} articles" if self.total else "no article is finished yet"]
        if self.failures:
            parts.append(f"{len(self.failures)} failed")
        if left := self._left():
            parts.append(f"about {left} left")
        now = "".join(f"; {activity}" for activity in self._activities()[:_MOST_ACTIVITIES])
        return f"{self._label}: {', '.join(parts)}{now}"

    def _left(self) -> timedelta | None:
        """How long the rest may take, from the articles after the first ones, for which the models were loaded."""
        if self._first is None or self.articles == self._first[1]:
            return None
        began, count = self._first
        each = (self._clock() - began) / (self.articles - count)
        return timedelta(seconds=round(each * (self.total - self.articles)))

    def _count(self, result: "ArticleResult") -> None:
        for layer in result.layers:
            for name in ("newly_described", "newly_embedded"):
                value = layer.report.get(name)
                if isinstance(value, int) and not layer.reused:
                    self.made[name] += value
            checks = layer.report.get("checks")
            if isinstance(checks, Table):  # a blocking check that fails leaves no result
                self.warnings += [
                    f"{result.article_id}: {row['check']}: {row['problem']}" for row in checks.rows if not row["passed"]
                ]
            warnings = layer.report.get("warnings")
            if layer.name == "serving_article" and isinstance(warnings, Table):
                self.warnings += [f"{result.article_id}: {row['warning']}" for row in warnings.rows]


def run_with_bar(settings: Settings, job: str, config: Mapping[str, object], tally: ResultCounter) -> JobRun:
    """Run a job that reports articles, with a progress bar. Failed articles are part of the result and raise nothing.

    Raises:
        KnowledgeBaseError: the job was cut short, or failed for another reason than its articles.
    """
    with tally.bar, tally.telling():
        run = run_job(settings, job, config, tally)
        tally.close()
    if not run.success and not (tally.failures and tally.articles == tally.total):
        raise KnowledgeBaseError(run.error)
    return run


def build_with_bar(settings: Settings, job: str, config: Mapping[str, object], tally: ResultCounter) -> JobRun:
    """Like :func:`run_with_bar`, for jobs that build articles: a worker loads the models while Dagster is imported."""
    from kb_pipeline.flow.build import warm_up

    warm_up(settings)
    return run_with_bar(settings, job, config, tally)


def summarise(tally: ResultCounter, refused: Mapping[str, str]) -> None:
    """Print warnings, failures and counts to stderr."""
    for warning in tally.warnings[:_MOST_LINES]:
        err.print(f"[yellow]warning:[/] {escape(warning)}", soft_wrap=True)
    if len(tally.warnings) > _MOST_LINES:
        err.print(f"… and {len(tally.warnings) - _MOST_LINES} more warnings, in the manifests and in the Dagster UI")
    for failure in tally.failures[:_MOST_LINES]:
        reason = (failure.error or "").partition("\n")[0]  # the stack trace of a defect is in the run's log
        err.print(f"[red]failed[/] in {failure.failed_layer}: {escape(reason)}", soft_wrap=True)
    if len(tally.failures) > _MOST_LINES:
        err.print(f"… and {len(tally.failures) - _MOST_LINES} more: kb failures lists them all")
    done = "published" if tally.last == "search_index" else f"made up to {tally.last}, not published"
    err.print(
        f"[green]{counted(tally.good, 'article')} {done}[/] ({tally.unchanged} unchanged), "
        f"{len(tally.failures)} failed, {len(refused)} refused, in {tally.seconds:.1f} s; "
        f"{counted(tally.made['newly_described'], 'image')} described, "
        f"{counted(tally.made['newly_embedded'], 'passage')} embedded",
        soft_wrap=True,
    )


def document(run: JobRun | None, tally: ResultCounter, refused: Mapping[str, str]) -> dict[str, object]:
    """The summary as the object that ``--json`` prints; ``run`` is ``None`` if there was nothing to do."""
    failed = [
        {
            "article_id": result.article_id,
            "layer": result.failed_layer,
            "error": result.error,
            "transient": result.transient,
        }
        for result in tally.failures
    ]
    return {
        "run_id": run.id if run else None,
        "articles": tally.articles,
        "published": tally.published,
        "last_layer": tally.last,
        "unchanged": tally.unchanged,
        "failed": failed,
        "refused": refused,
        "warnings": tally.warnings,
        "images_described": tally.made["newly_described"],
        "chunks_embedded": tally.made["newly_embedded"],
        "seconds": round(tally.seconds, 3),
    }
