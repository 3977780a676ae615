"""The audit log: who asked, searched, opened and changed what, and when, as JSON lines below ``KB_HOME/audit``.

Lines are only ever added, each by one write, so that any number of processes of this machine and user share the file of
a day. Nothing here proves that no line was removed: whoever may write to the folder can do that. The same lines are log
records, which leave the machine where telemetry is configured.
"""

import getpass
import logging
import os
import platform
import re
import threading
from collections.abc import Collection, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import monotonic
from typing import Literal

from pydantic import ValidationError

from kb_pipeline.errors import StorageError, remedy
from kb_pipeline.records import Record
from kb_pipeline.settings import Settings
from kb_pipeline.telemetry import AUDIT

Action = (
    Literal["ask", "search", "open", "query", "tool"]
    | Literal[
        "propose", "accept", "reject", "access", "rollback", "release", "remove", "empty", "model", "share", "decide"
    ]
)
"""What is done. The first five only read; the others change what readers get, or who they are."""
Outcome = Literal["done", "refused", "failed"]
Via = Literal["service", "terminal", "pipeline"]
READING: frozenset[Action] = frozenset({"ask", "search", "open", "query", "tool"})

MOST_CHARACTERS = 2000
"""Characters of a text; a line stays far below what one write puts down at once."""
_MOST_ARTICLES = 100
"""Articles of a line; more begin another, so that each line is written at once."""
_LONGEST_NAME = 300
"""Characters of a name or an address in a line."""
_COMPLAIN_SECONDS = 60.0
"""A minute: a full disk must not flood the log as well."""
_UNUSUAL = re.compile(r"[^A-Za-z0-9-]")
_FILE = re.compile(r"(\d{4}-\d\d-\d\d)\.[A-Za-z0-9-]*\.\d+\.jsonl")
_sent = logging.getLogger(AUDIT)
_log = logging.getLogger(__name__)


class AuditLine(Record):
    """What somebody did, ISO 8601 in UTC. ``refused``: they may not, or there is no such thing.

    ``about`` names what it was besides articles: an image, a version, a contribution. ``text`` is what was asked or
    searched, if that is recorded.
    """

    at: str
    action: Action
    outcome: Outcome = "done"
    who: str
    via: Via
    articles: tuple[str, ...] = ()
    about: str = ""
    text: str = ""


class AuditLog:
    """Adds lines. It never raises: what people do goes on, and :attr:`problem` says why nothing is recorded."""

    def __init__(self, settings: Settings) -> None:
        self.folder = settings.home_path / "audit"
        self.level = settings.audit
        self.problem = ""
        self._keeps_texts = settings.audit_texts
        self._days = settings.audit_days
        self._writer = f"{_UNUSUAL.sub('-', platform.node())[:60]}.{os.getuid()}"
        self._swept = ""
        self._complained_at = -_COMPLAIN_SECONDS
        self._lock = threading.Lock()

    def records(self, action: Action) -> bool:
        """Whether this is recorded."""
        return self.level == "all" or (self.level == "changes" and action not in READING)

    def add(
        self,
        action: Action,
        who: str,
        via: Via,
        *,
        outcome: Outcome = "done",
        articles: Collection[str] = (),
        about: str = "",
        text: str = "",
    ) -> None:
        """Add a line, if this is recorded; a line for each hundred articles, so that none of them is left out."""
        if not self.records(action):
            return
        now = datetime.now(UTC)
        line = AuditLine(
            at=now.isoformat(timespec="milliseconds"),
            action=action,
            outcome=outcome,
            who=_clean(who),
            via=via,
            about=_clean(about),
            text=_clean(text, MOST_CHARACTERS) if self._keeps_texts else "",
        )
        named = tuple(map(_clean, articles))
        for start in range(0, max(1, len(named)), _MOST_ARTICLES):
            self._add(now, line.model_copy(update={"articles": named[start : start + _MOST_ARTICLES]}))

    def _add(self, now: datetime, line: AuditLine) -> None:
        written = line.model_dump_json(exclude_defaults=True, ensure_ascii=True)
        _sent.info(written)
        try:
            self._write(f"{now:%Y-%m-%d}", written)
        except OSError as exc:
            self._complain(exc)
        else:
            self.problem = ""

    def check(self) -> str:
        """Say what is recorded and where.

        Raises:
            StorageError: nothing can be written there.
        """
        if self.level == "off":
            return "off"
        try:
            os.close(self._opened(f"{datetime.now(UTC):%Y-%m-%d}"))
        except OSError as exc:
            raise StorageError(self._advice(exc)) from exc
        kept = f"for {self._days} days" if self._days else "until you remove it"
        return f"{'who asks and changes what' if self.level == 'all' else 'who changes what'}, kept {kept}"

    def _write(self, day: str, line: str) -> None:
        file = self._opened(day)
        try:
            data = f"{line}\n".encode()
            if os.write(file, data) != len(data):
                os.write(file, b"\n")  # the disk is full; the next line stands alone
                raise OSError(28, "only a part of a line could be written")
        finally:
            os.close(file)
        with self._lock:
            is_new_day, self._swept = self._swept != day, day
        if is_new_day:
            self._sweep()

    def _opened(self, day: str) -> int:
        path = self.folder / f"{day}.{self._writer}.jsonl"
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            return os.open(path, flags, 0o600)
        except FileNotFoundError:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            return os.open(path, flags, 0o600)

    def _sweep(self) -> None:
        """Remove the files of days that are not kept any more."""
        if not self._days:
            return
        before = f"{datetime.now(UTC) - timedelta(days=self._days):%Y-%m-%d}"
        for path, day in _files(self.folder):
            if day < before:
                path.unlink(missing_ok=True)

    def _complain(self, exc: OSError) -> None:
        self.problem = self._advice(exc)
        if monotonic() - self._complained_at >= _COMPLAIN_SECONDS:
            self._complained_at = monotonic()
            _log.error("%s", self.problem)

    def _advice(self, exc: OSError) -> str:
        what_to_do = remedy(exc, "check who owns the folder, or set KB_AUDIT=off")
        return f"nothing is recorded in the audit log {self.folder}: {exc.strerror or exc}; {what_to_do}"


def os_user() -> str:
    """Return the user of this machine who runs this process."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a container may run as a user without a name
        return "local"


def read_audit(folder: Path, since: str = "") -> Iterator[AuditLine | str]:
    """Yield the lines of a folder in the order of their times, from a day on; what cannot be read as its description.

    Raises:
        StorageError: the folder cannot be listed.
    """
    lines: list[AuditLine] = []
    try:
        files = [path for path, day in _files(folder) if day >= since]
    except OSError as exc:
        what_to_do = remedy(exc, "check its permissions")
        raise StorageError(f"cannot list {folder} ({exc.strerror or exc}); {what_to_do}") from exc
    for path in files:
        try:
            written = path.read_bytes().splitlines()
        except OSError as exc:
            yield f"{path} cannot be read: {exc.strerror or exc}"
            continue
        damaged = 0
        for line in filter(None, written):
            try:
                lines.append(AuditLine.model_validate_json(line))
            except ValidationError:
                damaged += 1
        if damaged:
            yield f"{path} has {damaged} damaged {'line' if damaged == 1 else 'lines'}"
    yield from sorted(lines, key=lambda line: line.at)


def _files(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield our files with the days that they are of."""
    if folder.exists():
        for path in sorted(folder.iterdir()):
            if match := _FILE.fullmatch(path.name):
                yield path, match[1]


def _clean(text: str, most: int = _LONGEST_NAME) -> str:
    """Return a text that can be written as JSON, with its end cut off if it is long."""
    whole = text.encode("utf-8", "replace").decode()
    return whole if len(whole) <= most else f"{whole[:most]}…"
