"""How the run of a job ends of which articles failed.

Dagster shows a partition as failed only if the run that planned it last has failed. So that one bad article leaves a
run of good ones green and yet is red itself, a run that succeeds leaves a second one behind: failed, with only the
failed articles and their reasons. To execute that one again tries just these articles. It is a run of a job of its own,
because Dagster shows the status of the last run beside the name of a job.
"""

from collections.abc import Sequence

import dagster as dg

from kb_pipeline.defs.dagster_internals import DagsterEvent, DagsterEventType, EngineEventData
from kb_pipeline.defs.events import EventRecorder
from kb_pipeline.defs.failures import FAILED_IN_TAG
from kb_pipeline.defs.materialize import SOURCE_TAG, articles_tag, failures_of, still_failing
from kb_pipeline.defs.namespace import Namespace
from kb_pipeline.flow.build import ArticleResult
from kb_pipeline.flow.layers import FLOW
from kb_pipeline.flow.workspace import Workspace

FAILED_TAG = "kb/failed"
"""Tag of a run: how many of its articles failed, of how many."""


def end_with(
    context: dg.OpExecutionContext,
    workspace: Workspace,
    failures: Sequence[ArticleResult],
    total: int,
    namespace: Namespace,
    again: dg.JobDefinition,
) -> None:
    """Say in the run how many articles failed, and fail it if the settings say so or if no article is left.

    ``again``: the job that takes the failed articles, as an op with the list ``articles``.

    Raises:
        dagster.Failure: the run fails; articles that did not fail are published.
    """
    if failures or FAILED_TAG in context.run.tags:  # which a re-execution has from the run before it
        context.instance.add_run_tags(context.run_id, {FAILED_TAG: f"{len(failures)} of {total}"})
    if not failures:
        return
    failure = failures_of(failures, total)
    if workspace.settings.fail_runs == "any" or len(failures) == total:
        raise failure
    context.log.warning(failure.description or "")
    # another run may have repaired an article in the meantime
    failing = still_failing(workspace, [each.article_id for each in failures])
    if still := [each for each in failures if each.article_id in failing]:
        job = again.graph.to_job(
            name=namespace.of(again.name),
            resource_defs=context.job_def.resource_defs,
            executor_def=context.job_def.executor_def,
        )
        _leave_failed_run(context, job, still, failure, namespace)


def _leave_failed_run(
    context: dg.OpExecutionContext,
    job: dg.JobDefinition,
    failures: Sequence[ArticleResult],
    failure: dg.Failure,
    namespace: Namespace,
) -> None:
    ids = [each.article_id for each in failures]
    remote, code = context.run.remote_job_origin, context.run.job_code_origin
    run = context.instance.create_run_for_job(
        job,
        run_config=_config_for(context, job, ids),
        tags={
            FAILED_IN_TAG: context.run_id,
            SOURCE_TAG: context.run.tags.get(SOURCE_TAG, "ui"),
            **articles_tag(ids),
        },
        status=dg.DagsterRunStatus.FAILURE,
        remote_job_origin=remote and remote._replace(job_name=job.name),
        job_code_origin=code and code._replace(job_name=job.name),
    )
    EventRecorder(context, FLOW, namespace).record_failed_in(run.run_id, failures)
    started = DagsterEvent(DagsterEventType.PIPELINE_START.value, run.job_name, message="Lists what failed elsewhere.")
    context.instance.report_dagster_event(started, run.run_id)
    metadata = {**failure.metadata, "failed_in": dg.MetadataValue.dagster_run(context.run_id)}
    context.instance.report_engine_event(failure.description or "", run, EngineEventData(metadata))
    context.instance.report_run_failed(run, failure.description)


def _config_for(context: dg.OpExecutionContext, job: dg.JobDefinition, article_ids: Sequence[str]) -> dict[str, object]:
    """The choices of this run, for only these articles; the layers too, if it had a choice of them."""
    layers = {name: value for name, value in (context.op_config or {}).items() if name.endswith("_layer")}
    config = {"articles": list(article_ids), **layers}
    return {**context.run.run_config, "ops": {job.nodes[0].name: {"config": config}}}
