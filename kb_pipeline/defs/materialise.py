"""From a list of articles to materialised partitions: the one body of the assets and of the ingest jobs."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Protocol

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


class Progress(Protocol):
    """Told about articles as soon as they are recorded."""

    def advance(self, results: Sequence[ArticleResult], total: int) -> None:
        """``results`` are done, of ``total`` in this run."""


class NoProgress:
    """The default: the run's own log is enough."""

    def advance(self, results: Sequence[ArticleResult], total: int) -> None:
        """Say nothing."""


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
    recorder, unrecorded = EventRecorder(context, specs), Unrecorded(settings)
    unrecorded.add(article_ids)
    failures: list[ArticleResult] = []
    done = 0
    with claimed(context, pools_of(settings, wanted)):
        for built in _batches(build_articles(settings, article_ids, wanted, run), settings.publish_every):
            results = publish(settings, built, wanted, run)
            recorder.record(results)
            unrecorded.remove(result.article_id for result in results)
            failures += [result for result in results if result.error is not None]
            done += len(results)
            context.log.info(f"{done}/{len(article_ids)} articles, {len(failures)} failed")
            progress.advance(results, len(article_ids))
    if SearchIndexLayer.name in wanted:
        _optimise(context, settings)
    return failures


def _optimise(context: dg.OpExecutionContext, settings: Settings) -> None:
    try:
        open_workspace(settings).index.optimise()
    except KnowledgeBaseError as exc:
        context.log.warning(f"everything is published, but searching may be slower until the next run: {exc}")


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
