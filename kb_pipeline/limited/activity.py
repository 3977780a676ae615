"""Reports of a function in a limited process to its supervisor. In any other process they do nothing."""

import faulthandler
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from math import inf
from multiprocessing.connection import Connection

_GRACE_SECONDS = 60.0
"""Time after the limit when a process ends itself, because its supervisor, which acts at the limit, must be dead."""


class _Reporter:
    """The connection to the supervisor of this process."""

    def __init__(self) -> None:
        self._connection: Connection | None = None
        self._sending = threading.Lock()
        self._seconds = inf

    def open(self, connection: Connection) -> None:
        self._connection = connection

    def begin(self, seconds: float) -> None:
        """Report that a function begins, with a limit of ``seconds``."""
        self._seconds = seconds
        self.tell("begun")
        self.arm()

    def arm(self) -> None:
        """End this process some time after the limit, even if the function hangs while it holds the GIL."""
        if self._connection and self._seconds != inf:
            faulthandler.dump_traceback_later(self._seconds + _GRACE_SECONDS, exit=True)

    def disarm(self) -> None:
        if self._connection:
            faulthandler.cancel_dump_traceback_later()

    def tell(self, kind: str, value: object = None) -> None:
        """Send a report, which is dropped if the supervisor is gone: the function is finished anyway."""
        with suppress(BrokenPipeError, ConnectionResetError):
            self.send(kind, value)

    def send(self, kind: str, value: object = None) -> None:
        if self._connection:
            with self._sending:
                self._connection.send((kind, value))


reporter = _Reporter()
_counting = threading.Lock()
_waits = 0


def doing(what: str) -> None:
    """Report the current activity (``"describing shot.png"``), which is named if a limit is exceeded."""
    reporter.tell("doing", what)


def progressed() -> None:
    """Start the clock anew: a part of work whose end is in sight is done, and its result is kept."""
    reporter.tell("begun")
    reporter.arm()


def leave_note(note: str) -> None:
    """Leave a note for the supervisor. It becomes the ``note`` of the error if this process is killed or dies."""
    reporter.tell("note", note)


@contextmanager
def waiting() -> Iterator[None]:
    """Stop the clock inside the block, for waits on other processes and services, which have their own limits."""
    _wait(1)
    try:
        yield
    finally:
        _wait(-1)


def _wait(more: int) -> None:
    """If several threads wait, the first stops the clock and the last starts it again."""
    global _waits
    with _counting:
        before, _waits = _waits, _waits + more
        if before == 0:
            reporter.disarm()
            reporter.tell("waiting")
        elif _waits == 0:
            reporter.tell("working")
            reporter.arm()
