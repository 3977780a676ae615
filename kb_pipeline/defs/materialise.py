"""From a list of articles to materialised partitions: the one body of the assets and of the ingest jobs."""

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Protocol, Self

import dagster as dg

from kb_pipeline.build import ArticleResult, build_articles
from kb_pipeline.defs.clock import run_of
from kb_pipeline.defs.events import EventRecorder
from kb_pipeline.defs.pools import claimed, pools_of
from kb_pipeline.defs.unrecorded import Unrecorded
from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.layers import SearchIndexLayer
from kb_pipeline.publication import publish
from kb_pipeline.settings import Settings
from kb_pipeline.workspace import open_workspace

_NAMED_FAILURES = 200
_TOLD_TOGETHER = 200
_TOLD_SECONDS = 10.0


class Progress(Protocol):
    """Told about articles as soon as they are recorded."""

    def advance(self, results: Sequence[ArticleResult], total: int) -> None:
        """``results`` are done, of ``total`` in this run."""


class NoProgress:
    """The default: the run's own log is enough."""

    def advance(self, results: Sequence[ArticleResult], total: int) -> None:
        """Say nothing."""


class _History:
    """Tells Dagster about articles: many at a time, because each commit of its database costs, but soon."""

    def __init__(self, recorder: EventRecorder, unrecorded: Unrecorded) -> None:
        self._recorder, self._unrecorded = recorder, unrecorded
        self._waiting: list[ArticleResult] = []
        self._told_at = time.monotonic()

    def announce(self, article_ids: Sequence[str]) -> None:
        """Mark the articles, so that what a killed run did not tell is told by the next."""
        self._unrecorded.add(article_ids)

    def add(self, results: Sequence[ArticleResult]) -> None:
        """Tell about these now or soon."""
        self._waiting += results
        if len(self._waiting) >= _TOLD_TOGETHER or time.monotonic() - self._told_at > _TOLD_SECONDS:
            self._tell()

    def __enter__(self) -> Self:
        """Nothing is told yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """Tell the rest, also when the run is cancelled."""
        if self._waiting:
            self._tell()

    def _tell(self) -> None:
        self._recorder.record(self._waiting)
        self._unrecorded.remove(result.article_id for result in self._waiting)
        self._waiting = []
        self._told_at = time.monotonic()


def materialise(
    context: dg.OpExecutionContext,
    settings: Settings,
    article_ids: Sequence[str],
    specs: Sequence[dg.AssetSpec],
    progress: Progress,
) -> list[ArticleResult]:
    """Build, publish and record the articles, batch by batch; returns the ones that failed."""
    wanted = [spec.key.to_user_string() for spec in specs]
    run = run_of(context)
    history = _History(EventRecorder(context, specs), Unrecorded(settings))
    history.announce(article_ids)
    failures: list[ArticleResult] = []
    done = 0
    with claimed(context, pools_of(settings, wanted)), history:
        for built in _batches(build_articles(settings, article_ids, wanted, run), settings.publish_every):
            results = publish(settings, built, wanted, run)
            if SearchIndexLayer.name in wanted and len(results) == settings.publish_every:
                _index_kept(context, lambda: open_workspace(settings).index.keep_up())
            history.add(results)
            failures += [result for result in results if result.error is not None]
            done += len(results)
            context.log.info(f"{done}/{len(article_ids)} articles, {len(failures)} failed")
            progress.advance(results, len(article_ids))
    if SearchIndexLayer.name in wanted:
        _index_kept(context, lambda: open_workspace(settings).index.optimise())
    return failures


def _index_kept(context: dg.OpExecutionContext, keep: Callable[[], None]) -> None:
    try:
        keep()
    except KnowledgeBaseError as exc:
        context.log.warning(f"what is done is published, but searching may be slower until the next run: {exc}")


def raise_failures(failures: Sequence[ArticleResult], total: int) -> None:
    """Fail the step if articles failed, so that Dagster shows their partitions as failed.

    Raises:
        dagster.Failure: some articles failed, each with its reason; the others are published.
    """
    if failures:
        raise _failure(failures, total)


def _batches(results: Iterator[ArticleResult], size: int) -> Iterator[list[ArticleResult]]:
    while batch := list(islice(results, size)):
        yield batch


def _failure(failures: Sequence[ArticleResult], total: int) -> dg.Failure:
    rows = [
        dg.TableRecord({"article": result.article_id, "layer": result.failed_layer or "", "error": result.error or ""})
        for result in failures[:_NAMED_FAILURES]
    ]
    first = "\n".join(f"- {result.error}" for result in failures[:10])
    return dg.Failure(
        description=f"{len(failures)} of {total} articles failed, the others are published:\n{first}",
        metadata={"failures": dg.MetadataValue.table(rows)},
        allow_retries=False,
    )
