"""Storms of alerts at scale: time, memory and place of the causes.

    python -m benchmarks.diagnosis.storm --elements 1000000 --faults 12 --rows 10000000 --folder FOLDER

Makes a network of tiles, loads it as the assets do, twice, and investigates one storm in a process of its own.
"""

import argparse
import asyncio
import json
import re
import resource
import subprocess
import sys
import time
from pathlib import Path

from app.network.by_rules import RulesInvestigator
from app.network.diagnosing import diagnose
from app.network.reading import alerts_query, read_alerts
from benchmarks.diagnosis.simulator import NOW, SYMPTOMS, WINDOW
from benchmarks.diagnosis.tiling import storm, tile, write_scenario
from kb_pipeline.network.base import QueryLimits, TopologyQuery
from kb_pipeline.network.loading import load
from kb_pipeline.network.local.store import LocalStore
from kb_pipeline.network.scenario import ScenarioFolder

_NAME = "storm"


def make(folder: Path, elements: int, faults: int, alerts: int, rows: int, seed: int) -> dict[str, object]:
    """Write the scenario, and what is true of it."""
    tiled = tile(elements, seed)
    raised, causes = storm(tiled, seed, faults, alerts)
    write_scenario(folder / "scenarios" / _NAME, tiled, raised, rows, seed)
    made = {"vertices": tiled.size[0], "edges": tiled.size[1], "alerts": len(raised), "rows": rows, "causes": causes}
    (folder / "truth.json").write_text(json.dumps(made))
    return made


def loaded(folder: Path) -> dict[str, object]:
    """Load the scenario through the stages of its assets."""
    began = time.perf_counter()
    load(ScenarioFolder(folder / "scenarios" / _NAME), folder / "home")
    return {"seconds": round(time.perf_counter() - began, 2), "peak_mb": _peak()}


def investigated(folder: Path) -> dict[str, object]:
    """Investigate, first with nothing in memory, then as a service does whose network is in memory."""
    before = _resident()
    scenario = ScenarioFolder(folder / "scenarios" / _NAME)
    store = LocalStore(folder / "home", _NAME)
    causes = json.loads((folder / "truth.json").read_text())["causes"]
    times = [asyncio.run(_message(store, scenario)) for _ in range(3)]
    declared = scenario.scenario.telemetry["alerts"]
    alerts, _ = asyncio.run(read_alerts(store, declared, alerts_query(declared, NOW - WINDOW, NOW)))
    began = time.perf_counter()
    found = diagnose(store.network(), alerts, SYMPTOMS, NOW - WINDOW, NOW)
    seconds = time.perf_counter() - began
    ids = store.network().ids
    ranked = [ids[cause.vertex] for cause in found.ranking.causes]
    return {
        "first_message_s": round(times[0][0], 2),
        "message_s": [round(each[0], 2) for each in times[1:]],
        "steps_s": times[1][1],
        "ranking_s": round(seconds, 2),
        "same_report": len({each[2] for each in times}) == 1,
        "causes": len(causes),
        "places": sorted(ranked.index(cause) + 1 if cause in ranked else 0 for cause in causes),
        "named": sorted(ids[cause.vertex] in causes for cause in found.ranking.chosen),
        "grew_mb": _resident() - before,
        "peak_mb": _peak(),
    }


def queried(folder: Path) -> dict[str, object]:
    """Ask what a reader of the queries asks, twenty times each: the 95th percentile in milliseconds."""
    store = LocalStore(folder / "home", _NAME)
    causes = json.loads((folder / "truth.json").read_text())["causes"]
    day = "measured_at >= TIMESTAMP '2026-09-20 00:00:00' AND measured_at < TIMESTAMP '2026-09-21 00:00:00'"
    aggregate = f"SELECT link_id, avg(latency_ms) FROM link_metrics WHERE {day} GROUP BY link_id"
    store.network()
    asked = {
        "walk": lambda cause: store.query(f"SELECT * FROM downstream('{cause}', 4)", QueryLimits()),
        "topology": lambda cause: asyncio.run(store.topology(TopologyQuery(around=(cause,), depth=2))),
        "aggregate": lambda cause: store.query(aggregate, QueryLimits()),
    }
    found = {}
    for name, ask in asked.items():
        taken = []
        for number in range(20):
            began = time.perf_counter()
            ask(causes[number % len(causes)])
            taken.append(1000 * (time.perf_counter() - began))
        found[f"{name}_p95_ms"] = round(sorted(taken)[18], 1)
    return found


async def _message(store: LocalStore, scenario: ScenarioFolder) -> tuple[float, list[float], str]:
    began, seconds, text = time.perf_counter(), 0.0, ""
    steps = []
    alert = f"A storm of alerts, the newest at {_clock(NOW)}"
    async for event in RulesInvestigator(store, scenario).investigate(alert):
        if event.event == "step_complete":
            steps.append(event.data["duration"])
        if event.event == "message":
            seconds, text = time.perf_counter() - began, event.data["text"]
    return seconds, steps, text


def _clock(at: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def _resident() -> int:
    found = re.search(r"VmRSS:\s+(\d+)", Path("/proc/self/status").read_text())
    return int(found.group(1)) // 1024 if found else 0


def main() -> None:
    """Print what was made and measured, a JSON line each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--elements", type=int, default=10_000)
    parser.add_argument("--faults", type=int, default=3)
    parser.add_argument("--alerts", type=int, default=100_000)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--part", choices=["loaded", "investigated", "queried"])
    options = parser.parse_args()
    if options.part:
        print(json.dumps(globals()[options.part](options.folder)))
        return
    if not (options.folder / "truth.json").is_file():  # else what an earlier run made is measured again
        options.folder.mkdir(parents=True, exist_ok=True)
        made = make(options.folder, options.elements, options.faults, options.alerts, options.rows, options.seed)
        print(json.dumps({"made": {name: value for name, value in made.items() if name != "causes"}}), flush=True)
    for part in ("loaded", "loaded", "investigated", "queried"):
        command = [sys.executable, "-m", "benchmarks.diagnosis.storm", "--folder", str(options.folder), "--part", part]
        told = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        print(json.dumps({part: json.loads(told.stdout)}), flush=True)


if __name__ == "__main__":
    main()
