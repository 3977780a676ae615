"""The Dagster steps that `benchmarks.control_room` measures, one per process, with the real instance and jobs.

    python -m benchmarks.dagster_steps ingest|tick|follow|reconcile [--profile FILE]

`tick` evaluates the staging sensor twice, the second time with the cursor of the first. `follow` does the daemon's
work: it evaluates the sensor and executes the requested runs until no run is requested. Prints seconds as JSON.
"""

import argparse
import cProfile
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from kb_pipeline.cli.instance import dagster_environment
from kb_pipeline.settings import load_settings

if TYPE_CHECKING:
    from dagster import RunRequest

_QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
_MOST_TICKS = 1000


def main() -> None:
    """Do one step and print its seconds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=sorted(_STEPS))
    parser.add_argument("--profile", type=Path, help="write a profile of this process, for pstats or snakeviz")
    arguments = parser.parse_args()
    os.environ.update(dagster_environment(load_settings()))
    with _profiled(arguments.profile):
        print(json.dumps(_STEPS[arguments.step]()))


@contextmanager
def _profiled(target: Path | None) -> Iterator[None]:
    if target is None:
        yield
        return
    with cProfile.Profile() as profile:
        yield
    profile.dump_stats(target)


class _Dagster:
    """Our definitions on the instance that the environment names."""

    def __init__(self) -> None:
        started, before = time.perf_counter(), time.process_time()
        import dagster as dg

        from kb_pipeline.definitions import defs

        self._dg, self._defs, self._instance = dg, defs(), dg.DagsterInstance.get()
        self._cursor = load_settings().home_path / "benchmark-cursor"
        self.loading = {
            "loading_s": round(time.perf_counter() - started, 2),
            "loading_cpu_s": round(time.process_time() - before, 2),
        }

    def run(self, job: str, config: Mapping[str, object], tags: Mapping[str, str]) -> float:
        """Execute a job in this process and return its seconds."""
        started = time.perf_counter()
        result = self._defs.get_job_def(job).execute_in_process(
            run_config={**config, **_QUIET},
            tags=tags,
            instance=self._instance,
            raise_on_error=False,
        )
        if not result.success:
            raise RuntimeError(f"{job} failed: run {result.run_id}")
        return time.perf_counter() - started

    def tick(self) -> "tuple[float, list[RunRequest]]":
        """Evaluate the staging sensor; return its seconds and the runs that it requests."""
        started = time.perf_counter()
        cursor = self._cursor.read_text() if self._cursor.exists() else None
        sensor = self._defs.get_repository_def().get_sensor_def("staging_sensor")
        resources = dict(self._defs.resources or {})
        with self._dg.build_sensor_context(self._instance, cursor=cursor, resources=resources) as context:
            data = sensor.evaluate_tick(context)
        for request in data.dynamic_partitions_requests or []:
            self._instance.add_dynamic_partitions(request.partitions_def_name, list(request.partition_keys))
        self._cursor.write_text(data.cursor or "")
        return time.perf_counter() - started, list(data.run_requests or [])


def _ingest() -> dict[str, float]:
    dagster = _Dagster()
    return {**dagster.loading, "run_s": round(dagster.run("ingest_articles", {}, {}), 2)}


def _reconcile() -> dict[str, float]:
    dagster = _Dagster()
    return {**dagster.loading, "run_s": round(dagster.run("reconcile", {}, {}), 2)}


def _tick() -> dict[str, float]:
    dagster = _Dagster()
    first, asked = dagster.tick()
    if asked:
        raise RuntimeError(f"the sensor asks for {len(asked)} runs, although nothing changed")
    return {**dagster.loading, "first_tick_s": round(first, 3), "tick_s": round(dagster.tick()[0], 3)}


def _follow() -> dict[str, float]:
    dagster = _Dagster()
    tick_s = run_s = 0.0
    runs = 0
    for _ in range(_MOST_TICKS):
        seconds, asked = dagster.tick()
        tick_s += seconds
        if not asked and runs:
            return {**dagster.loading, "ticks_s": round(tick_s, 2), "runs": runs, "runs_s": round(run_s, 2)}
        for request in asked:
            runs += 1
            run_s += dagster.run(request.job_name or "", request.run_config, request.tags)
    raise RuntimeError("the sensor never came to rest")


_STEPS: dict[str, Callable[[], dict[str, float]]] = {
    "ingest": _ingest,
    "tick": _tick,
    "follow": _follow,
    "reconcile": _reconcile,
}

if __name__ == "__main__":
    main()
