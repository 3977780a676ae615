"""The sensor that watches the staging folder and requests runs for articles that are new, changed or gone.

:mod:`kb_pipeline.flow.watch` decides which; this module translates between it and Dagster.
"""

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import dagster as dg

from kb_pipeline.defs.events import PendingEvents
from kb_pipeline.defs.materialize import SOURCE_TAG
from kb_pipeline.defs.namespace import PLAIN, Namespace
from kb_pipeline.defs.partitions import in_statements
from kb_pipeline.defs.resources import KnowledgeBase
from kb_pipeline.flow.access_binding import access_watch
from kb_pipeline.flow.watch import (
    Attempt,
    Batch,
    Kind,
    Status,
    WatchPlan,
    load_memory,
    plan_changes,
    save_memory,
    summarise,
    unchanged,
)
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.settings import Settings
from kb_pipeline.steps.fingerprint import fingerprint
from kb_pipeline.store.layout import Layout
from kb_pipeline.store.state import ArticleState, known_articles, load_state

BATCH_TAG = "kb/batch"
SOURCE = "sensor"
_NAMED = 5
"""Articles that a line of the log names."""
_JOBS: dict[Kind, str] = {"ingest": "ingest_articles", "remove": "remove_articles"}
UNFINISHED = (
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
)


def staging_sensor(settings: Settings, jobs: Sequence[dg.JobDefinition], kb: KnowledgeBase) -> dg.SensorDefinition:
    """The sensor, which starts the jobs ``ingest_articles`` and ``remove_articles``."""

    def evaluate(context: dg.SensorEvaluationContext) -> dg.SensorResult:
        return tick(context, kb.workspace(), kb.namespace)

    return dg.SensorDefinition(
        name=kb.namespace.of("staging_sensor"),
        evaluation_fn=evaluate,
        jobs=jobs,
        minimum_interval_seconds=settings.watch_seconds,
        default_status=dg.DefaultSensorStatus.RUNNING if settings.watch else dg.DefaultSensorStatus.STOPPED,
        description="Ingests articles that are new or changed in the staging folder, and removes those that are gone.",
    )


def tick(context: dg.SensorEvaluationContext, workspace: Workspace, namespace: Namespace = PLAIN) -> dg.SensorResult:
    """One tick of the sensor. If it fails, nothing was remembered and nothing is requested.

    Access lists are applied before Dagster's storage is asked for anything.

    Raises:
        StorageError: the staging folder cannot be listed, or the home folder not be used.
    """
    scan = workspace.staging.scan()
    access_watch(workspace).look(scan.signatures)  # however long the articles wait for a run
    generation = workspace.generation.id
    # identifies a scan after which nothing is left to do, so that the next equal scan is skipped
    cursor = fingerprint(scan.fingerprint, generation)
    partitions = frozenset(context.instance.get_dynamic_partitions(namespace.articles))
    # kb empty removed all, or a person some in the UI
    if context.cursor == cursor and partitions.issuperset(scan.signatures):
        return dg.SensorResult(skip_reason=unchanged(len(scan.signatures)), cursor=cursor)
    memory = load_memory(workspace.layout)
    pending = PendingEvents(workspace.settings)
    queries = _PlannerQueries(context.instance, workspace.layout, pending, partitions, namespace)
    plan = plan_changes(scan, memory, queries, generation=generation, now=time.time(), settings=workspace.settings)
    if plan.memory != memory:
        # before any run is launched: a batch that is not remembered would be requested again
        save_memory(workspace.layout, plan.memory)
    _log(context, plan)
    deleted = sorted(set(known_articles(workspace.layout)).intersection(scan.signatures) - partitions)
    if deleted:
        names = ", ".join(deleted[:_NAMED])
        context.log.warning(f"partitions that were deleted in Dagster are added again: {len(deleted)}, first {names}")
    additions = list(_new_partitions([*deleted, *_to_ingest(plan)], partitions, namespace))
    return _result(plan, additions, cursor if plan.idle else "", namespace)


def _log(context: dg.SensorEvaluationContext, plan: WatchPlan) -> None:
    log = context.log.warning if plan.refused or plan.guard else context.log.info
    log(summarise(plan))


def _result(
    plan: WatchPlan, additions: Sequence[dg.AddDynamicPartitionsRequest], cursor: str, namespace: Namespace
) -> dg.SensorResult:
    if not plan.batches:
        return dg.SensorResult(
            skip_reason=summarise(plan), dynamic_partitions_requests=additions or None, cursor=cursor
        )
    return dg.SensorResult(
        run_requests=[_request(batch, namespace) for batch in plan.batches],
        dynamic_partitions_requests=additions,
        cursor=cursor,
    )


def _request(batch: Batch, namespace: Namespace) -> dg.RunRequest:
    return dg.RunRequest(
        run_key=batch.id,
        job_name=namespace.of(_JOBS[batch.kind]),
        run_config={"ops": {batch.kind: {"config": {"articles": list(batch.signatures)}}}},
        # runs that a person starts go first
        tags={SOURCE_TAG: SOURCE, BATCH_TAG: batch.id, "dagster/priority": "-1"},
    )


def _to_ingest(plan: WatchPlan) -> Iterator[str]:
    return (name for batch in plan.batches if batch.kind == "ingest" for name in batch.signatures)


def _new_partitions(
    names: Sequence[str], known: Collection[str], namespace: Namespace
) -> Iterator[dg.AddDynamicPartitionsRequest]:
    new = [name for name in dict.fromkeys(names) if name not in known]
    yield from map(namespace.partitions.build_add_request, in_statements(new))


class _PlannerQueries:
    """Answers the planner's questions from Dagster's instance and the articles' states."""

    def __init__(
        self,
        instance: dg.DagsterInstance,
        layout: Layout,
        pending: PendingEvents,
        partitions: frozenset[str],
        namespace: Namespace,
    ) -> None:
        self._instance, self._layout, self._pending, self._partitions = instance, layout, pending, partitions
        self._jobs = {namespace.of(job): kind for kind, job in _JOBS.items()}

    def known(self) -> Collection[str]:
        return self._partitions | set(known_articles(self._layout))

    def attempts(self, article_ids: Collection[str]) -> Mapping[str, Attempt]:
        # an attempt that Dagster's history does not show is made again, whatever the state says
        recorded = set(article_ids) - self._pending.all()
        return {article_id: _attempt(load_state(self._layout, article_id)) for article_id in recorded}

    def statuses(self, batch_ids: Collection[str]) -> Mapping[str, Status]:
        statuses: dict[str, Status] = {}
        for run in self._instance.get_runs(filters=dg.RunsFilter(tags={BATCH_TAG: list(batch_ids)})):
            if run.job_name not in self._jobs:
                continue  # another knowledge base with the same articles
            batch_id = run.tags[BATCH_TAG]
            if run.status in UNFINISHED:
                statuses[batch_id] = "active"
            elif run.is_finished:
                statuses.setdefault(batch_id, "finished")
            # else the run was created and never launched: requesting it again launches it
        return statuses

    def unfinished(self) -> Iterator[Batch]:
        filters = dg.RunsFilter(tags={SOURCE_TAG: SOURCE}, statuses=list(UNFINISHED))
        for run in self._instance.get_runs(filters=filters):
            if run.job_name in self._jobs:
                yield _batch_of(run, self._jobs[run.job_name])


def _attempt(state: ArticleState) -> Attempt:
    if state.failure:
        return Attempt(state.signature, state.failure.transient)
    return Attempt(state.signature, generation=state.published[-1].generation if state.published else "")


def _batch_of(run: dg.DagsterRun, kind: Kind) -> Batch:
    config: Any = run.run_config
    article_ids = config.get("ops", {}).get(kind, {}).get("config", {}).get("articles", [])
    return Batch(id=run.tags[BATCH_TAG], kind=kind, signatures=dict.fromkeys(article_ids, ""))
