"""A process that calls functions within limits, and is killed and replaced when a function exceeds them.

The supervisor is the calling thread: while it waits for the result, it checks time and memory, and kills the process at
the limit. This also stops an endless regular expression, or a native library that allocates without end.
"""

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import inf
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from multiprocessing.util import Finalize
from typing import Any, TypeVar
from weakref import WeakSet

import psutil

from kb_pipeline.errors import LimitExceededError, WorkerLostError


@dataclass(frozen=True)
class ProcessLimits:
    """Seconds of wall time and MB of resident memory; ``remedy`` is the advice for the error message.

    Time inside :func:`kb_pipeline.limited.waiting` does not count. :func:`kb_pipeline.limited.progressed` starts the
    clock anew.
    """

    seconds: float = inf
    memory_mb: float = inf
    remedy: str = ""

    def too_long(self, activity: str) -> str:
        """The message when the time is exceeded."""
        return self._message(f"took longer than {self.seconds:g} s", activity)

    def too_large(self, activity: str) -> str:
        """The message when the memory is exceeded."""
        return self._message(f"needed more than {self.memory_mb:,.0f} MB of memory", activity)

    def _message(self, excess: str, activity: str) -> str:
        return excess + (f" while {activity}" if activity else "") + (f"; {self.remedy}" if self.remedy else "")


UNLIMITED = ProcessLimits()


T = TypeVar("T")

_LOOK_SECONDS = 0.05
"""Between two checks of the memory; a process can grow by 100 MB in this time."""

_START_SECONDS = 300.0
"""Seconds to start Python and import the function; the function's own time begins afterwards."""

_MB = 1 << 20


class LimitedProcess:
    """A child process that is started by the first call and kept for the next ones. It runs one call at a time.

    ``quiet``: its standard error is discarded, to which native code writes when it crashes. ``activity`` is what it
    does now, after the name of the call: ``"layers: describing shot.png"``; "" if nothing is known.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self._errors = subprocess.DEVNULL if quiet else None
        self._child: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None
        self._calls = 0
        self._one_at_a_time = threading.Lock()
        self.activity = ""
        _processes.add(self)

    def call(
        self, function: Callable[..., T], *arguments: object, limits: ProcessLimits = UNLIMITED, name: str = "call"
    ) -> T:
        """Call ``function`` in the process and wait for its result; its exceptions are raised here.

        Function, arguments and result must be picklable.

        Raises:
            LimitExceededError: it took too long or too much memory, and the process was killed.
            WorkerLostError: the process died; the message begins with ``name``.
        """
        request = (function, arguments, limits.seconds)
        with self._one_at_a_time:
            while True:
                self._start()
                self._calls += 1
                is_fresh = self._calls == 1
                try:
                    value: T = self._outcome(request, limits, name)
                    return value
                except _TooMuchMemory as exc:
                    self.kill()
                    if is_fresh:
                        raise LimitExceededError(limits.too_large(exc.activity), exc.note) from None
                    # memory of earlier calls may be the reason: try again in a new process
                except LimitExceededError:
                    self.kill()
                    raise
                finally:
                    self.activity = ""

    @property
    def is_alive(self) -> bool:
        """Whether there is a process, which the next call uses."""
        child = self._child
        return child is not None and child.poll() is None

    def interrupt(self) -> None:
        """End the process from another thread than the one that waits for a call, which fails as lost."""
        if child := self._child:
            child.kill()

    def kill(self) -> None:
        """End the process at once. The next call starts a new one."""
        child, connection = self._child, self._connection
        self._child = self._connection = None
        if child:
            child.kill()
            child.wait()
        if connection:
            connection.close()

    def __del__(self) -> None:
        self.kill()

    def _start(self) -> None:
        if self.is_alive:
            return
        self.kill()
        _end_with_this_process()
        if _ending.is_set():
            raise WorkerLostError("call", "this program ends")
        self._connection, theirs = Pipe()
        with theirs:
            script = (
                f"import sys; sys.path[:] = {[str(path) for path in sys.path]!r}; "
                f"from kb_pipeline.limited.child import main; main({theirs.fileno()})"
            )
            self._child = subprocess.Popen(
                [sys.executable, "-c", script],
                stdin=subprocess.DEVNULL,
                stderr=self._errors,
                pass_fds=[theirs.fileno()],
            )
        self._calls = 0

    def _outcome(self, request: tuple[object, ...], limits: ProcessLimits, name: str) -> Any:  # noqa: ANN401
        child, connection = self._child, self._connection
        if child is None or connection is None:  # killed by another thread, because this program ends
            raise WorkerLostError(name)
        watch = _Watch(psutil.Process(child.pid), limits)
        try:
            connection.send(request)
            while True:
                if connection.poll(_LOOK_SECONDS):
                    kind, value = connection.recv()
                    if kind == "result":
                        return value
                    if kind == "error":
                        raise _Raised(value)
                    watch.add_report(kind, value)
                    self.activity = f"{name}: {watch.activity}" if watch.activity else ""
                watch.check()
        except _Raised as raised:
            raise raised.exception from None
        except (LimitExceededError, _TooMuchMemory):
            raise
        except (OSError, EOFError, psutil.Error):
            self.kill()
            raise WorkerLostError(name, watch.activity, watch.note) from None
        except Exception:  # the call cannot be pickled, or its result cannot be unpickled
            raise
        except BaseException:  # interrupted: nobody waits for the result any more
            self.kill()
            raise


class _Raised(Exception):
    def __init__(self, exception: Exception) -> None:
        self.exception = exception


class _TooMuchMemory(Exception):
    def __init__(self, activity: str, note: str) -> None:
        self.activity, self.note = activity, note


class _Watch:
    """Watches the time and memory of one call."""

    def __init__(self, process: psutil.Process, limits: ProcessLimits) -> None:
        self._process, self._limits = process, limits
        self._deadline = time.monotonic() + _START_SECONDS
        self._waiting_since: float | None = None
        self._has_begun = False
        self.activity = self.note = ""

    def add_report(self, kind: str, value: object) -> None:
        now = time.monotonic()
        if kind == "begun":
            self._has_begun, self._deadline = True, now + self._limits.seconds
        elif kind == "doing":
            self.activity = str(value)
        elif kind == "note":
            self.note = str(value)
        elif kind == "waiting":
            self._waiting_since = now
        elif kind == "working" and self._waiting_since is not None:
            self._deadline += now - self._waiting_since
            self._waiting_since = None

    def check(self) -> None:
        if self._waiting_since is None and time.monotonic() > self._deadline:
            limits = self._limits if self._has_begun else ProcessLimits(_START_SECONDS)
            activity = self.activity if self._has_begun else "starting a process"
            raise LimitExceededError(limits.too_long(activity), self.note)
        if self._process.memory_info().rss > self._limits.memory_mb * _MB:
            raise _TooMuchMemory(self.activity, self.note)


_processes: "WeakSet[LimitedProcess]" = WeakSet()
_ending = threading.Event()


@cache
def _end_with_this_process() -> None:
    def kill_all() -> None:
        _ending.set()
        for process in list(_processes):
            process.kill()

    # not atexit: a process that multiprocessing started, such as a run of Dagster, does not always run its handlers
    Finalize(None, kill_all, exitpriority=20)


def activities() -> list[str]:
    """What the processes that this process started do now, in order of their names."""
    return sorted(process.activity for process in list(_processes) if process.activity)
