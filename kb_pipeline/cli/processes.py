"""The processes of ``kb serve`` (started in order, restarted when one dies, stopped together) and the one-server lock.

By default, Dagster's webserver and daemon each start a code server of their own, which exits when it has not received a
heartbeat for a while (on a laptop that slept). The webserver then never starts another one, and the daemon starts a new
one every minute. Here both share one code server, and we restart it.

Not here: what ``kb serve`` prints and in which order it starts things (:mod:`kb_pipeline.cli.serve`).
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from filelock import FileLock, Timeout
from pydantic import Field, ValidationError

from kb_pipeline.cli.console import err
from kb_pipeline.errors import KnowledgeBaseError, SettingsError
from kb_pipeline.records import Record
from kb_pipeline.settings import Settings
from kb_pipeline.store.home import dagster_home

MODULE = "kb_pipeline.definitions"
LOCATION = "kb_pipeline"
_QUIET = ["--log-level", "warning"]
_SHORTEST_LIFE = 60.0
"""Seconds. A process that stops sooner would stop again, so it is not restarted."""
_STOP_SECONDS = 15.0
"""Seconds for answers that are being written, and for Dagster, before a process is killed."""
_START_SECONDS = 90.0
"""Seconds: Dagster takes seven, on a busy machine several times as long."""
_LOCK_SECONDS = 1.0
"""Seconds for a server that is just ending."""
_SET_PARENT_DEATH_SIGNAL = 1
"""``PR_SET_PDEATHSIG``, see prctl(2)."""


@dataclass
class Processes:
    """Child processes by name. Each leads its own session: Ctrl-C reaches only us, and we stop them in order."""

    environment: Mapping[str, str]
    _running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    _commands: dict[str, Sequence[str]] = field(default_factory=dict)
    _since: dict[str, float] = field(default_factory=dict)

    def start(self, name: str, command: Sequence[str]) -> None:
        """Start ``python`` with these arguments. On Linux the process also ends when we are killed."""
        self._commands[name] = command
        self._since[name] = time.monotonic()
        self._running[name] = subprocess.Popen(
            [sys.executable, *command],
            env=self.environment,
            start_new_session=True,
            preexec_fn=_prepare_child,
        )

    def keep_alive(self) -> None:
        """Restart the processes that stopped.

        Raises:
            KnowledgeBaseError: a process stopped within a minute of its start.
        """
        for name, process in list(self._running.items()):
            if process.poll() is None:
                continue
            if time.monotonic() - self._since[name] < _SHORTEST_LIFE:
                raise KnowledgeBaseError(f"{name} stopped with exit code {process.returncode}; its output is above")
            err.print(f"[yellow]{name} stopped[/] (exit code {process.returncode}); restarting it")
            self.start(name, self._commands[name])

    def wait_for(self, name: str, sign: Path) -> None:
        """Wait until the process has created the file ``sign``.

        Raises:
            KnowledgeBaseError: the process stopped, or it takes too long.
        """
        deadline = time.monotonic() + _START_SECONDS
        while not sign.exists():
            self.keep_alive()
            if time.monotonic() > deadline:
                raise KnowledgeBaseError(f"{name} did not start within {_START_SECONDS:.0f} s; its output is above")
            time.sleep(0.1)

    def stop(self) -> None:
        """Terminate all processes, newest first, and kill those that do not stop in time."""
        running = [process for process in reversed(self._running.values()) if process.poll() is None]
        for process in running:
            os.killpg(process.pid, signal.SIGTERM)
        deadline = time.monotonic() + _STOP_SECONDS
        for process in running:
            try:
                process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def _prepare_child() -> None:
    """Make the new process stop on signals and, on Linux, when its parent dies. It runs in the new process."""
    # background jobs of a shell ignore Ctrl-C; Dagster would inherit that, and then ignore SIGTERM as well
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGTERM)


def code_server(socket: Path) -> list[str]:
    """Arguments of the code server, which loads the definitions, evaluates sensors and starts runs."""
    return ["-m", "dagster", "api", "grpc", "-m", MODULE, "--socket", str(socket), "--location-name", LOCATION, *_QUIET]


def webserver(workspace: Path, port: int) -> list[str]:
    """Arguments of the Dagster UI, on loopback."""
    address = ["-h", "127.0.0.1", "-p", str(port), "--dagster-log-level", "warning"]
    return ["-m", "kb_pipeline.cli.webserver", "-w", str(workspace), *address, *_QUIET]


def daemon(workspace: Path) -> list[str]:
    """Arguments of the daemon, which runs sensors, schedules and the run queue."""
    return ["-m", "dagster._daemon", "run", "-w", str(workspace), *_QUIET]


def write_workspace(path: Path, socket: Path) -> None:
    """Write a ``workspace.yaml`` that names our code server."""
    path.write_text(f"load_from:\n  - grpc_server: {{socket: {socket}, location_name: {LOCATION}}}\n")


class ServerRecord(Record):
    """The process that serves an instance, and the port of its Dagster UI; ``others`` are its other URLs by name."""

    pid: int
    port: int
    others: dict[str, str] = Field(default_factory=dict)

    @property
    def url(self) -> str:
        """The URL of the Dagster UI."""
        return f"http://127.0.0.1:{self.port}"


class AlreadyServedError(SettingsError):
    """Another process serves the instance; ``served`` is ``None`` while that process has not recorded its port yet."""

    def __init__(self, home: Path, served: ServerRecord | None) -> None:
        who = f"process {served.pid} at {served.url}" if served else "another process"
        super().__init__(f"{home} is already served by {who}; a second daemon would start every run twice")
        self.served = served


@contextmanager
def only_server(home: Path, port: int, others: Mapping[str, str] | None = None) -> Iterator[None]:
    """Hold the lock of this Dagster home and record who serves it; a killed process releases the lock.

    Raises:
        AlreadyServedError: another process holds the lock.
    """
    lock = FileLock(home / "serve.lock")
    try:
        lock.acquire(timeout=_LOCK_SECONDS)
    except Timeout as exc:
        raise AlreadyServedError(home, _read_record(home)) from exc
    try:
        (home / "serve.json").write_text(
            ServerRecord(pid=os.getpid(), port=port, others=dict(others or {})).model_dump_json()
        )
        yield
    finally:
        (home / "serve.json").unlink(missing_ok=True)
        lock.release()


def who_serves(settings: Settings) -> ServerRecord | None:
    """The running ``kb serve`` of this knowledge base, if there is one."""
    served = _read_record(dagster_home(settings))
    return served if served and psutil.pid_exists(served.pid) else None


def ui_url(settings: Settings) -> str:
    """The URL of the Dagster UI, whether it runs or not."""
    served = who_serves(settings)
    return served.url if served else f"http://127.0.0.1:{settings.dagster_port}"


def _read_record(home: Path) -> ServerRecord | None:
    try:
        return ServerRecord.model_validate_json((home / "serve.json").read_bytes())
    except (OSError, ValidationError):
        return None  # not written yet
