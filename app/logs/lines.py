"""The newest lines of this process's log, for people who are signed in. Secrets are masked before a line is kept.

While a scenario is served, any line may be about it, so each is kept for those who may read that scenario.
"""

import logging
from collections import deque
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
FOR_NOBODY = {"about": ("", (HIDDEN,))}
"""The ``extra`` of a record that is about a scenario of which nobody knows who may read it."""


class LogLine(NamedTuple):
    """A line, and the scenario that it may be about: its name, and its access control list at that time."""

    number: int
    text: str
    scenario: str = ""
    readers: tuple[str, ...] = ()


class LogTail(logging.Handler):
    """Keeps the last lines with a number each. Readers ask for what is newer; nothing waits for them."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.setFormatter(RedactingFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        self._lines: deque[LogLine] = deque(maxlen=MOST)
        self._number = 0
        self._about: tuple[str, tuple[str, ...]] = ("", ())

    def concern(self, scenario: str, readers: tuple[str, ...]) -> None:
        """From now on lines may be about this scenario, which these may read."""
        self._about = scenario, readers

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a line; logging calls this with the handler's lock."""
        try:
            line = self.format(record)
        except Exception:
            self.handleError(record)
            return
        self._number += 1
        self._lines.append(LogLine(self._number, line[:_LONGEST], *getattr(record, "about", self._about)))

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
