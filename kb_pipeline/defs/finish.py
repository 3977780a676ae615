"""What every run that publishes does at its end: complete a generation of the index, show how things are."""

from dataclasses import replace

import dagster as dg

from kb_pipeline.defs.checks import record_checks
from kb_pipeline.defs.clock import now
from kb_pipeline.defs.control_room import look, record
from kb_pipeline.defs.evaluation import record_verdict
from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.generations import promote_when_complete
from kb_pipeline.index_state import IndexState
from kb_pipeline.settings import Settings
from kb_pipeline.workspace import Workspace, open_workspace


def finish(context: dg.OpExecutionContext, settings: Settings) -> None:
    """Switch readers to a new generation of the index that is complete; record the control room and the checks.

    A store that is away is only warned of: everything is published, and the next run does it.
    """
    workspace = open_workspace(settings)
    try:
        glance = look(workspace)
        glance = replace(glance, index=_promoted(context, workspace, glance.index))
    except KnowledgeBaseError as exc:
        context.log.warning(f"the control room cannot be brought up to date: {exc}")
        return
    record(context, glance)
    record_checks(context, settings, glance.overview)


def _promoted(context: dg.OpExecutionContext, workspace: Workspace, seen: IndexState) -> IndexState:
    """The index as it is once readers were switched, if they were."""
    promotion = promote_when_complete(workspace, seen, now())
    verdict = promotion.verdict
    if promotion.reason:
        (context.log.error if verdict and not verdict.passed else context.log.info)(promotion.reason)
    if verdict:
        record_verdict(context, workspace.settings, verdict, promoted=promotion.switched)
    return replace(seen, live_generation=seen.generation) if promotion.switched else seen
