"""The Numenta Anomaly Benchmark (github.com/numenta/NAB, MIT): when a measurement leaves its baseline.

``python -m benchmarks.diagnosis.nab FOLDER``; FOLDER is a checkout of NAB. At each value of each file an investigation
is made as if somebody asked then: the last half hour is compared with at most a week before it, and with four weeks if
it is conspicuous. A rule of this module says which surprises would be alarms, as the product raises none.

Prints, as one line of JSON, the scores of NAB's standard profile (100 is perfect, 0 is no alarm at all; one threshold
over all files), by NAB's own code, of the product and of the detectors whose results are in the checkout. Files fall
into two parts by a hash of their names: baselines and rule were chosen by one (``tuned``) and by NAB's other groups.
"""

import argparse
import json
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from app.network.baselines import NOTICED, PAST_DAYS, RHYTHM_DAYS, worst_metric

_GROUPS = ("realKnownCause", "realAWSCloudwatch")
_WINDOW_SECONDS = 30 * 60
_DAY = 86400
_TWICE = np.log10(2)
_PEERS = ("windowedGaussian", "randomCutForest", "skyline", "twitterADVec", "numenta")

Detector = Callable[[str], NDArray[np.float64]]
"""The anomaly scores (0 to 1) of all values of a file, by the file's name."""


def ours(table: pd.DataFrame) -> NDArray[np.float64]:
    """How surprising each value that would be a new alarm is, with the values of the half hour before it; else 0."""
    times = table["timestamp"].to_numpy("datetime64[s]").astype(float)
    scores = alarms(times, surprises(times, table["value"].to_numpy(float)))
    return scores / (1 + scores)


def surprises(times: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """How surprising the product finds each value."""
    found = np.zeros(len(values))
    for at, until in enumerate(times):
        for days in (PAST_DAYS, RHYTHM_DAYS):
            part = slice(np.searchsorted(times, until - _WINDOW_SECONDS - days * _DAY), at + 1)
            worst = worst_metric(
                times[part], {"value": values[part]}, {"value": "both"}, until - _WINDOW_SECONDS + 1, until
            )
            found[at] = worst.surprise if worst else 0.0
            if found[at] < NOTICED:
                break
    return found


def alarms(times: NDArray[np.float64], surprises: NDArray[np.float64]) -> NDArray[np.float64]:
    """The surprises that are new alarms: twice as rare as anything of the half hour before.

    After alarms of four weeks that were about as surprising, one more is that many times less rare.
    """
    found, raised = np.zeros(len(times)), np.zeros(len(times))
    for at in np.flatnonzero(surprises >= NOTICED):
        recent, month = np.searchsorted(times, times[at] - np.array([_WINDOW_SECONDS, RHYTHM_DAYS * _DAY]))
        if surprises[at] > surprises[recent:at].max(initial=0.0) + _TWICE:
            earlier = int((raised[month:at] > surprises[at] - _TWICE).sum())
            raised[at] = surprises[at]
            found[at] = max(surprises[at] - np.log10(1 + earlier), 0.0)
    return found


def score(folder: Path, detector: Detector) -> dict[str, float]:
    """NAB's standard score, over all files, by group, and over those by which the baselines were chosen or not."""
    sys.path.insert(0, str(folder))
    from nab.sweeper import Sweeper

    costs = json.loads((folder / "config/profiles.json").read_text())["standard"]["CostMatrix"]
    windows = json.loads((folder / "labels/combined_windows.json").read_text())
    sweeper = Sweeper(costMatrix=costs)
    parts: dict[str, list[Any]] = {part: [] for part in ("all", *_GROUPS, "tuned", "untouched")}
    for name in files_of(folder):
        limits = [tuple(map(pd.Timestamp, window)) for window in windows[name]]
        points = sweeper.calcSweepScore(table_of(folder, name)["timestamp"], detector(name), limits, name)
        for part in ("all", name.split("/")[0], "untouched" if sha256(name.encode()).digest()[-1] % 2 else "tuned"):
            parts[part] += points
    return {name: _normalized(sweeper, points) for name, points in parts.items()}


def files_of(folder: Path) -> list[str]:
    """The measurements of machines and services: of known causes, and of AWS CloudWatch."""
    return sorted(
        str(path.relative_to(folder / "data")) for group in _GROUPS for path in (folder / "data" / group).iterdir()
    )


def table_of(folder: Path, name: str) -> pd.DataFrame:
    """Times and values of a file."""
    return pd.read_csv(folder / "data" / name, parse_dates=["timestamp"])


def published(folder: Path, detector: str) -> Detector:
    """The scores that the checkout holds of a detector."""

    def scores(name: str) -> NDArray[np.float64]:
        group, file = name.split("/")
        return pd.read_csv(folder / "results" / detector / group / f"{detector}_{file}")["anomaly_score"].to_numpy(
            float
        )

    return scores


def _normalized(sweeper: Any, points: list) -> float:  # noqa: ANN401  (NAB's, whose code has no types)
    best = max(each.score for each in sweeper.calcScoreByThreshold(points))
    faults = len({point.windowName for point in points} - {None, "probationary"})
    nothing, perfect = -sweeper.fnWeight * faults, sweeper.tpWeight * faults
    return round(100 * (best - nothing) / (perfect - nothing), 1)


def main() -> None:
    """Score and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    detectors = {"ours": lambda name: ours(table_of(folder, name))}
    detectors |= {name: published(folder, name) for name in _PEERS}
    print(
        json.dumps({"files": len(files_of(folder)), **{name: score(folder, each) for name, each in detectors.items()}})
    )


if __name__ == "__main__":
    main()
