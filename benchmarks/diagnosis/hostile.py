"""Asks a local store what an enemy would ask, and looks what the processes did: files, connections, time and memory.

    python -m benchmarks.diagnosis.hostile                  # kb_pipeline_tests/network/hostile_queries.py
    python -m benchmarks.diagnosis.hostile --texts 10000    # so many random texts to each route of queries instead

The first needs ``strace`` on Linux. Both print one line of JSON; ``touched``, ``connected`` and ``wrong`` name what
must not have happened.
"""

import argparse
import json
import re
import shutil
import site
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
from hypothesis import HealthCheck, Phase, given, seed
from hypothesis import settings as hypothesis_settings

from kb_pipeline.errors import QueryError
from kb_pipeline.network.base import QueryLimits
from kb_pipeline.network.loading import load
from kb_pipeline.network.local.store import LocalStore
from kb_pipeline.network.scenario import ScenarioFolder
from kb_pipeline_tests.app.api.networks import client_of, with_network
from kb_pipeline_tests.app.api.random_queries import ANSWERS, TEXTS, fault
from kb_pipeline_tests.measuring import peak_of_children
from kb_pipeline_tests.network.hostile_queries import EXHAUSTING, FORBIDDEN

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "samples" / "scenarios" / "telco"
_SECONDS = 1.0
_PORT = 9
"""Nobody listens there."""
_CALL = re.compile(r"\d+ +(?:<\.\.\. )?(\w+)(?: resumed>)?\((.*?)\) += (-?\d+)")
_PATH = re.compile(r'"((?:[^"\\]|\\.)*)"')
_WRITES = ("O_CREAT", "O_WRONLY", "O_RDWR", "O_TRUNC")
_CHANGES = {"mkdir", "mkdirat", "rename", "renameat", "renameat2", "unlink", "unlinkat", "link", "linkat", "symlink",
            "symlinkat", "truncate", "mknod", "mknodat", "chmod", "fchmodat"}  # fmt: skip
_SYSTEM = ("/proc/", "/sys/", "/dev/null", "/dev/urandom", "/etc/ld.so", "/lib", "/usr/lib", "/usr/local/lib",
           "/etc/localtime", "/usr/share/zoneinfo", "/usr/share/locale", "/etc/ssl/openssl.cnf")  # fmt: skip
"""What a Python that starts reads, and what tells how much memory there is."""


def ask_all(home: Path, folder: Path) -> dict[str, object]:
    """Ask everything, and after each query one that is harmless."""
    store = LocalStore(home, "telco")
    store.query("SELECT 1", QueryLimits())
    outcomes = {"refused": 0, "answered": 0}
    slow: list[str] = []
    times, following = [], []
    texts = [each.format(made=folder / "made", port=_PORT) for each in (*FORBIDDEN, *EXHAUSTING)]
    with peak_of_children() as peak:
        for text in texts:
            began = time.perf_counter()
            try:
                store.query(text, QueryLimits(seconds=_SECONDS))
                outcomes["answered"] += 1
            except QueryError:
                outcomes["refused"] += 1
            times.append(time.perf_counter() - began)
            if times[-1] > _SECONDS + 0.5:
                slow.append(text[:60])
            began = time.perf_counter()
            store.query("SELECT count(*) FROM vertices", QueryLimits())
            following.append(time.perf_counter() - began)
    following.sort()
    own = int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1]) >> 10  # type: ignore[index]
    return {
        "statements": len(texts),
        **outcomes,
        "slowest_s": round(max(times), 2),
        "too_slow": slow,
        "next_ms": {
            "median": round(following[len(following) // 2] * 1000, 1),
            "p95": round(following[int(len(following) * 0.95)] * 1000, 1),
            "most": round(following[-1] * 1000, 1),
            "over_100": sum(each > 0.1 for each in following),
        },
        "largest_process_mb": peak.mb,
        "own_peak_mb": own,
    }


def ask_at_random(count: int, seed_number: int) -> dict[str, dict[str, object]]:
    """Send so many random texts to each route of a service; ``wrong`` are those that were not answered as they must."""
    with tempfile.TemporaryDirectory() as name, client_of(with_network(Path(name), query_seconds=_SECONDS)) as client:
        return {path: _asked_at_random(client, path, count, seed_number) for path in ANSWERS}


def _asked_at_random(client: httpx.Client, path: str, count: int, seed_number: int) -> dict[str, object]:
    outcomes = {"answered": 0, "told what is wrong": 0, "refused": 0}
    wrong: list[str] = []
    times: list[float] = []

    @seed(seed_number)
    @hypothesis_settings(
        max_examples=count,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(TEXTS)
    def ask(text: str) -> None:
        began = time.perf_counter()
        reply = client.post(path, json={"query": text})
        times.append(time.perf_counter() - began)
        if found := fault(path, reply):
            wrong.append(f"{found}: {text[:80]!r}")
        elif reply.status_code != 200:
            outcomes["refused"] += 1
        else:
            outcomes["told what is wrong" if reply.json()["error"] else "answered"] += 1

    ask()
    times.sort()
    seconds = {"median": times[len(times) // 2], "p95": times[int(len(times) * 0.95)], "most": times[-1]}
    milliseconds = {name: round(each * 1000, 1) for name, each in seconds.items()}
    return {"texts": len(times), **outcomes, "wrong": wrong[:20], "ms": milliseconds}


def judged(trace: Path, home: Path) -> dict[str, object]:
    """What the processes touched besides the store and Python itself, and where they tried to connect."""
    libraries = {sys.prefix, sys.base_prefix, sys.exec_prefix, str(ROOT), *site.getsitepackages()}
    allowed = (*_SYSTEM, str(home), *(f"{Path(each).resolve()}/" for each in libraries), *(f"{x}/" for x in libraries))
    touched: set[str] = set()
    connected: set[str] = set()
    for name, arguments, result in _calls(trace):
        paths = _PATH.findall(arguments)
        if name == "connect":
            connected.add(arguments[:120])
        elif name in _CHANGES or (name in ("open", "openat", "creat") and any(each in arguments for each in _WRITES)):
            if paths and not paths[0].startswith("/dev/") and result >= 0:
                touched.add(f"{name} {paths[-1]}")
        elif name in ("open", "openat") and paths and result >= 0:
            path = paths[0]
            if path.startswith("/") and "O_DIRECTORY" not in arguments and not path.startswith(allowed):
                touched.add(f"{name} {path}")
    return {"touched": sorted(touched), "connected": sorted(connected)}


def _calls(trace: Path) -> Iterator[tuple[str, str, int]]:
    with trace.open(errors="replace") as lines:
        for line in lines:
            if found := _CALL.match(line):
                yield found[1], found[2], int(found[3])


def main() -> int:
    """Run under strace, and judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--home", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--texts", type=int, help="ask so many random texts at each route instead")
    parser.add_argument("--seed", type=int, default=1, help="of the random texts")
    asked = parser.parse_args()
    if asked.texts:
        answers = ask_at_random(asked.texts, asked.seed)
        print(json.dumps(answers))
        return 1 if any(each["wrong"] for each in answers.values()) else 0
    if asked.home:
        print(json.dumps(ask_all(asked.home, Path.cwd())))
        return 0
    if not shutil.which("strace"):
        print("strace is not there; without it nobody sees which files are opened", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        home, empty, trace = folder / "home", folder / "empty", folder / "trace"
        empty.mkdir()
        load(ScenarioFolder(SAMPLE), home)
        again = [sys.executable, "-B", "-m", "benchmarks.diagnosis.hostile", "--home", str(home)]
        quiet = {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", "PATH": "/usr/bin:/bin", "HOME": str(empty)}
        free = subprocess.run(again, cwd=empty, env=quiet, capture_output=True, text=True, check=True)
        calls = ["strace", "-f", "-qq", "-s", "4096", "-e", "trace=%file,%network", "-o", str(trace)]
        traced = subprocess.run([*calls, *again], cwd=empty, env=quiet, capture_output=True, text=True)
        json.loads(traced.stdout)  # it asked everything, whatever strace returns
        found = {**json.loads(free.stdout), **judged(trace, home), "made": sorted(map(str, empty.rglob("*")))}
    print(json.dumps(found))
    return 0 if not (found["touched"] or found["connected"] or found["made"]) else 1


if __name__ == "__main__":
    sys.exit(main())
