"""What may have caused the alerts: everything that alerting elements depend on, the most promising first; and what was
measured to be far out of its baseline, whether anybody alerts or not. Pure."""

import numpy as np
from numpy.typing import NDArray

from app.network.likelihood import DEPTH, MODES, REACH, WEAKENED, Seen
from kb_pipeline.network.topology import Numbers

Floats = NDArray[np.float64]
_MISSED = 0.2
"""Share of lost alerts that is assumed for the choice of candidates; they are then compared exactly."""


def find_candidates(seen: Seen, most: int, alerting: Numbers | None = None) -> list[int]:
    """At most so many candidates for the causes of the alerting elements, in order of numbers."""
    conspicuous = seen.conspicuous if alerting is None else []
    alerting = seen.alerting if alerting is None else alerting
    above = np.union1d(seen.network.above(alerting, DEPTH), np.array(conspicuous, np.int64))
    above = above[seen.network.is_infrastructure[above]]
    if len(above) > most:
        promise = _promise(seen, above, alerting)
        foremost = above[np.argsort(-promise, kind="stable")[:most]]
        measured = above[np.isin(above, conspicuous)][: most // 4]
        above = np.union1d(foremost[: most - len(np.setdiff1d(measured, foremost))], measured)
    return above.tolist()  # type: ignore[no-any-return]


def _promise(seen: Seen, candidates: Numbers, alerting: Numbers) -> Floats:
    """A ratio of each candidate against noise, from how many of those that depend on it alert; ways are counted, so
    that an element that depends on it in two ways counts twice."""
    expected = _counts(*seen.speaking_dependents, candidates)
    alerts = _counts(*seen.network.count_dependents(alerting, DEPTH), candidates)
    noise = min(max(float(seen.alerts.sum()) / seen.count, 0.002), 0.2)
    best = np.full(len(candidates), -np.inf)
    for mode, (_, strength) in MODES.items():
        score = np.zeros(len(candidates))
        for place, share in ((0, 1.0 if mode == "down" else strength), (1, WEAKENED if mode == "down" else strength)):
            chance = (1 - _MISSED) * REACH * share
            loud = alerts[place]
            silent = np.maximum(expected[place] - loud, 0)
            score += loud * np.log(chance / noise) + silent * np.log((1 - chance) / (1 - noise))
        best = np.maximum(best, score)
    own = seen.alerts[candidates]
    best += np.where(own, np.log((1 - _MISSED) / noise), np.log(_MISSED))
    return best


def _counts(above: Numbers, failing: Numbers, weakened: Numbers, candidates: Numbers) -> tuple[Numbers, Numbers]:
    place = np.minimum(np.searchsorted(above, candidates), len(above) - 1)
    known = above[place] == candidates
    return np.where(known, failing[place], 0), np.where(known, weakened[place], 0)
