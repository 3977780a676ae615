"""The real Dagster daemon with its code server, runs and workers, in folders of its own: start, inspect, kill.

Not here: when it is killed (`kills.py`), and the checks at the end (`soundness.py`).
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import dagster as dg
import yaml  # type: ignore[import-untyped]

from kb_pipeline.cli.instance import dagster_environment, project_file
from kb_pipeline.settings import Settings, load_settings

Kind = Literal["daemon", "code server", "run", "worker"]

ROOT = Path(__file__).parents[1]
SENSOR = "staging_sensor"

_STOP_SECONDS = 20
_MARKS: tuple[tuple[str, Kind | None], ...] = (
    ("resource_tracker", None),
    ("dagster._daemon", "daemon"),
    ("dagster api grpc", "code server"),
    ("kb_pipeline.limited.child", "worker"),
    ("multiprocessing.spawn", "run"),
)
"""Texts in command lines by kind of process; the first match counts."""


@dataclass(frozen=True)
class Process:
    """One process of the stack."""

    pid: int
    kind: Kind


@dataclass(frozen=True)
class Tick:
    """The last evaluation of the staging sensor."""

    at: float
    said: str


class Stack:
    """A daemon that watches ``<folder>/staging``; ``given`` are environment variables, settings included."""

    def __init__(self, folder: Path, given: Mapping[str, str]) -> None:
        self.folder, self.staging, self._home = folder, folder / "staging", folder / "home" / "dagster"
        self.staging.mkdir(parents=True, exist_ok=True)
        self._write_instance()
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("KB_", "DAGSTER_"))}
        own = {"KB_STAGING": str(self.staging), "KB_HOME": str(folder / "home"), "DAGSTER_HOME": str(self._home)}
        self.environment = kept | own | {"PYTHONPATH": str(ROOT)} | dict(given)
        with self.entered():
            self.settings: Settings = load_settings()
            self.environment |= dagster_environment(self.settings)
        self._daemons: list[subprocess.Popen[bytes]] = []

    def _write_instance(self) -> None:
        """Write our ``dagster.yaml`` with short timeouts."""
        instance: dict[str, Any] = yaml.safe_load(project_file("dagster.yaml").read_text())
        instance["run_monitoring"] |= {
            "poll_interval_seconds": 2,
            "start_timeout_seconds": 30,
            "free_slots_after_run_end_seconds": 1,
        }
        self._home.mkdir(parents=True, exist_ok=True)
        (self._home / "dagster.yaml").write_text(yaml.safe_dump(instance))

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Give this process the stack's environment during the block."""
        before = dict(os.environ)
        os.environ.clear()
        os.environ.update(self.environment)
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)

    @contextmanager
    def instance(self) -> Iterator[dg.DagsterInstance]:
        """The Dagster instance of the stack."""
        with self.entered(), dg.DagsterInstance.get() as instance:
            yield instance

    def start(self) -> None:
        """Start the daemon if it is not running, without any repair or cleanup before."""
        if any(process.kind == "daemon" for process in self.processes()):
            return
        command = [sys.executable, "-m", "dagster._daemon", "run", "-w", str(project_file("workspace.yaml"))]
        with (self.folder / "daemon.log").open("ab") as log:
            self._daemons.append(
                subprocess.Popen(
                    [*command, "--code-server-log-level", "warning"],
                    env=self.environment,
                    cwd=self.folder,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
            )

    def stop(self) -> None:
        """Terminate all processes, and kill those that do not stop."""
        for process in self.processes():
            if process.kind == "daemon":
                _signal(process.pid, signal.SIGTERM)
        deadline = time.monotonic() + _STOP_SECONDS
        while self.processes() and time.monotonic() < deadline:
            time.sleep(0.2)
        self.kill_all()

    def kill_all(self) -> None:
        """Kill all processes at once, and those that they start meanwhile."""
        while alive := self.processes():
            for process in alive:
                _signal(process.pid, signal.SIGKILL)
            time.sleep(0.05)

    def kill(self, process: Process) -> bool:
        """Kill one process; False if it had ended already."""
        killed = _signal(process.pid, signal.SIGKILL)
        self._reap()
        return killed

    def _reap(self) -> None:
        for daemon in self._daemons:
            daemon.poll()

    def processes(self) -> list[Process]:
        """All running processes, whatever their parent."""
        self._reap()
        mark = f"DAGSTER_HOME={self._home}".encode()
        found = (_process(int(entry.name), mark) for entry in Path("/proc").iterdir() if entry.name.isdigit())
        return [process for process in found if process]

    def last_tick(self) -> Tick | None:
        """The last finished tick of the sensor, if there is one."""
        with self.instance() as instance:
            for state in instance.all_instigator_state():
                if state.name == SENSOR:
                    ticks = instance.get_ticks(state.instigator_origin_id, state.selector_id, limit=5)
                    ended = [tick for tick in ticks if tick.end_timestamp]
                    return Tick(ended[0].timestamp, ended[0].skip_reason or "") if ended else None
        return None


def _process(pid: int, mark: bytes) -> Process | None:
    folder = Path(f"/proc/{pid}")
    try:
        if pid == os.getpid() or mark not in (folder / "environ").read_bytes().split(b"\0"):
            return None
        command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return None  # it ended meanwhile, or belongs to another user
    kind = next((kind for text, kind in _MARKS if text in command), None)
    return Process(pid, kind) if kind else None


def _signal(pid: int, number: int) -> bool:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True
