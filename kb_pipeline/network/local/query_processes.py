"""The processes that answer queries of a local store. A query that takes too much ends its process and no other."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from queue import Empty, LifoQueue
from threading import Lock

from kb_pipeline.errors import LimitExceededError, QueryFailedError, WorkerLostError
from kb_pipeline.limited import process as limited
from kb_pipeline.network.base import QueryLimits, Rows
from kb_pipeline.network.local.answers import MEMORY_MB, TooLargeError, WornOutError, answer, be_ready, too_slow

AT_ONCE = 4
"""So many queries are answered at a time; further ones wait."""
READY = 3
"""So many processes are started before they are needed: two queries in a row may end theirs."""
_LATE_SECONDS = 0.3
"""How long a query whose time is over may take to stop by itself."""
_GIVEN_UP = "nobody waits for the answer to this query any more"
_CLOSED = "the store of this network was closed meanwhile; ask again"
_MOST_MB = MEMORY_MB + 200
"""What DuckDB may take, and Python with the answer."""


class PendingQuery:
    """A query that is waited for, until whoever asked gives it up. Threads can share it."""

    def __init__(self) -> None:
        self._process: limited.LimitedProcess | None = None
        self._is_given_up = False
        self._lock = Lock()

    def give_up(self) -> None:
        """End the process that answers, or is about to."""
        with self._lock:
            self._is_given_up = True
            if self._process:
                self._process.interrupt()

    @contextmanager
    def answered_by(self, process: limited.LimitedProcess) -> Iterator[None]:
        """A block in which a process answers the query.

        Raises:
            QueryFailedError: nobody waits any more.
        """
        with self._lock:
            if self._is_given_up:
                raise QueryFailedError(_GIVEN_UP)
            self._process = process
        try:
            yield
        finally:
            with self._lock:
                self._process = None


class QueryProcesses:
    """Answers queries. Threads can share it.

    Some processes are kept ready, for the queries after those that end their processes; each that ends is replaced at
    once. The last is started when all others are at work.
    """

    def __init__(self) -> None:
        self._processes = [limited.LimitedProcess(quiet=True) for _ in range(AT_ONCE)]
        self._cold = list(self._processes)
        self._idle: LifoQueue[limited.LimitedProcess] = LifoQueue()  # who was idle last is warm
        self._starting = ThreadPoolExecutor(1, thread_name_prefix="network-start")
        self._preparing = Lock()
        self._is_closed = False
        self.are_ready = False
        """Whether a process was started, so that queries need not wait for that."""

    def prepare(self, path: str) -> None:
        """Start a process, and further ones in the background.

        Raises:
            ScenarioError: the file cannot be opened.
        """
        with self._preparing:
            if not self.are_ready:
                self._cold[-1].call(be_ready, path)
                self._idle.put(self._cold.pop())
                for _ in range(READY - 1):
                    self._starting.submit(self._start, self._cold.pop(), path)
                self.are_ready = True

    def answer(self, path: str, text: str, limits: QueryLimits, asked: PendingQuery) -> Rows:
        """Answer one SELECT about a DuckDB file, unless it is given up.

        Raises:
            QueryError: it may not be asked, or cannot be answered within its limits.
        """
        self.prepare(path)
        allowed = limited.ProcessLimits(limits.seconds + _LATE_SECONDS, _MOST_MB)
        while True:
            process = self._taken(path)
            try:
                if not process.is_alive:
                    process.call(be_ready, path)  # which is no part of the query's time
                with asked.answered_by(process):
                    return process.call(answer, path, text, limits, limits=allowed)
            except WornOutError:
                process.kill()
            except TooLargeError:
                process.kill()  # what it freed is not all there for the next query
                raise
            except LimitExceededError as exc:
                is_slow = str(exc) == allowed.too_long("")
                raise (QueryFailedError(too_slow(limits)) if is_slow else TooLargeError()) from exc
            except WorkerLostError as exc:
                raise QueryFailedError("the database broke down over this query; write it in another way") from exc
            finally:
                if process.is_alive:
                    self._idle.put(process)
                else:
                    self._replace(process, path)

    def close(self) -> None:
        """End the processes."""
        self._is_closed = True
        self._starting.shutdown(wait=True, cancel_futures=True)
        for process in self._processes:
            process.kill()
        self._idle.put(self._processes[0])  # wakes a query that waits

    def _taken(self, path: str) -> limited.LimitedProcess:
        """A process that is ready; if there is none, the first that is ready again, or that was started."""
        try:
            process = self._idle.get_nowait()
        except Empty:
            if self._cold:
                self._replace(self._cold.pop(), path)
            process = self._idle.get()
        if self._is_closed:
            self._idle.put(process)  # for the next one that waits
            raise QueryFailedError(_CLOSED)
        return process

    def _replace(self, process: limited.LimitedProcess, path: str) -> None:
        with suppress(RuntimeError):  # closed meanwhile
            self._starting.submit(self._start, process, path)

    def _start(self, process: limited.LimitedProcess, path: str) -> None:
        """Make a process ready, and idle. If that fails in the background, so does the next query, which is told."""
        try:
            process.call(be_ready, path)
        finally:
            self._idle.put(process)
