"""Wall time, CPU time and peak memory of a command with all its child processes."""

import os
import platform
import resource
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

_SAMPLE_SECONDS = 0.5


@dataclass(frozen=True)
class Cost:
    """Wall and CPU time in seconds; peak proportional set size of the whole process tree in MB."""

    wall_s: float
    cpu_s: float
    peak_mb: float
    exit_code: int


def run(command: Sequence[str], environment: Mapping[str, str]) -> tuple[Cost, str]:
    """Run a command and return its cost and standard output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    process = subprocess.Popen(command, env=os.environ | dict(environment), stdout=subprocess.PIPE, text=True)
    sampler = _MemorySampler(process.pid)
    sampler.start()
    output, _ = process.communicate()
    wall = time.perf_counter() - started
    sampler.stop()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(round(wall, 2), round(cpu, 2), round(sampler.peak_kb / 1024), process.returncode), output


def machine() -> dict[str, object]:
    """The machine, for comparing figures: processors, Python and library versions."""
    packages = ("dagster", "html-to-markdown", "lancedb", "lxml", "onnxruntime", "rapidocr")
    return {
        "cpus": len(os.sched_getaffinity(0)),
        "processor": _processor(),
        "python": platform.python_version(),
        "packages": {name: version(name) for name in packages},
    }


def as_dict(cost: Cost) -> dict[str, float]:
    """A cost as JSON."""
    return asdict(cost)


def memory_mb(pid: int) -> int:
    """The current proportional set size of a process and its children in MB."""
    return round(sum(map(_proportional_kb, _tree(pid))) / 1024)


class _MemorySampler(threading.Thread):
    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._pid = pid
        self._done = threading.Event()
        self.peak_kb = 0

    def run(self) -> None:
        while not self._done.wait(_SAMPLE_SECONDS):
            self.peak_kb = max(self.peak_kb, sum(map(_proportional_kb, _tree(self._pid))))

    def stop(self) -> None:
        self._done.set()
        self.join()


def _tree(root: int) -> list[int]:
    parents: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                stat = (folder / "stat").read_text()
            except OSError:
                continue  # it ended while we looked
            parents[int(folder.name)] = int(stat.rpartition(")")[2].split()[1])
    tree, size = {root}, 0
    while len(tree) != size:
        size = len(tree)
        tree |= {pid for pid, parent in parents.items() if parent in tree}
    return list(tree)


def _proportional_kb(pid: int) -> int:
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:")), 0)


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()
