"""Worker processes on the nodes of a Ray cluster.

Each article is a Ray task. Ray keeps its worker processes, and thereby their models, from task to task for as long
as the process that submits stays connected. Not here: finding and joining the cluster.
"""

import traceback
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from types import ModuleType
from typing import Any, TypeVar

from kb_pipeline.errors import WorkerLostError
from kb_pipeline.workers.base import Outcome, Workers
from kb_pipeline.workers.ray_cluster import join

T = TypeVar("T")

_TRIES = 3
"""Of an item whose worker or node was lost. Ray would retry without end what it killed for lack of memory."""

_LOOK_AGAIN_SECONDS = 5.0
"""New nodes are noticed so soon even while every task takes long."""


class RayWorkers(Workers):
    """Tasks on the cluster at ``address``, each of which asks for ``task_cpus`` logical CPUs."""

    def __init__(self, address: str | None = None, task_cpus: float = 1) -> None:
        self.address = address
        self.task_cpus = task_cpus

    def map_unordered(self, function: Callable[[str], T], items: Iterable[str]) -> Iterator[Outcome[T]]:
        """Keep twice as many tasks submitted as can run, so that no node waits and a cluster that may grow does."""
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
                    running[task.options(**options).remote(function, item)] = item
                done, _ = ray.wait(list(running), timeout=_LOOK_AGAIN_SECONDS)
                for ref in done:
                    item, outcome = running.pop(ref), _outcome(ray, ref)
                    if not _is_lost(ray, outcome):
                        yield item, outcome
                    elif tries[item] < _TRIES:
                        waiting.appendleft(item)
                    else:
                        yield item, WorkerLostError(item)
        finally:
            _cancel(ray, running)

    def call(self, function: Callable[[], T]) -> T:
        """Call it in a worker on any node."""
        ((_, outcome),) = self.map_unordered(partial(_call, function), ["call"])
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def _window(self, ray: ModuleType) -> int:
        """Asked of the cluster each time, because nodes come and go."""
        cpus = ray.cluster_resources().get("CPU", 0)
        return 2 * max(1, int(cpus / self.task_cpus))


def _apply(function: Callable[[str], T], item: str) -> T:
    try:
        return function(item)
    except Exception as exc:
        exc.add_note(traceback.format_exc())  # a traceback does not travel
        raise


def _call(function: Callable[[], T], _item: str) -> T:
    return function()


def _outcome(ray: ModuleType, ref: Any) -> Any:  # noqa: ANN401
    try:
        return ray.get(ref)
    except ray.exceptions.RayTaskError as exc:
        return exc.cause if isinstance(exc.cause, Exception) else exc
    except Exception as exc:  # the worker is gone, or what it sent cannot be read
        return exc


def _is_lost(ray: ModuleType, outcome: object) -> bool:
    """Whether worker, node or result is gone, rather than the function failed."""
    errors = ray.exceptions
    return isinstance(
        outcome,
        errors.WorkerCrashedError
        | errors.NodeDiedError
        | errors.LocalRayletDiedError
        | errors.OutOfMemoryError
        | errors.ObjectLostError,
    )


def _cancel(ray: ModuleType, running: Iterable[Any]) -> None:
    if ray.is_initialized():  # not at the end of the process
        for ref in running:
            ray.cancel(ref)
