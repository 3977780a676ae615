"""Watches the staging folder: requests runs for batches of articles that are new, changed or gone.

Dagster's side only; what is to be done is decided in :mod:`kb_pipeline.changes`.
"""

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import dagster as dg

from kb_pipeline.changes import (
    Attempt,
    Batch,
    Kind,
    Plan,
    Status,
    load_memory,
    plan_changes,
    save_memory,
    summarise,
    unchanged,
)
from kb_pipeline.defs.partitions import articles
from kb_pipeline.defs.resources import KnowledgeBase
from kb_pipeline.defs.unrecorded import Unrecorded
from kb_pipeline.layout import Layout
from kb_pipeline.settings import Settings, load_settings
from kb_pipeline.staging import StagingScan
from kb_pipeline.state import ArticleState, known_articles, load_state
from kb_pipeline.steps.fingerprint import fingerprint
from kb_pipeline.workspace import open_workspace

SOURCE_TAG, BATCH_TAG = "kb/source", "kb/batch"
SOURCE = "sensor"
_JOBS: dict[Kind, str] = {"ingest": "ingest_articles", "remove": "remove_articles"}
_OPS: dict[Kind, str] = {"ingest": "ingest", "remove": "remove"}
_UNFINISHED = (
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
)
_CHUNK = 10_000  # partitions that every storage adds in one statement


def staging_sensor(jobs: Sequence[dg.JobDefinition]) -> dg.SensorDefinition:
    """The sensor, for the jobs ``ingest_articles`` and ``remove_articles``."""
    return dg.SensorDefinition(
        name="staging_sensor",
        evaluation_fn=_evaluate,
        jobs=jobs,
        minimum_interval_seconds=load_settings().watch_seconds,
        default_status=dg.DefaultSensorStatus.RUNNING if load_settings().watch else dg.DefaultSensorStatus.STOPPED,
        description="Ingests articles that are new or changed in the staging folder, and removes those that are gone.",
    )


def _evaluate(context: dg.SensorEvaluationContext, kb: KnowledgeBase) -> dg.SensorResult:
    return look(context, kb.settings())


def look(context: dg.SensorEvaluationContext, settings: Settings) -> dg.SensorResult:
    """One tick. Nothing was remembered and nothing is requested when it fails.

    Raises:
        StorageError: the staging folder cannot be listed, or the home folder not be used.
    """
    workspace = open_workspace(settings)
    scan, generation = workspace.staging.scan(), workspace.generation.id
    cursor = _cursor(scan, generation)
    if context.cursor == cursor:
        return dg.SensorResult(skip_reason=unchanged(len(scan.signatures)), cursor=cursor)
    memory = load_memory(workspace.layout)
    surroundings = _Surroundings(context.instance, workspace.layout, Unrecorded(settings))
    plan = plan_changes(scan, memory, surroundings, generation=generation, now=time.time(), settings=settings)
    if plan.memory != memory:
        # before any run is launched: what the memory does not know would be requested again
        save_memory(workspace.layout, plan.memory)
    _log(context, plan)
    return _result(plan, surroundings, cursor if plan.idle else "")


def _cursor(scan: StagingScan, generation: str) -> str:
    """Stands for "this is staged, and all is done about it": the next equal scan needs no second thought."""
    return fingerprint(scan.fingerprint, generation)


def _log(context: dg.SensorEvaluationContext, plan: Plan) -> None:
    log = context.log.warning if plan.refused or plan.guard else context.log.info
    log(summarise(plan))


def _result(plan: Plan, surroundings: "_Surroundings", cursor: str) -> dg.SensorResult:
    if not plan.batches:
        return dg.SensorResult(skip_reason=summarise(plan), cursor=cursor)
    return dg.SensorResult(
        run_requests=[_request(batch) for batch in plan.batches],
        dynamic_partitions_requests=list(_new_partitions(plan.batches, surroundings.partitions)),
        cursor=cursor,
    )


def _request(batch: Batch) -> dg.RunRequest:
    return dg.RunRequest(
        run_key=batch.id,
        job_name=_JOBS[batch.kind],
        run_config={"ops": {_OPS[batch.kind]: {"config": {"articles": list(batch.signatures)}}}},
        # what a person asks for goes first
        tags={SOURCE_TAG: SOURCE, BATCH_TAG: batch.id, "dagster/priority": "-1"},
    )


def _new_partitions(batches: Sequence[Batch], known: Collection[str]) -> Iterator[dg.AddDynamicPartitionsRequest]:
    staged = (name for batch in batches if batch.kind == "ingest" for name in batch.signatures)
    new = [name for name in dict.fromkeys(staged) if name not in known]
    for start in range(0, len(new), _CHUNK):
        yield articles.build_add_request(new[start : start + _CHUNK])


class _Surroundings:
    """What the planner asks, answered by Dagster's instance and the articles' states."""

    def __init__(self, instance: dg.DagsterInstance, layout: Layout, unrecorded: Unrecorded) -> None:
        self._instance, self._layout, self._unrecorded = instance, layout, unrecorded
        self.partitions = frozenset(instance.get_dynamic_partitions("articles"))

    def known(self) -> Collection[str]:
        return self.partitions | set(known_articles(self._layout))

    def attempts(self, article_ids: Collection[str]) -> Mapping[str, Attempt]:
        # what the history does not know of was not attempted, whatever its state says
        known = set(article_ids) - self._unrecorded.all()
        return {article_id: _attempt(load_state(self._layout, article_id)) for article_id in known}

    def statuses(self, batch_ids: Collection[str]) -> Mapping[str, Status]:
        statuses: dict[str, Status] = {}
        for run in self._instance.get_runs(filters=dg.RunsFilter(tags={BATCH_TAG: list(batch_ids)})):
            batch_id = run.tags[BATCH_TAG]
            if run.status in _UNFINISHED:
                statuses[batch_id] = "active"
            elif run.is_finished:
                statuses.setdefault(batch_id, "finished")
            # else it was created and never launched: requested again, it is
        return statuses

    def unfinished(self) -> Iterator[Batch]:
        filters = dg.RunsFilter(tags={SOURCE_TAG: SOURCE}, statuses=list(_UNFINISHED))
        for run in self._instance.get_runs(filters=filters):
            yield from (_batch_of(run, kind) for kind, job in _JOBS.items() if run.job_name == job)


def _attempt(state: ArticleState) -> Attempt:
    if state.failure:
        return Attempt(state.signature, state.failure.transient)
    return Attempt(state.signature, generation=state.published[-1].generation if state.published else "")


def _batch_of(run: dg.DagsterRun, kind: Kind) -> Batch:
    config: Any = run.run_config
    article_ids = config.get("ops", {}).get(_OPS[kind], {}).get("config", {}).get("articles", [])
    return Batch(id=run.tags[BATCH_TAG], kind=kind, signatures=dict.fromkeys(article_ids, ""))
