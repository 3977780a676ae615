"""Dagster's run launcher for one machine, with an eye on the processes of the runs.

Dagster's own leaves it to the code server to notice that a run's process was killed. When the code server was killed
with it, or when the run was started by a command, the run would be under way for ever, and hold up all that wait for
their turn. Chosen in ``dagster.yaml``; run monitoring asks it.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dagster import DagsterEventType, DagsterInstance, DagsterRun
from dagster._core.events import EngineEventData
from dagster._core.launcher import CheckRunHealthResult, DefaultRunLauncher, WorkerStatus
from dagster._serdes import ConfigurableClassData

_CLOCK_ERROR_SECONDS = 5


class LocalRunLauncher(DefaultRunLauncher):
    """:class:`DefaultRunLauncher` that can tell whether a run's process is still there."""

    @classmethod
    def from_config_value(cls, inst_data: ConfigurableClassData, config_value: Mapping[str, Any]) -> "LocalRunLauncher":
        """Build from ``run_launcher`` of ``dagster.yaml``; there is nothing to configure."""
        return cls(inst_data=inst_data)

    @property
    def supports_check_run_worker_health(self) -> bool:
        """Asked by run monitoring before it asks for the health of a run."""
        return True

    def check_run_worker_health(self, run: DagsterRun) -> CheckRunHealthResult:
        """Whether the process that executes a started run is there. One that has not said who it is, is."""
        known = _process_of(self._instance, run.run_id)
        if known is None or is_running(*known):
            return CheckRunHealthResult(WorkerStatus.RUNNING)
        return CheckRunHealthResult(WorkerStatus.NOT_FOUND, f"its process {known[0]} is gone")


def _process_of(instance: DagsterInstance, run_id: str) -> tuple[int, float] | None:
    """The process that executes the run, and a time at which it did: it tells both when it starts."""
    for entry in instance.all_logs(run_id, of_type=DagsterEventType.ENGINE_EVENT):
        data = entry.get_dagster_event().event_specific_data
        if isinstance(data, EngineEventData) and "pid" in data.metadata:
            return int(str(data.metadata["pid"].value)), entry.timestamp
    return None


def is_running(pid: int, at: float) -> bool:
    """Whether there is a process ``pid`` that was there ``at`` that time (seconds since 1970) already."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return False  # another user's: the number was given away again
    return _started(pid) <= at + _CLOCK_ERROR_SECONDS


def _started(pid: int) -> float:
    """When a process started; 0 where the system does not tell, infinity when it has ended just now."""
    system = Path("/proc/stat")
    if not system.is_file():
        return 0.0
    try:
        state, *fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return float("inf")
    if state == "Z":
        return float("inf")  # killed, and its parent has not asked for its exit code
    booted = next(int(line.split()[1]) for line in system.read_text().splitlines() if line.startswith("btime"))
    return booted + int(fields[18]) / os.sysconf("SC_CLK_TCK")
