"""Worker processes on this machine, one for each core unless told otherwise."""

import math
import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, TypeVar

from loky import cpu_count

from kb_pipeline.limited.process import UNLIMITED, LimitedProcess, ProcessLimits
from kb_pipeline.workers.base import Outcome, Workers

T = TypeVar("T")

_AHEAD = 3
"""Submitted items for each process, so that none is idle while the main process publishes a batch."""

_IDLE_SECONDS = 60
"""How long workers keep their models loaded between batches."""


class LocalWorkers(Workers):
    """A pool of processes that outlives a call; ``processes`` 0: one for each core. ``limits`` are for one item."""

    def __init__(self, processes: int = 0, limits: ProcessLimits = UNLIMITED) -> None:
        self.processes = processes or int(cpu_count())
        self.limits = limits

    def arrivals(
        self, function: Callable[[str], T], items: Iterable[str], patience: float = math.inf
    ) -> Iterator[list[Outcome[T]]]:
        waiting = deque(dict.fromkeys(items))
        running: dict[Future[T], str] = {}
        processes = min(len(waiting), self.processes)
        try:
            while waiting or running:
                while waiting and len(running) < _AHEAD * self.processes:
                    item = waiting.popleft()
                    running[self._submit(processes, function, (item,), self.limits, item)] = item
                done = wait(running, None if patience == math.inf else patience, FIRST_COMPLETED).done
                yield [_outcome(running.pop(future), future) for future in done]
        finally:
            for future in running:
                future.cancel()

    def call(self, function: Callable[[], T]) -> T:
        return self._submit(1, function, (), UNLIMITED, "call").result()

    def warm_up(self, function: Callable[[], object]) -> None:
        self._submit(1, function, (), UNLIMITED, "call")

    def _submit(
        self, processes: int, function: Callable[..., T], arguments: tuple[str, ...], limits: ProcessLimits, name: str
    ) -> Future[T]:
        job: _Job[T] = _Job(Future(), function, arguments, limits, name)
        _pool(self.processes).submit(job, processes)
        return job.future


def _outcome(item: str, future: "Future[Any]") -> Outcome[Any]:
    try:
        return item, future.result()
    except Exception as exc:  # raised by the function, or its result cannot be pickled
        return item, exc


@dataclass(frozen=True)
class _Job(Generic[T]):
    """A call, and the future of its result."""

    future: "Future[T]"
    function: Callable[..., T]
    arguments: tuple[str, ...]
    limits: ProcessLimits
    name: str

    def do(self, process: LimitedProcess) -> None:
        if self.future.set_running_or_notify_cancel():
            try:
                self.future.set_result(process.call(self.function, *self.arguments, limits=self.limits, name=self.name))
            except BaseException as exc:
                self.future.set_exception(exc)


class _Pool:
    """Threads with a process each, which end when there was nothing to do for a while."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[_Job[Any]] = queue.SimpleQueue()
        self._threads = 0
        self._counting = threading.Lock()

    def submit(self, job: _Job[Any], processes: int) -> None:
        """Queue the job, and start processes until there are at least this many."""
        with self._counting:
            self._jobs.put(job)
            while self._threads < processes:
                self._threads += 1
                threading.Thread(target=self._work, name="kb-worker", daemon=True).start()

    def _work(self) -> None:
        process = LimitedProcess()
        while job := self._next():
            job.do(process)
            del job  # its result may be large
        process.kill()

    def _next(self) -> _Job[Any] | None:
        try:
            return self._jobs.get(timeout=_IDLE_SECONDS)
        except queue.Empty:
            with self._counting:
                if self._jobs.empty():
                    self._threads -= 1
                    return None
            return self._next()


@cache
def _pool(_processes: int) -> _Pool:
    """A pool for each number of processes, so that no caller gets more processes than it asked for."""
    return _Pool()
