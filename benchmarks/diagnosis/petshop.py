"""PetShop (amazon-science/petshop-root-cause-analysis, CC BY 4.0): faults of a real shop with known root causes.

``python -m benchmarks.diagnosis.petshop FOLDER --split train``; FOLDER holds low_traffic and high_traffic.
"""

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from app.investigating.baselines import rank_by_measurements, surprise

_STATISTICS = {"latency": ("Average", "p50", "p90"), "availability": ("Average",)}
_THRESHOLD = 1.0


def graph_of(folder: Path) -> dict[str, list[str]]:
    """What each component calls."""
    table = pd.read_csv(folder / "graph.csv", index_col=0)
    return {str(caller): [str(name) for name in table.columns[row.to_numpy() > 0]] for caller, row in table.iterrows()}


def metrics_of(path: Path) -> dict[tuple[str, str, str], np.ndarray]:
    """The values of each component, metric and statistic."""
    table = pd.read_csv(path, header=[0, 1, 2], index_col=0)
    return {tuple(map(str, name)): table[name].to_numpy(float) for name in table.columns}


def issues(
    folder: Path, split: str
) -> Iterator[tuple[str, dict[str, object], Mapping[tuple[str, str, str], np.ndarray]]]:
    """Name, target and metrics of each issue of a split."""
    for path in sorted((folder / split).glob("issue_*")):
        yield path.name, json.loads((path / "target.json").read_text()), metrics_of(path / "metrics.csv")


def ranked(
    calls: Mapping[str, list[str]],
    normal: Mapping[tuple[str, str, str], np.ndarray],
    now: Mapping[tuple[str, str, str], np.ndarray],
    target: str,
    metric: str,
) -> list[str]:
    """Candidates, the most likely first."""
    direction = "up" if metric == "latency" else "down"
    surprises: dict[str, float] = {}
    measured: dict[str, bool] = {}
    called = {name for names in calls.values() for name in names}
    components = {name for name, _, _ in now} | set(calls)
    for component in sorted(components):
        found = [
            surprise(normal[key], now[key], direction)
            for statistic in _STATISTICS[metric]
            if (key := (component, metric, statistic)) in now and key in normal
        ]
        surprises[component] = max(found, default=0.0)
        # what calls nothing is only seen by its callers, and what nobody calls only sees others
        measured[component] = bool(calls.get(component)) and (component == target or component in called)
    return [name for name, _ in rank_by_measurements(calls, target, surprises, measured, _THRESHOLD)]


def main() -> None:
    """Print top-1 and top-3 by folder and metric."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--split", default="train")
    options = parser.parse_args()
    places: list[int] = []
    for folder in sorted(path for path in options.folder.iterdir() if (path / "graph.csv").is_file()):
        calls, normal = graph_of(folder), metrics_of(folder / "noissue" / "metrics.csv")
        for name, target, now in issues(folder, options.split):
            noticed, cause = target["target"], target["root_cause"]
            found = ranked(calls, normal, now, noticed["node"], noticed["metric"])
            place = found.index(cause["node"]) + 1 if cause["node"] in found else 0
            places.append(place)
            print(json.dumps({"folder": folder.name, "issue": name, "metric": noticed["metric"], "place": place}))
    print(json.dumps({"issues": len(places), "top1": round(np.mean([p == 1 for p in places]), 3),
                      "top3": round(np.mean([0 < p <= 3 for p in places]), 3)}))  # fmt: skip


if __name__ == "__main__":
    main()
