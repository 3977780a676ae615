"""The end of every run that publishes: switch to a complete generation of the index, record the control room."""

from dataclasses import replace

import dagster as dg

from kb_pipeline.defs.checks import record_checks
from kb_pipeline.defs.control_room import read_snapshot, record
from kb_pipeline.defs.evaluation import record_verdict
from kb_pipeline.defs.namespace import Namespace
from kb_pipeline.defs.resources import now
from kb_pipeline.defs.sqlite_storage import together
from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.flow.agreement import compare_published
from kb_pipeline.flow.index_state import IndexState
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.store.state import load_states
from kb_pipeline.upkeep.generations import promote_when_complete


def finish(context: dg.OpExecutionContext, workspace: Workspace, namespace: Namespace) -> None:
    """Compare new statements with those of other articles; switch readers to a new generation of the index if it is
    complete; record the control room and the checks.

    If a store is out of reach, this only warns: everything is published, and the next run records it.
    """
    try:
        compare_published(workspace, load_states(workspace.layout), context.run_id)
    except KnowledgeBaseError as exc:
        context.log.warning(f"what the articles state cannot be compared: {exc}")
    try:
        snapshot = read_snapshot(workspace)
        snapshot = replace(snapshot, index=_promoted(context, workspace, snapshot.index, namespace))
    except KnowledgeBaseError as exc:
        context.log.warning(f"the control room cannot be brought up to date: {exc}")
        return
    with together(context.instance):
        record(context, snapshot, namespace)
        record_checks(context, workspace.settings, snapshot.overview, namespace)


def _promoted(
    context: dg.OpExecutionContext, workspace: Workspace, index: IndexState, namespace: Namespace
) -> IndexState:
    """The state of the index after readers were switched to the new generation, if it was complete and good."""
    promotion = promote_when_complete(workspace, index, now())
    verdict = promotion.verdict
    if verdict and not verdict.passed:
        context.log.error(promotion.reason)
    elif promotion.reason:
        context.log.info(promotion.reason)
    if verdict:
        record_verdict(context, workspace.settings, verdict, namespace, promoted=promotion.switched)
    return replace(index, live_generation=index.generation) if promotion.switched else index
