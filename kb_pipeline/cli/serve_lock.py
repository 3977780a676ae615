"""One Dagster daemon for each instance: a lock that ``kb serve`` holds, and a note of who it is."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout
from pydantic import Field, ValidationError

from kb_pipeline.cli.instance import dagster_home
from kb_pipeline.errors import SettingsError
from kb_pipeline.records import Record
from kb_pipeline.settings import Settings

_PATIENCE = 1.0


class Served(Record):
    """The process that serves an instance, and the port of its Dagster UI; ``others`` are its other sites, by name."""

    pid: int
    port: int
    others: dict[str, str] = Field(default_factory=dict)

    @property
    def url(self) -> str:
        """The Dagster UI's address."""
        return f"http://127.0.0.1:{self.port}"


class AlreadyServedError(SettingsError):
    """Another process serves the instance; ``served`` is ``None`` when it does not say which."""

    def __init__(self, home: Path, served: Served | None) -> None:
        who = f"process {served.pid} at {served.url}" if served else "another process"
        super().__init__(f"{home} is served by {who} already; two daemons would start every run twice")
        self.served = served


@contextmanager
def only_server(home: Path, port: int, others: Mapping[str, str] | None = None) -> Iterator[None]:
    """Be the one that serves this Dagster home; the operating system lets go of the lock when a process is killed.

    Raises:
        AlreadyServedError: somebody else is.
    """
    lock = FileLock(home / "serve.lock")
    try:
        lock.acquire(timeout=_PATIENCE)
    except Timeout as exc:
        raise AlreadyServedError(home, _note(home)) from exc
    try:
        (home / "serve.json").write_text(
            Served(pid=os.getpid(), port=port, others=dict(others or {})).model_dump_json()
        )
        yield
    finally:
        (home / "serve.json").unlink(missing_ok=True)
        lock.release()


def who_serves(settings: Settings) -> Served | None:
    """The running ``kb serve`` of these settings' instance."""
    served = _note(dagster_home(settings))
    return served if served and _is_alive(served.pid) else None


def ui_url(settings: Settings) -> str:
    """Where the Dagster UI is, or would be."""
    served = who_serves(settings)
    return served.url if served else f"http://127.0.0.1:{settings.dagster_port}"


def _note(home: Path) -> Served | None:
    try:
        return Served.model_validate_json((home / "serve.json").read_bytes())
    except (OSError, ValidationError):
        return None  # it is only about to start


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True  # another user's
    return True
