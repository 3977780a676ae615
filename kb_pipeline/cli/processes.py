"""The processes behind ``kb serve``: started in order, started again when one is lost, stopped together.

Dagster's own way is that webserver and daemon each start a code server, which ends when it was not heard of for a
while (a laptop that slept); the webserver never starts another one, the daemon a new one every minute. Here both
share one that we look after.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from app.page import page_command
from kb_pipeline.cli.console import err
from kb_pipeline.errors import KnowledgeBaseError

MODULE = "kb_pipeline.definitions"
LOCATION = "kb_pipeline"
_LASTING = 60.0
"""Seconds; what stops sooner than that would stop again."""
_STOP_SECONDS = 15.0
_START_SECONDS = 90.0
_SET_PARENT_DEATH_SIGNAL = 1
"""``PR_SET_PDEATHSIG``, see prctl(2)."""


@dataclass
class Processes:
    """Child processes by name. Each is the leader of a session, so that a Ctrl-C reaches it through us, in order."""

    environment: Mapping[str, str]
    _running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    _commands: dict[str, Sequence[str]] = field(default_factory=dict)
    _since: dict[str, float] = field(default_factory=dict)

    def start(self, name: str, command: Sequence[str]) -> None:
        """Start ``python`` with these arguments; it ends with us, also when we are killed (on Linux)."""
        self._commands[name] = command
        self._since[name] = time.monotonic()
        self._running[name] = subprocess.Popen(
            [sys.executable, *command],
            env=self.environment,
            start_new_session=True,
            preexec_fn=_obey,
        )

    def keep_alive(self) -> None:
        """Start again what is lost.

        Raises:
            KnowledgeBaseError: it did not last a minute.
        """
        for name, process in list(self._running.items()):
            if process.poll() is None:
                continue
            if time.monotonic() - self._since[name] < _LASTING:
                raise KnowledgeBaseError(f"{name} stopped with exit code {process.returncode}; its output is above")
            err.print(f"[yellow]{name} was lost[/] (exit code {process.returncode}); it is started again")
            self.start(name, self._commands[name])

    def wait_for(self, name: str, sign: Path) -> None:
        """Wait until the process has made the file ``sign``.

        Raises:
            KnowledgeBaseError: it stopped, or it takes too long.
        """
        deadline = time.monotonic() + _START_SECONDS
        while not sign.exists():
            self.keep_alive()
            if time.monotonic() > deadline:
                raise KnowledgeBaseError(f"{name} did not start within {_START_SECONDS:.0f} s; its output is above")
            time.sleep(0.1)

    def stop(self) -> None:
        """Ask all to end, newest first; kill what does not."""
        running = [process for process in reversed(self._running.values()) if process.poll() is None]
        for process in running:
            os.killpg(process.pid, signal.SIGTERM)
        deadline = time.monotonic() + _STOP_SECONDS
        for process in running:
            try:
                process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)


def _obey() -> None:
    """In the new process: let it be ended by signals, and, on Linux, with the process that started it."""
    # a shell's background job ignores Ctrl-C, and what Dagster does then is to ignore SIGTERM as well
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGTERM)


def code_server(socket: Path) -> list[str]:
    """Loads the definitions, evaluates sensors, starts runs."""
    return ["-m", "dagster", "api", "grpc", "-m", MODULE, "--socket", str(socket), "--location-name", LOCATION, *_QUIET]


def webserver(workspace: Path, port: int) -> list[str]:
    """The UI, on loopback."""
    address = ["-h", "127.0.0.1", "-p", str(port), "--dagster-log-level", "warning"]
    return ["-m", "dagster_webserver", "-w", str(workspace), *address, *_QUIET]


def daemon(workspace: Path) -> list[str]:
    """Sensors, schedules, the queue of runs."""
    return ["-m", "dagster._daemon", "run", "-w", str(workspace), *_QUIET]


def agent_service() -> list[str]:
    """Answers questions; where it listens is in its settings."""
    return [*_OURS, "app"]


def chat_page(port: int) -> list[str]:
    """The page, on loopback."""
    return [*_OURS, *page_command(port)]


_OURS = ["-P", "-m"]
"""Without the working directory on the path: people have folders that are called ``app``."""


_QUIET = ["--log-level", "warning"]


def write_workspace(path: Path, socket: Path) -> None:
    """A ``workspace.yaml`` that names our code server."""
    path.write_text(f"load_from:\n  - grpc_server: {{socket: {socket}, location_name: {LOCATION}}}\n")
