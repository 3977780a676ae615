"""Measures investigations through the real service: how soon readers are told something, and that none is lost.

    python -m benchmarks.diagnosis.service --clients 1 8 32 --each 40

It loads the sample scenario into a folder of its own, starts ``python -m app`` there, and lets so many readers
investigate the sample's storm of alerts at once, again and again. It prints one line of JSON per number of clients.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx

from app.client.network import read_events
from kb_pipeline.network.loading import load
from kb_pipeline.network.scenario import ScenarioFolder
from kb_pipeline_tests.ports import free_port, wait_for

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "samples" / "scenarios" / "telco"
STORM = (SAMPLE / "alert_storm.md").read_text(encoding="utf-8")
Times = dict[str, list[float]]


@contextmanager
def running_service(home: Path, at_once: int) -> Iterator[tuple[str, int]]:
    """Its URL and process id."""
    load(ScenarioFolder(SAMPLE), home)
    port = free_port()
    own = {
        "KB_HOME": str(home),
        "KB_STAGING": str(home.parent / "staging"),
        "KB_APP_PORT": str(port),
        "KB_EMBEDDER": "hashing",
    }
    environment = {**os.environ, **own, "KB_SCENARIOS": str(SAMPLE.parent), "KB_RUNS_AT_ONCE": str(at_once)}
    process = subprocess.Popen(
        [sys.executable, "-m", "app"], cwd=ROOT, env=environment, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    url = f"http://127.0.0.1:{port}"
    try:
        wait_for(f"{url}/readiness", process, 60)
        yield url, process.pid
    finally:
        process.terminate()
        process.wait(30)


def investigate(client: httpx.Client, number: int, times: Times) -> None:
    """One investigation, to its end, whose alert and record are its own."""
    alert, began = f"{STORM}\nreader {number}", time.perf_counter()
    with client.stream("POST", "/api/alert", json={"text": alert}) as reply:
        reply.raise_for_status()
        seen: dict[str, float] = {}
        run_id = reply.headers["location"].rpartition("/")[2]
        for event in read_events(reply.iter_lines()):
            seen.setdefault(event.event, time.perf_counter() - began)
            if event.event == "run_start" and event.data["alert"] != alert:
                raise AssertionError("another one's investigation")
    if not {"run_start", "message", "run_complete"} <= seen.keys():
        raise AssertionError(f"an investigation ended without {sorted({'message', 'run_complete'} - seen.keys())}")
    if client.get(f"/api/investigations/{run_id}").json()["alert"] != alert:
        raise AssertionError("another one's record")
    for name in ("run_start", "step_complete", "message", "run_complete"):
        times[name].append(seen[name])


def measure(url: str, clients: int, each: int) -> Times:
    """So many readers at once, each with so many investigations in a row."""
    times: Times = {name: [] for name in ("run_start", "step_complete", "message", "run_complete")}
    failed: list[BaseException] = []

    def reader(number: int) -> None:
        try:
            with httpx.Client(base_url=url, timeout=120) as client:
                for again in range(each):
                    investigate(client, number * 1000 + again, times)
        except BaseException as exc:
            failed.append(exc)

    threads = [threading.Thread(target=reader, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]
    return times


def memory(pid: int) -> float:
    """Resident memory of a process in MB."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def p95(values: Sequence[float]) -> float:
    """The 95th percentile, in seconds."""
    return round(sorted(values)[max(0, -(-len(values) * 95 // 100) - 1)], 4)


def main() -> None:
    """Measure as the arguments say."""
    parser = argparse.ArgumentParser(description="Investigations through the real service.")
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8, 32])
    parser.add_argument("--each", type=int, default=10, help="investigations of each client")
    arguments = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        running_service(Path(folder) / "home", max(arguments.clients)) as (url, pid),
    ):
        measure(url, 1, 3)
        for clients in arguments.clients:
            before = memory(pid)
            times = measure(url, clients, arguments.each)
            told = {f"{name} p95": p95(values) for name, values in times.items()}
            count = len(times["run_complete"])
            megabytes = {"MB before": round(before), "MB after": round(memory(pid))}
            print(json.dumps({"clients": clients, "investigations": count, **told, **megabytes}), flush=True)


if __name__ == "__main__":
    main()
