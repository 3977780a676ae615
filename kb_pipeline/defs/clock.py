"""The time, which only the outermost code asks for, and the run that goes on now."""

from datetime import UTC, datetime

import dagster as dg

from kb_pipeline.layers import Run


def now() -> str:
    """The time, as ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def run_of(context: dg.OpExecutionContext) -> Run:
    """The run as what it makes remembers it."""
    return Run(context.run_id, now())
