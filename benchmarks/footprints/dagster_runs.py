"""A run that Dagster's daemon starts for one edited article: from the queue to its first step, to its end."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import dagster as dg

from benchmarks.changes import edit
from benchmarks.measure import memory_mb
from benchmarks.stack import Stack

_SECONDS = 240
_LOOK_SECONDS = 0.2


def run_for_an_edit(folder: Path, settings: Mapping[str, str]) -> dict[str, Any]:
    """Edit an article in ``<folder>/staging``, of which ``<folder>/home`` knows everything, and follow its run.

    Raises:
        TimeoutError: the sensor saw nothing, or the run did not end.
    """
    stack = Stack(folder, {"KB_WATCH_SECONDS": "1", **settings})
    begun = time.perf_counter()
    stack.start()
    try:
        _wait(lambda: stack.last_tick() is not None)
        ready = time.perf_counter() - begun
        edit(stack.staging, share=1e-9, seed=1)
        with stack.instance() as instance:
            known = {record.dagster_run.run_id for record in instance.get_run_records()}
            peak = _Peak(stack)
            _wait(lambda: peak.look() or _ended(instance, known) is not None)
            record = _ended(instance, known)
            assert record and record.start_time and record.end_time
            return {
                "watching_s": round(ready, 2),
                "queued_to_started_s": round(record.start_time - record.create_timestamp.timestamp(), 2),
                "started_to_ended_s": round(record.end_time - record.start_time, 2),
                "success": record.dagster_run.status is dg.DagsterRunStatus.SUCCESS,
                "at_rest_mb": peak.first_mb,
                "peak_mb": peak.most_mb,
            }
    finally:
        stack.stop()


class _Peak:
    """Memory of all processes of the stack together, first and most."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self.first_mb = self.most_mb = self._now()

    def look(self) -> bool:
        """Look again; never true, for use in a condition."""
        self.most_mb = max(self.most_mb, self._now())
        return False

    def _now(self) -> int:
        daemons = [process.pid for process in self._stack.processes() if process.kind == "daemon"]
        return sum(map(memory_mb, daemons))


def _ended(instance: dg.DagsterInstance, known: set[str]) -> dg.RunRecord | None:
    new = [record for record in instance.get_run_records() if record.dagster_run.run_id not in known]
    return next((record for record in new if record.dagster_run.is_finished), None)


def _wait(done: Any) -> None:  # noqa: ANN401
    deadline = time.monotonic() + _SECONDS
    while not done():
        if time.monotonic() > deadline:
            raise TimeoutError("Dagster's daemon did not do it")
        time.sleep(_LOOK_SECONDS)
