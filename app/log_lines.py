"""The newest lines of this process's log, for people who are signed in. Secrets are masked before a line is kept."""

import logging
from collections import deque
from functools import cache

from app.logs import RedactingFormatter

MOST = 100
LOGGED = ("app", "azure", "uvicorn")
NOTED = "app.notes"
_LONGEST = 2000


class LogTail(logging.Handler):
    """Keeps the last lines with a number each. Readers ask for what is newer; nothing waits for them."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.setFormatter(RedactingFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        self._lines: deque[tuple[int, str]] = deque(maxlen=MOST)
        self._number = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a line; logging calls this with the handler's lock."""
        try:
            line = self.format(record)
        except Exception:
            self.handleError(record)
            return
        self._number += 1
        self._lines.append((self._number, line[:_LONGEST]))

    def after(self, number: int) -> list[tuple[int, str]]:
        """The kept lines after the one of this number, the oldest first."""
        self.acquire()
        try:
            return [each for each in self._lines if each[0] > number]
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
