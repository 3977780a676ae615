"""Materializes a list of articles: the code that the assets and the ingest jobs share."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol, Self

import dagster as dg

from kb_pipeline.defs.dagster_internals import InstanceConcurrencyContext
from kb_pipeline.defs.events import EventRecorder, PendingEvents, table
from kb_pipeline.defs.failures import report_articles
from kb_pipeline.defs.namespace import Namespace
from kb_pipeline.defs.resources import run_of
from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.flow.build import ArticleResult, build_as_they_come
from kb_pipeline.flow.layers import ARTICLE_LAYERS, LayerType, SearchIndexLayer
from kb_pipeline.flow.publish import publish
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.steps.article_ids import is_article_id
from kb_pipeline.store.state import load_state

_PAUSE = 0.2  # seconds
SOURCE_TAG, ARTICLES_TAG = "kb/source", "kb/articles"
"""Tags of a run: what started it (ui, cli, sensor, schedule, backfill, automation), and which articles, if few."""
_TAGGED = 5
"""Articles that the tag of a run names; a tag is one line."""


def pools_of(workspace: Workspace, layers: Sequence[str]) -> list[str]:
    """The pools that the layers use, sorted, so that all runs claim them in the same order."""
    return sorted({layer(workspace).pool() for layer in ARTICLE_LAYERS if layer.name in layers} - {""})


@contextmanager
def claimed(context: dg.OpExecutionContext, pools: Sequence[str]) -> Iterator[None]:
    """Hold a slot in each pool, after waiting for it and logging that."""
    step = context.get_step_execution_context().step.key
    with InstanceConcurrencyContext(context.instance, context.run) as slots:
        try:
            for pool in pools:
                _wait_for(context, slots, pool, step)
            yield
        finally:
            context.instance.event_log_storage.free_concurrency_slot_for_step(context.run_id, step)


def _wait_for(context: dg.OpExecutionContext, slots: InstanceConcurrencyContext, pool: str, step: str) -> None:
    waiting = False
    while not slots.claim(pool, step):
        if not waiting:
            context.log.info(f"waiting for a slot of the pool {pool!r}")
        waiting = True
        time.sleep(_PAUSE)  # Dagster itself asks its storage less often


_NAMED_FAILURES = 200
"""Articles that a table lists: Dagster shows it in one piece."""
_RECORDED_TOGETHER = 200
"""Events are written together: one at a time SQLite took 98 a second, in batches 2,500."""
_RECORD_SECONDS = 10.0
"""Seconds after which they are written anyway, for whoever looks on."""


class Progress(Protocol):
    """Is called as soon as articles are recorded."""

    def advance(self, results: Sequence[ArticleResult], total: int) -> None:
        """``results`` are done, of ``total`` in this run."""


class NoProgress:
    """The default: shows nothing, because the run has its own log."""

    def advance(self, results: Sequence[ArticleResult], total: int) -> None:
        """Do nothing."""


class _History:
    """Records articles in Dagster's log in batches, because each commit costs, but within seconds."""

    def __init__(self, recorder: EventRecorder, pending: PendingEvents) -> None:
        self._recorder, self._pending = recorder, pending
        self._waiting: list[ArticleResult] = []
        self._recorded_at = time.monotonic()

    def add(self, results: Sequence[ArticleResult]) -> None:
        """Record these articles now or soon."""
        self._waiting += results
        if len(self._waiting) >= _RECORDED_TOGETHER or time.monotonic() - self._recorded_at > _RECORD_SECONDS:
            self._record()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Record the rest, also when the run is cancelled."""
        if self._waiting:
            self._record()

    def _record(self) -> None:
        self._recorder.record(self._waiting)
        self._pending.remove(result.article_id for result in self._waiting)
        self._waiting = []
        self._recorded_at = time.monotonic()


def materialize(
    context: dg.OpExecutionContext,
    workspace: Workspace,
    article_ids: Sequence[str],
    layers: Sequence[LayerType],
    progress: Progress,
    namespace: Namespace,
) -> list[ArticleResult]:
    """Build, publish and record the articles, batch by batch; returns the ones that failed."""
    settings = workspace.settings
    names = [layer.name for layer in layers]
    run = run_of(context)
    _tag_run(context, article_ids)
    pending = PendingEvents(settings)
    pending.add(article_ids)  # so that the next run records those that this one does not, if it is killed
    history = _History(EventRecorder(context, layers, namespace, still_failing(workspace, article_ids)), pending)
    failures: list[ArticleResult] = []
    done = 0
    with claimed(context, pools_of(workspace, names)), history:
        built = build_as_they_come(workspace, article_ids, names, run)
        for batch in _batches(built, settings.publish_every, settings.publish_seconds):
            results = publish(workspace, batch, names, run)
            before, done = done, done + len(results)
            if SearchIndexLayer in layers and before // settings.publish_every < done // settings.publish_every:
                _index_kept(context, lambda: workspace.index.index_new_rows())
            history.add(results)
            failed = [result for result in results if result.error is not None]
            report_articles(context.run_id, failed)
            failures += failed
            context.log.info(f"{done}/{len(article_ids)} articles, {len(failures)} failed")
            progress.advance(results, len(article_ids))
    if SearchIndexLayer in layers:
        _index_kept(context, lambda: workspace.index.optimise())
    return failures


def still_failing(workspace: Workspace, article_ids: Sequence[str]) -> set[str]:
    """The articles whose last attempt failed."""
    ids = filter(is_article_id, article_ids)
    return {article_id for article_id in ids if load_state(workspace.layout, article_id).failure}


def _tag_run(context: dg.OpExecutionContext, article_ids: Sequence[str]) -> None:
    """Tag the run with what started it, and with its articles if they are few, so that lists of runs say both."""
    started_by = "backfill" if "dagster/backfill" in context.run.tags else "ui"
    tags = {} if SOURCE_TAG in context.run.tags else {SOURCE_TAG: started_by}
    tags |= articles_tag(article_ids)
    if tags:
        context.instance.add_run_tags(context.run_id, tags)


def articles_tag(article_ids: Sequence[str]) -> dict[str, str]:
    """The tag that names the articles of a run, if they are few."""
    return {ARTICLES_TAG: ", ".join(article_ids)} if len(article_ids) <= _TAGGED else {}


def _index_kept(context: dg.OpExecutionContext, keep: Callable[[], None]) -> None:
    try:
        keep()
    except KnowledgeBaseError as exc:
        context.log.warning(f"the articles are published, but searches may be slower until the next run: {exc}")


def raise_failures(failures: Sequence[ArticleResult], total: int) -> None:
    """Fail the step if articles failed, so that Dagster shows their partitions as failed.

    Raises:
        dagster.Failure: some articles failed, each with its reason; the others are published.
    """
    if failures:
        raise failures_of(failures, total)


def failures_of(failures: Sequence[ArticleResult], total: int) -> dg.Failure:
    """What Dagster shows of a step of which articles failed, each with its reason."""
    rows = (
        {"article": result.article_id, "layer": result.failed_layer or "", "error": result.error or ""}
        for result in failures[:_NAMED_FAILURES]
    )
    first = "\n".join(f"- {result.error}" for result in failures[:10])
    return dg.Failure(
        description=f"{len(failures)} of {total} articles failed, the others are published:\n{first}",
        metadata={"failures": table(rows)},
        allow_retries=False,
    )


def _batches(arrivals: Iterator[list[ArticleResult]], size: int, seconds: float) -> Iterator[list[ArticleResult]]:
    """Batches of ``size`` articles, or fewer once the first of them has waited for ``seconds``."""
    waiting: list[ArticleResult] = []
    since = time.monotonic()
    for results in arrivals:
        if not waiting:
            since = time.monotonic()
        waiting += results
        while len(waiting) >= size or (waiting and time.monotonic() - since >= seconds):
            yield waiting[:size]
            waiting, since = waiting[size:], time.monotonic()
    if waiting:
        yield waiting
