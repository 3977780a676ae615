"""Runs a program to its end, or as a server, and says what it took. On Linux: memory and CPU are read from /proc."""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import memory_mb

_TICKS = os.sysconf("SC_CLK_TCK")
_POLL_SECONDS = 0.02
_START_SECONDS = 180
# A process is billed for the memory of the one that started it, up to then; so a small one starts it.
_LAUNCHER = """
import os, sys, time
begun, nowhere = time.perf_counter(), os.open(os.devnull, os.O_WRONLY)
said = [(os.POSIX_SPAWN_DUP2, nowhere, 1), (os.POSIX_SPAWN_DUP2, nowhere, 2)]
_, status, used = os.wait4(os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=said), 0)
print(time.perf_counter() - begun, used.ru_utime + used.ru_stime, used.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""


@dataclass(frozen=True)
class Footprint:
    """Seconds from start to end (median) and of CPU (least); resident MB of the largest process (most)."""

    wall_s: float
    cpu_s: float
    peak_mb: int


def take(command: Sequence[str], environment: Mapping[str, str], repeats: int) -> Footprint:
    """Run a command several times, one after the other.

    Raises:
        CalledProcessError: it failed.
    """
    walls, cpus, peaks = zip(*(_once(command, environment) for _ in range(repeats)), strict=True)
    return Footprint(round(statistics.median(walls), 3), round(min(cpus), 3), round(max(peaks) / 1024))


def _once(command: Sequence[str], environment: Mapping[str, str]) -> tuple[float, float, int]:
    launched = [sys.executable, "-I", "-S", "-c", _LAUNCHER, *command]
    told = subprocess.run(launched, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout
    wall, cpu, peak = told.split()
    return float(wall), float(cpu), int(peak)


class Server:
    """A program that serves until it is ended, and when it was started."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self.started = time.perf_counter()
        self._process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, start_new_session=True)

    def until(self, ready: Callable[[], bool]) -> float:
        """Seconds from its start until it is ready.

        Raises:
            TimeoutError: it is not ready for minutes, or has ended.
        """
        while not ready():
            if self._process.poll() is not None or time.perf_counter() - self.started > _START_SECONDS:
                raise TimeoutError(f"{self._process.args!r} did not come up")
            time.sleep(_POLL_SECONDS)
        return self.seconds()

    def seconds(self) -> float:
        """Seconds since its start."""
        return round(time.perf_counter() - self.started, 3)

    def cpu_seconds(self) -> float:
        """Of CPU since its start, with child processes that have ended."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return round(sum(map(int, fields[11:15])) / _TICKS, 2)

    def memory_mb(self) -> int:
        """Proportional set size now, with that of its child processes."""
        return memory_mb(self._process.pid)

    def peak_mb(self) -> int:
        """Most resident memory that it ever had, without child processes."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        peaks = (int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:"))
        return round(next(peaks, 0) / 1024)  # none: it has just ended

    def stop(self) -> None:
        """Ask it to end, and wait."""
        self._process.terminate()
        self._process.wait(60)


@contextmanager
def serving(command: Sequence[str], environment: Mapping[str, str]) -> Iterator[Server]:
    """A server that ends with the block."""
    server = Server(command, environment)
    try:
        yield server
    finally:
        server.stop()
