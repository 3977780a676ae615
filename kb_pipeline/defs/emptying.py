"""Dagster's part of an environment that is emptied: its partitions, and the runs that forbid it."""

from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg

from kb_pipeline.defs.sensors import UNFINISHED

_NAMED = 5
"""Runs that a refusal names."""
_SETS = ("articles", "scenarios")


@contextmanager
def opened() -> Iterator["Partitions"]:
    """The partitions on the instance in ``DAGSTER_HOME``."""
    with dg.DagsterInstance.get() as instance:
        yield Partitions(instance)


class Partitions:
    """The articles and scenarios that are partitions, and whether they may be removed."""

    def __init__(self, instance: dg.DagsterInstance) -> None:
        self._instance = instance

    def unfinished(self) -> list[str]:
        """The ids of runs that are going on or waiting; only some, if they are many."""
        filters = dg.RunsFilter(statuses=list(UNFINISHED))
        return [f"{run.job_name} {run.run_id}" for run in self._instance.get_runs(filters=filters, limit=_NAMED)]

    def find(self) -> list[str]:
        """The names of the partitions."""
        return sorted(name for each in _SETS for name in self._instance.get_dynamic_partitions(each))

    def remove(self) -> None:
        """Remove the partitions; the history of their runs stays."""
        for each in _SETS:
            for name in self._instance.get_dynamic_partitions(each):
                self._instance.delete_dynamic_partition(each, name)
