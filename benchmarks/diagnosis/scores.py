"""Scores of the diagnosis on simulated faults: ``python -m benchmarks.diagnosis.scores --faults 200 --first 1``.

``--first`` chooses the seeds: 1 to 200 are for training; whoever judges chooses others, and may name other topologies.
"""

import argparse
import inspect
import itertools
import json
import time
from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from hashlib import sha256

import numpy as np

from app.network import causes, diagnosing, likelihood
from app.network.diagnosing import Diagnosis, diagnose
from benchmarks.diagnosis.networks import topologies
from benchmarks.diagnosis.simulator import DIRECTIONS, NOW, SYMPTOMS, WINDOW, Incident, simulate


@dataclass(frozen=True)
class Result:
    """One diagnosis against the truth.

    ``right``: what the report names first is a cause. ``nothing``: it says that there is no common cause;
    ``alone``: and names an element for its own alert alone. ``foremost``, with its ``probability``: whether the first
    candidate is a cause, named or not.
    """

    fault: str
    place: int
    probability: float
    foremost: bool
    right: bool
    nothing: bool
    alone: bool
    both: bool
    exact: bool
    precision: float
    recall: float
    wide_precision: float
    wide_recall: float
    living_called_down: int
    grounded: bool
    maintenance: bool
    seconds: float


def measured(seed: int, level: str, faults: int, planned: bool, names: Sequence[str]) -> Result:
    """Simulate and diagnose one incident."""
    incident = simulate(seed, level, faults=faults, names=names, planned=planned)
    began = time.perf_counter()
    found = diagnosis_of(incident)
    return _result(incident, found, time.perf_counter() - began)


def diagnosis_of(incident: Incident) -> Diagnosis:
    """The diagnosis of what is seen of an incident."""
    return diagnose(
        incident.network.topology,
        incident.alerts,
        SYMPTOMS,
        NOW - WINDOW,
        NOW,
        series={name: (incident.times, metrics) for name, metrics in incident.metrics.items()},
        directions=DIRECTIONS,
        planned=incident.planned,
    )


def _result(incident: Incident, found: Diagnosis, seconds: float) -> Result:
    ids = incident.network.topology.ids
    ranked = [ids[cause.vertex] for cause in found.ranking.causes]
    places = [ranked.index(cause) + 1 for cause in incident.causes if cause in ranked]
    chosen = [ids[cause.vertex] for cause in found.ranking.chosen]
    down = {ids[each] for each in found.blast.down}
    wide = down | {ids[each] for each in found.blast.perhaps}
    true = incident.down
    return Result(
        incident.fault,
        min(places, default=0),
        found.ranking.causes[0].probability if found.ranking.causes else 0.0,
        bool(ranked) and ranked[0] in incident.causes,
        bool(chosen) and chosen[0] in incident.causes,
        not chosen or found.is_alone,
        found.is_alone,
        len(places) == len(incident.causes) and max(places, default=99) <= 4,
        set(chosen) == set(incident.causes),
        _share(down & true, down),
        _share(down & true, true),
        _share(wide & true, wide),
        _share(wide & true, true),
        len(down & incident.weakened) if true else 0,
        all(edge in incident.network.topology.labels for way in found.paths for edge in itertools.pairwise(way)),
        set(incident.planned) <= {ids[each] for each in found.maintenance} if incident.planned else False,
        seconds,
    )


def _share(some: AbstractSet[str], whole: AbstractSet[str]) -> float:
    return len(some) / len(whole) if whole else float("nan")


def constants() -> str:
    """A hash of everything that was chosen on training seeds."""
    text = "".join(inspect.getsource(module) for module in (likelihood, causes, diagnosing))
    return sha256(text.encode()).hexdigest()[:12]


def summary(name: str, results: Sequence[Result]) -> dict[str, object]:
    """The numbers of one kind of incident. Top-1 is what the report names first, with a 95 % interval by bootstrap."""
    first = np.array([result.right for result in results], float)
    draw = np.random.default_rng(0)
    means = [draw.choice(first, len(first)).mean() for _ in range(1000)]
    blamed = [result for result in results if result.probability >= 0.8 and not result.nothing]
    alone = [result for result in results if result.alone]
    lost = Counter(result.fault for result in results if not result.right)
    all_faults = Counter(result.fault for result in results)
    return {
        "kind": name,
        "n": len(results),
        "top1": round(float(first.mean()), 3),
        "interval": [round(float(np.quantile(means, q)), 3) for q in (0.025, 0.975)],
        "top3": round(float(np.mean([0 < result.place <= 3 for result in results])), 3),
        "mrr": round(float(np.mean([1 / result.place if result.place else 0 for result in results])), 3),
        "both_in_4": round(float(np.mean([result.both for result in results])), 3),
        "exact": round(float(np.mean([result.exact for result in results])), 3),
        "no_cause": round(float(np.mean([result.nothing for result in results])), 3),
        "alone": f"{sum(result.right for result in alone)} of {len(alone)} right",
        "maintenance": round(float(np.mean([result.maintenance for result in results])), 3),
        "blast_precision": _mean([result.precision for result in results if result.right]),
        "blast_recall": _mean([result.recall for result in results if result.right]),
        "perhaps_precision": _mean([result.wide_precision for result in results if result.right]),
        "perhaps_recall": _mean([result.wide_recall for result in results if result.right]),
        "living_called_down": sum(result.living_called_down for result in results if result.right),
        "grounded": round(float(np.mean([result.grounded for result in results])), 3),
        "very_likely_right": round(float(np.mean([result.right for result in blamed])), 3) if blamed else None,
        "very_likely": len(blamed),
        "brier": round(float(np.mean([(result.probability - result.foremost) ** 2 for result in results])), 3),
        "milliseconds": round(1000 * float(np.median([result.seconds for result in results])), 1),
        "lost": {fault: f"{count} of {all_faults[fault]}" for fault, count in lost.most_common(6)},
    }


def _mean(values: Sequence[float]) -> float:
    return round(float(np.nanmean(values)), 3) if any(value == value for value in values) else float("nan")


def main() -> None:
    """Print the scores as JSON lines."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--faults", type=int, default=120)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--provider", default="topozoo")
    parser.add_argument("--only", default="")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    names = topologies(options.provider)
    print(json.dumps({"constants": constants(), "seeds": [options.first, options.first + options.faults - 1]}))
    kinds = [(level, level, 1, False) for level in ("easy", "normal", "hard", "brutal")]
    kinds += [("two faults", "normal", 2, False), ("none", "normal", 0, False), ("maintenance", "normal", 1, True)]
    for name, level, faults, planned in kinds:
        if options.only and name not in options.only.split(","):
            continue
        run = partial(measured, level=level, faults=faults, planned=planned, names=names)
        with ProcessPoolExecutor(options.workers) as pool:
            results = list(pool.map(run, range(options.first, options.first + options.faults), chunksize=5))
        print(json.dumps(summary(name, results)), flush=True)
        if options.only:
            print(json.dumps([asdict(r) for r in results if not r.right][:3]))


if __name__ == "__main__":
    main()
