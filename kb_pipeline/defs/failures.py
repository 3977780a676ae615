"""Reports what failed in runs to OpenTelemetry: articles, steps, and runs that were lost.

The Dagster UI shows the same to whoever looks there. Used only if logs have a destination.
"""

from collections.abc import Iterable
from typing import TypeVar

import dagster as dg

from kb_pipeline.flow.build import ArticleResult
from kb_pipeline.telemetry.failures import report_failure

FAILED_IN_TAG = "kb/failed_in"
"""Tag of a run that only stands for the failed articles of another run, which it names."""


def report_articles(run_id: str, results: Iterable[ArticleResult]) -> None:
    """Report each of these articles, which failed, with its reason and the layer that could not be made."""
    for result in results:
        layer, error = result.failed_layer or "", result.error or ""
        message = f"{layer or 'an asset'} of {result.article_id} could not be made: {error}"
        report_failure(message, article=result.article_id, asset=layer, error=error, run_id=run_id)


@dg.failure_hook(name="report_failed_step")
def report_failed_step(context: dg.HookContext) -> None:
    """Report the step of a run that failed, with its error."""
    error = context.op_exception
    reason = (error.description if isinstance(error, dg.Failure) else None) or f"{type(error).__name__}: {error}"
    report_failure(
        f"the step {context.step_key} of {context.job_name} failed: {reason}",
        job=context.job_name,
        step=context.step_key,
        error=reason,
        run_id=context.run_id,
    )


@dg.run_failure_sensor(name="report_lost_runs", default_status=dg.DefaultSensorStatus.RUNNING)
def report_lost_runs(context: dg.RunFailureSensorContext) -> None:
    """Report runs that failed outside of a step, because their process was killed or never started."""
    run = context.dagster_run
    if FAILED_IN_TAG in run.tags and not run.parent_run_id:  # a re-execution has its tags, and can be lost
        return  # its articles were reported one by one
    if not context.get_step_failure_events():
        reason = context.failure_event.message or "it ended without a reason"
        message = f"the run of {run.job_name} failed: {reason}"
        report_failure(message, job=run.job_name, error=reason, run_id=run.run_id)


Reported = TypeVar("Reported", dg.AssetsDefinition, dg.JobDefinition)


def reported(definition: Reported) -> Reported:
    """The assets or the job, with a report of each step that fails."""
    return definition.with_hooks({report_failed_step})
