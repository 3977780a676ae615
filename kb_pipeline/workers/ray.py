"""Worker processes on the nodes of a Ray cluster, which :mod:`kb_pipeline.workers.ray_cluster` joins.

Each article is a Ray task. It runs in a child process of Ray's worker process, so that it can be killed with a proper
error when it exceeds its limits. Ray keeps its worker processes, and so their children with the models, from task to
task while the submitting process stays connected.
"""

import math
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from types import ModuleType
from typing import Any, TypeVar

from kb_pipeline.errors import WorkerLostError
from kb_pipeline.limited.process import UNLIMITED, LimitedProcess, ProcessLimits
from kb_pipeline.workers.base import Outcome, Workers
from kb_pipeline.workers.ray_cluster import join

T = TypeVar("T")

_TRIES = 3
"""Attempts at an item whose worker or node is lost. Ray's own retries never end for a task without enough memory."""

_LOOK_AGAIN_SECONDS = 5.0
"""The longest time until new nodes are noticed, even if all tasks take long."""


class RayWorkers(Workers):
    """Tasks on the cluster at ``address``, each with ``task_cpus`` logical CPUs."""

    def __init__(self, address: str | None = None, task_cpus: float = 1, limits: ProcessLimits = UNLIMITED) -> None:
        self.address = address
        self.task_cpus = task_cpus
        self.limits = limits

    def arrivals(
        self, function: Callable[[str], T], items: Iterable[str], patience: float = math.inf
    ) -> Iterator[list[Outcome[T]]]:
        ray = join(self.address)
        task = ray.remote(_apply)
        waiting = deque(dict.fromkeys(items))
        tries: Counter[str] = Counter()
        running: dict[Any, str] = {}
        try:
            while waiting or running:
                for _ in range(min(len(waiting), self._window(ray) - len(running))):
                    item = waiting.popleft()
                    tries[item] += 1
                    options = {"name": item, "num_cpus": self.task_cpus, "max_retries": 0}
                    running[task.options(**options).remote(function, item, self.limits)] = item
                done, _ = ray.wait(list(running), timeout=min(patience, _LOOK_AGAIN_SECONDS))
                outcomes: list[Outcome[T]] = []
                for ref in done:
                    item, outcome = running.pop(ref), _outcome(ray, ref)
                    if not _is_lost(ray, outcome):
                        outcomes.append((item, outcome))
                    elif tries[item] < _TRIES:
                        waiting.appendleft(item)
                    else:
                        lost = outcome if isinstance(outcome, WorkerLostError) else WorkerLostError(item)
                        outcomes.append((item, lost))
                yield outcomes
        finally:
            _cancel(ray, running)

    def call(self, function: Callable[[], T]) -> T:
        unlimited = RayWorkers(self.address, self.task_cpus)
        ((_, outcome),) = unlimited.map_unordered(partial(_call, function), ["call"])
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def _window(self, ray: ModuleType) -> int:
        """How many tasks to submit: twice as many as can run now, so that no node is idle and a cluster can grow."""
        cpus = ray.cluster_resources().get("CPU", 0)
        return 2 * max(1, int(cpus / self.task_cpus))


def _apply(function: Callable[[str], T], item: str, limits: ProcessLimits) -> T:
    """The Ray task: call the function in a child process, within the limits."""
    return _process().call(function, item, limits=limits, name=item)


@cache
def _process() -> LimitedProcess:
    """The child process of this worker process of Ray, kept with its models for the next tasks."""
    return LimitedProcess()


def _call(function: Callable[[], T], _item: str) -> T:
    return function()


def _outcome(ray: ModuleType, ref: Any) -> Any:  # noqa: ANN401
    try:
        return ray.get(ref)
    except ray.exceptions.RayTaskError as exc:
        return exc.cause if isinstance(exc.cause, Exception) else exc
    except Exception as exc:  # the worker is gone, or its result cannot be read
        return exc


def _is_lost(ray: ModuleType, outcome: object) -> bool:
    """Whether the worker, the node or the result is lost, as opposed to a failure of the function."""
    errors = ray.exceptions
    return isinstance(
        outcome,
        WorkerLostError
        | errors.WorkerCrashedError
        | errors.NodeDiedError
        | errors.LocalRayletDiedError
        | errors.OutOfMemoryError
        | errors.ObjectLostError,
    )


def _cancel(ray: ModuleType, running: Iterable[Any]) -> None:
    if ray.is_initialized():  # not at the end of the process
        for ref in running:
            ray.cancel(ref)
