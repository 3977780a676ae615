"""PetShop (amazon-science/petshop-root-cause-analysis, CC BY 4.0): faults of a real shop with known root causes.

``python -m benchmarks.diagnosis.petshop FOLDER --split train``; FOLDER holds low_traffic and high_traffic.

Prints how often the root cause is named first, and among the first three; and the specificity: how often nothing is
named in normal times, of what was noticed in the split's issues. Normal times are cut as the data's authors do, at a
half, six tenths and so on of the normal period, and into windows as long as an issue's.
"""

import argparse
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from app.network.baselines import surprise
from kb_pipeline.evaluation.statistics import mean_score

_STATISTICS = {"latency": ("Average", "p50", "p90"), "availability": ("Average",)}
_THRESHOLD = 1.0
_SHORTEST = 3
_ISSUE = 5
_RARE = 3.0
"""With less surprise than this, once in a thousand, nothing is called the cause: many elements are looked at."""

Metrics = Mapping[tuple[str, str, str], np.ndarray]
"""Values by component, metric and statistic."""


def graph_of(folder: Path) -> dict[str, list[str]]:
    """What each component calls."""
    table = pd.read_csv(folder / "graph.csv", index_col=0)
    return {str(caller): [str(name) for name in table.columns[row.to_numpy() > 0]] for caller, row in table.iterrows()}


def metrics_of(path: Path) -> Metrics:
    """The values of each component, metric and statistic."""
    table = pd.read_csv(path, header=[0, 1, 2], index_col=0)
    return {tuple(map(str, name)): table[name].to_numpy(float) for name in table.columns}


def issues(folder: Path, split: str) -> Iterator[tuple[str, dict[str, Any], Metrics]]:
    """Name, target and metrics of each issue of a split."""
    for path in sorted((folder / split).glob("issue_*")):
        yield path.name, json.loads((path / "target.json").read_text()), metrics_of(path / "metrics.csv")


def ranked(calls: Mapping[str, list[str]], normal: Metrics, now: Metrics, target: str, metric: str) -> list[str]:
    """Candidates, the most likely first; none where nothing is out of its baseline."""
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


def rank_by_measurements(
    calls: Mapping[str, Sequence[str]],
    start: str,
    surprises: Mapping[str, float],
    measured: Mapping[str, bool],
    threshold: float,
) -> list[tuple[str, float]]:
    """Where the trouble of ``start`` comes from, when there are only measurements: candidates, the best first.

    None if the best is within its baseline. From ``start`` along its dependencies through elements that are out of
    theirs. Elements without measurements of their own are never put before measured ones.
    """
    reached: dict[str, int] = {start: 0}
    ring = [start]
    while ring:
        following = []
        for element in ring:
            for other in calls.get(element, ()):
                if other not in reached and surprises.get(other, 0.0) >= threshold:
                    reached[other] = reached[element] + 1
                    following.append(other)
        ring = following
    scored = []
    for element in sorted(set(calls) | set(surprises)):
        below = max((surprises.get(other, 0.0) for other in calls.get(element, ()) if measured.get(other)), default=0.0)
        own = surprises.get(element, 0.0)
        explained = min(below, own) * 0.5 if below >= threshold else 0.0
        scored.append(
            (element, own - explained + (1.0 if element in reached else 0.0) - (0 if measured.get(element) else 10.0))
        )
    scored.sort(key=lambda each: (-each[1], each[0]))
    return scored if scored and surprises.get(scored[0][0], 0.0) >= _RARE else []


def splits(length: int) -> list[tuple[int, int]]:
    """Normal times as the data's authors cut them: everything after a point against everything before it."""
    return [(begin, length) for begin in range(length // 2, length - _SHORTEST, length // 10)]


def windows(length: int) -> list[tuple[int, int]]:
    """Normal times in windows as long as an issue's, in the second half of the period, each against all before it."""
    return [(begin, begin + _ISSUE) for begin in range(length // 2, length - _ISSUE + 1, _ISSUE)]


def quiet(
    calls: Mapping[str, list[str]], normal: Metrics, target: str, metric: str, cuts: Iterable[tuple[int, int]]
) -> list[bool]:
    """For each part of the normal period: whether nothing is named as a cause."""
    found = []
    for begin, end in cuts:
        before = {key: values[:begin] for key, values in normal.items()}
        now = {key: values[begin:end] for key, values in normal.items()}
        found.append(not ranked(calls, before, now, target, metric))
    return found


def main() -> None:
    """Print a JSON line for each issue, each target in normal times, and the whole."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--split", default="train")
    options = parser.parse_args()
    places: list[int] = []
    calm: dict[str, list[float]] = {}
    for folder in sorted(path.parents[1] for path in options.folder.glob("*/noissue/metrics.csv")):
        calls, normal = graph_of(folder), metrics_of(folder / "noissue" / "metrics.csv")
        targets = set()
        for name, target, now in issues(folder, options.split):
            noticed, cause = target["target"], target["root_cause"]
            targets.add((noticed["node"], noticed["metric"]))
            found = ranked(calls, normal, now, noticed["node"], noticed["metric"])
            place = found.index(cause["node"]) + 1 if cause["node"] in found else 0
            places.append(place)
            print(json.dumps({"folder": folder.name, "issue": name, "metric": noticed["metric"], "place": place}))
        length = len(next(iter(normal.values())))
        for node, metric in sorted(targets):
            line: dict[str, object] = {"folder": folder.name, "normal": node, "metric": metric}
            for name, cuts in (("splits", splits(length)), ("windows", windows(length))):
                nothing = quiet(calls, normal, node, metric, cuts)
                calm.setdefault(f"{metric} {name}", []).extend(map(float, nothing))
                line[name] = f"{sum(nothing)} of {len(nothing)}"
            print(json.dumps(line))
    scores = {"top1": [float(place == 1) for place in places], "top3": [float(0 < place <= 3) for place in places]}
    told = {name: mean_score(values) for name, values in (scores | calm).items()}
    print(json.dumps({name: {"n": score.n, "mean": score.value, "interval": [score.low, score.high]}
                      for name, score in told.items()}))  # fmt: skip


if __name__ == "__main__":
    main()
