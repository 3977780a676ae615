"""Dagster's run launcher for one machine, which also notices that the process of a run was killed.

Dagster's own launcher leaves that to the code server. If the code server was killed too, or the run was started by a
command, the run would count as running for ever and block the queue. ``dagster.yaml`` chooses this launcher; Dagster's
run monitoring asks it.
"""

from collections.abc import Mapping
from typing import Any

import psutil
from dagster import DagsterEventType, DagsterInstance, DagsterRun

from kb_pipeline.defs.dagster_internals import (
    CheckRunHealthResult,
    ConfigurableClassData,
    DefaultRunLauncher,
    EngineEventData,
    WorkerStatus,
)

_CLOCK_ERROR_SECONDS = 5
"""psutil computes when a process started from the time since the machine did, a little wrong."""


class LocalRunLauncher(DefaultRunLauncher):
    """:class:`DefaultRunLauncher` that can tell whether a run's process is still there."""

    @classmethod
    def from_config_value(cls, inst_data: ConfigurableClassData, config_value: Mapping[str, Any]) -> "LocalRunLauncher":
        """Build from ``run_launcher`` of ``dagster.yaml``; there is nothing to configure."""
        return cls(inst_data=inst_data)

    @property
    def supports_check_run_worker_health(self) -> bool:
        """Run monitoring asks this before it asks for the health of a run."""
        return True

    def check_run_worker_health(self, run: DagsterRun) -> CheckRunHealthResult:
        """Whether the process of a started run exists; true as long as the run has not logged its process id."""
        process = _process_of(self._instance, run.run_id)
        if process is None or is_running(*process):
            return CheckRunHealthResult(WorkerStatus.RUNNING)
        return CheckRunHealthResult(WorkerStatus.NOT_FOUND, f"its process {process[0]} is gone")


def _process_of(instance: DagsterInstance, run_id: str) -> tuple[int, float] | None:
    """The id of the process that executes the run, and when it logged that at its start."""
    for entry in instance.all_logs(run_id, of_type=DagsterEventType.ENGINE_EVENT):
        data = entry.get_dagster_event().event_specific_data
        if isinstance(data, EngineEventData) and "pid" in data.metadata:
            return int(str(data.metadata["pid"].value)), entry.timestamp
    return None


def is_running(pid: int, at: float) -> bool:
    """Whether a process ``pid`` exists that already existed ``at`` that time (seconds since 1970)."""
    try:
        process = psutil.Process(pid)
        # killed, and its parent has not read its exit code yet
        is_dead = process.status() == psutil.STATUS_ZOMBIE
        return not is_dead and process.create_time() <= at + _CLOCK_ERROR_SECONDS
    except psutil.Error:
        return False
