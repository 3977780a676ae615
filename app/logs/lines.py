"""The newest lines of this process's log, for people who are signed in. Secrets are masked before a line is kept.

A request about a network logs for those who may read its scenario. Any other line may be about every network that was
read so far, so it is kept for those who may read all of them.
"""

import logging
from collections import deque
from contextvars import ContextVar
from functools import cache
from typing import NamedTuple

from app.logs.redacting import RedactingFormatter
from kb_pipeline.records import HIDDEN

MOST = 100
"""Lines: a page of the log. Older ones are in the log itself."""
LOGGED = ("app", "azure", "uvicorn")
NOTED = "app.notes"
_LONGEST = 2000
"""Characters of a line; a traceback in one line is longer, and stands in the log itself."""
About = tuple[tuple[str, tuple[str, ...]], ...]
"""Names of scenarios, and the access control list of each at that time."""
FOR_NOBODY: dict[str, About] = {"about": (("", (HIDDEN,)),)}
"""The ``extra`` of a record that is about a scenario of which nobody knows who may read it."""


class LogLine(NamedTuple):
    """A line, and the scenarios that it may be about."""

    number: int
    text: str
    about: About = ()


class LogTail(logging.Handler):
    """Keeps the last lines with a number each. Readers ask for what is newer; nothing waits for them."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.setFormatter(RedactingFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        self._lines: deque[LogLine] = deque(maxlen=MOST)
        self._number = 0
        self._readers: dict[str, tuple[str, ...]] = {}
        self._scenario: ContextVar[str] = ContextVar("scenario", default="")

    def concern(self, scenario: str, readers: tuple[str, ...]) -> None:
        """From now on lines may be about this scenario, which these may read."""
        if self._readers.get(scenario) != readers:
            self._readers = {**self._readers, scenario: readers}  # threads that log see the one or the other

    def tell_about(self, scenario: str) -> None:
        """What this request, or this task, logs from now on is about this scenario alone."""
        self._scenario.set(scenario)

    def _about(self) -> About:
        known, scenario = self._readers, self._scenario.get()
        return ((scenario, known[scenario]),) if scenario else tuple(known.items())

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a line; logging calls this with the handler's lock."""
        try:
            line = self.format(record)
        except Exception:
            self.handleError(record)
            return
        self._number += 1
        self._lines.append(LogLine(self._number, line[:_LONGEST], getattr(record, "about", None) or self._about()))

    def after(self, number: int) -> list[LogLine]:
        """The kept lines after the one of this number, the oldest first."""
        self.acquire()
        try:
            return [each for each in self._lines if each.number > number]
        finally:
            self.release()


@cache
def log_tail() -> LogTail:
    """The tail of this process."""
    return LogTail()


def keep_log_lines() -> None:
    """Keep lines of the service, of Azure's SDKs and of the server from now on."""
    for name in LOGGED:
        _attach(logging.getLogger(name))
    # what is noted for readers of the tail only: it would drown what the terminal and the traces tell
    noted = logging.getLogger(NOTED)
    noted.setLevel(logging.INFO)
    noted.propagate = False
    _attach(noted)


def note(said: str) -> None:
    """Keep a line about what the service does, for readers of the tail only."""
    logging.getLogger(NOTED).info(said)


def _attach(logger: logging.Logger) -> None:
    if log_tail() not in logger.handlers:
        logger.addHandler(log_tail())
