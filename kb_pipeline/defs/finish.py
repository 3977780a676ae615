"""What every run that publishes does at its end: complete a generation of the index, show how things are."""

import dagster as dg

from kb_pipeline.defs.checks import record_checks
from kb_pipeline.defs.clock import now
from kb_pipeline.defs.control_room import record
from kb_pipeline.generations import promote_when_complete
from kb_pipeline.settings import Settings
from kb_pipeline.workspace import open_workspace


def finish(context: dg.OpExecutionContext, settings: Settings) -> None:
    """Record the control room and the checks; switch readers to a new generation of the index that is complete."""
    glance = record(context, settings)
    if glance is None:
        return
    record_checks(context, settings, glance.overview)
    promotion = promote_when_complete(open_workspace(settings), glance.index, now())
    if promotion.reason:
        context.log.info(promotion.reason)
