"""Which articles are to be ingested or removed: what is staged, compared with what was done about it before.

Pure but for the memory's file: knows neither Dagster nor the clock, and looks at nothing but what it is given.
"""

from kb_pipeline.changes.memory import Batch, Kind, Memory, load_memory, save_memory
from kb_pipeline.changes.outcomes import Attempt, Status, Surroundings
from kb_pipeline.changes.plan import Plan, plan_changes
from kb_pipeline.changes.summary import summarise, unchanged

__all__ = [
    "Attempt",
    "Batch",
    "Kind",
    "Memory",
    "Plan",
    "Status",
    "Surroundings",
    "load_memory",
    "plan_changes",
    "save_memory",
    "summarise",
    "unchanged",
]
