"""Worker processes on this machine, one for each core unless told otherwise."""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import suppress
from functools import cache
from multiprocessing.util import Finalize
from typing import TypeVar
from weakref import WeakSet

from loky import cpu_count, get_reusable_executor
from loky.process_executor import BrokenProcessPool, ProcessPoolExecutor

from kb_pipeline.errors import WorkerLostError
from kb_pipeline.garbage import collect_seldom
from kb_pipeline.workers.base import Outcome, Workers

T = TypeVar("T")

_AHEAD = 3
"""Items that are running or wait for a process, for each process: enough to be busy while a batch is published."""

_IDLE_SECONDS = 60
"""Workers keep their models warm for this long between batches."""


class LocalWorkers(Workers):
    """A pool of processes that outlives a call; ``processes`` 0 means one for each core."""

    def __init__(self, processes: int = 0) -> None:
        self.processes = processes or int(cpu_count())

    def map_unordered(self, function: Callable[[str], T], items: Iterable[str]) -> Iterator[Outcome[T]]:
        """Keep every process busy, and twice as many items waiting for one; a few items start few processes."""
        waiting = deque(dict.fromkeys(items))
        running: dict[Future[T], str] = {}
        wanted = len(waiting)
        try:
            while waiting or running:
                try:
                    self._submit(function, waiting, running, wanted)
                    for item, outcome in _finished(running):
                        with suppress(BrokenProcessPool):  # noticed with those that were running
                            # before the outcome is told, because who takes it may be busy with it for a while
                            self._submit(function, waiting, running, wanted)
                        yield item, outcome
                except BrokenProcessPool:
                    # one of those that were running killed its process: each alone, to know which
                    suspects = list(running.values())
                    running.clear()
                    for item in suspects:
                        yield item, self._alone(function, item)
        finally:
            for future in running:
                future.cancel()

    def call(self, function: Callable[[], T]) -> T:
        """Call it in one of the processes."""
        future: Future[T] = self._executor(1).submit(function)
        try:
            return future.result()
        except BrokenProcessPool as exc:
            raise WorkerLostError("call") from exc

    def warm_up(self, function: Callable[[], object]) -> None:
        """Begin to call it in one of the processes."""
        self._executor(1).submit(function)

    def _submit(
        self, function: Callable[[str], T], waiting: deque[str], running: dict[Future[T], str], wanted: int
    ) -> None:
        executor = self._executor(wanted)
        while waiting and len(running) < _AHEAD * self.processes:
            running[executor.submit(function, waiting[0])] = waiting[0]
            waiting.popleft()

    def _alone(self, function: Callable[[str], T], item: str) -> T | Exception:
        try:
            return _outcome(self._executor(1).submit(function, item))
        except BrokenProcessPool:
            return WorkerLostError(item)

    def _executor(self, wanted: int) -> ProcessPoolExecutor:
        """So many processes if that is no more than allowed; those that are there already stay and are warm."""
        _pool.processes = min(self.processes, max(wanted, _pool.processes))
        return _reused(_pool.processes)


def _finished(running: "dict[Future[T], str]") -> Iterator[Outcome[T]]:
    """Wait for the next results and take them out of ``running``; raise if a worker died."""
    for future in wait(running, return_when=FIRST_COMPLETED).done:
        outcome = _outcome(future)
        yield running.pop(future), outcome


def _outcome(future: "Future[T]") -> T | Exception:
    try:
        return future.result()
    except BrokenProcessPool:
        raise
    except Exception as exc:  # raised by the function, or its result could not travel
        return exc


class _Pool(threading.local):
    """loky keeps a pool for each thread."""

    processes = 0


_pool = _Pool()
_executors: "WeakSet[ProcessPoolExecutor]" = WeakSet()


def _reused(processes: int) -> ProcessPoolExecutor:
    # loky would take the models of a worker that has just loaded them for a memory leak
    environment = {"LOKY_MAX_MEMORY_LEAK_SIZE": "2e9"}
    executor = get_reusable_executor(
        max_workers=processes, timeout=_IDLE_SECONDS, env=environment, initializer=collect_seldom
    )
    _end_with_this_process()
    _executors.add(executor)
    return executor


@cache
def _end_with_this_process() -> None:
    # a process that multiprocessing started, like one of Dagster's runs, waits for its children before it runs the
    # exit handlers by which loky would end them: it would stay until they have been idle for long enough
    Finalize(None, _end_all, exitpriority=20)


def _end_all() -> None:
    for executor in list(_executors):
        executor.shutdown(kill_workers=True)  # nobody is left who waits for a result
