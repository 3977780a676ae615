"""How much better a fault explains what was seen than noise does: the logarithm of a ratio of probabilities. Pure.

A hypothesis is a set of elements that failed at one time each. Who alerts, who is silent though it should alert, what
the alerts say, when they came, and what was measured all count. How often alerts are lost and how often they mean
nothing is not known, so the ratio is averaged over a range of both.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from app.investigating.alerts import Sign
from app.investigating.baselines import Anomaly
from kb_pipeline.network.topology import Topology

Floats = NDArray[np.float64]

DEPTH = 6
MISSED = np.array([0.03, 0.15, 0.35, 0.55])
"""Shares of alerts that never arrive; averaged over."""
SILENT_ROOT = np.array([0.05, 0.15, 0.35, 0.5])
"""Shares of causes that raise no alert themselves, for each of the above."""
NOISE = np.array([0.002, 0.01, 0.03, 0.06])
"""Shares of elements that alert for no reason; averaged over."""
REACH = 0.97
"""What is left of the chance to alert with each further step from the cause."""
WEAKENED = 0.5
"""Chance of an alert of an element that lost one of several ways, against one that failed."""
MODES: Mapping[str, tuple[float, float]] = {"down": (0.6, 1.0), "degraded": (0.25, 0.35), "itself": (0.15, 0.04)}
"""Prior of each way to fail, and how likely dependents alert against a complete failure."""
OWN = {"root": 0.85, "failed": 0.35, "weakened": 0.2}
"""Chance that an alert of an element with this role says that the element itself failed; half of those of noise do."""
ON_TIME = 0.85
"""Share of alerts that come soon after a failure."""
DELAYS = {"root": (20.0, 120.0), "failed": (60.0, 300.0)}
"""Usual and long delays of alerts in seconds."""
ANY_TIME = 90.0
"""Failures that begin so many seconds apart cannot be told from each other."""
EARLY = 45.0
"""Clocks differ by so many seconds."""
MEASURED = (0.6, 0.02)
"""Chance that the metrics of a cause, and those of any element, are out of their baseline."""

PLANNED = 4.0
"""What it adds that somebody works on an element."""

_MEANINGS = {"own": 0, "derived": 1, "unknown": 2}
_ROLES = {"root": 0, "failed": 1, "weakened": 2}


@dataclass(frozen=True)
class Hypothesis:
    """Elements that failed, in the ways they did; ``ratio`` against noise. What it makes of the elements around."""

    roots: tuple[int, ...]
    mode: str
    ratio: float
    onset: float
    failed: Mapping[int, int]
    weakened: Mapping[int, int]


class Seen:
    """What was seen, prepared for many hypotheses."""

    def __init__(
        self,
        network: Topology,
        signs: Sequence[Sign],
        speaking: frozenset[str],
        anomalies: Mapping[int, Anomaly],
        window: float,
        planned: frozenset[int] = frozenset(),
    ) -> None:
        self.network = network
        telling = sorted(
            (sign for sign in signs if sign.meaning != "nothing"), key=lambda each: (each.vertex, each.first)
        )
        self.signs = telling
        self.vertex = np.array([sign.vertex for sign in telling], np.int64)
        self.at = np.array([sign.first for sign in telling], np.float64)
        self.meaning = np.array([_MEANINGS[sign.meaning] for sign in telling], np.int64)
        self.alerting = frozenset(self.vertex.tolist())
        self.window = max(window, 600.0)
        self.anomalies = anomalies
        self.planned = planned
        speaks = np.array([each in speaking for each in network.types], bool)
        self.speaks = speaks
        self.count = max(int(speaks.sum()), len(self.alerting) + 1)
        self.explained: frozenset[int] = frozenset()
        self._rows_of: dict[int, list[int]] = {}
        for row, vertex in enumerate(self.vertex.tolist()):
            self._rows_of.setdefault(vertex, []).append(row)

    def without(self, vertices: frozenset[int]) -> "Seen":
        """The same without some elements, which another cause explains: neither their signs nor their silence count."""
        seen = object.__new__(Seen)
        seen.__dict__.update(self.__dict__)
        seen.__dict__.pop("_noise", None)
        seen.alerting = self.alerting - vertices
        seen.explained = self.explained | vertices
        return seen

    @cached_property
    def _noise(self) -> Floats:
        """What each share of noise makes of everything: the case that nothing failed."""
        alerting = len(self.alerting)
        noise: Floats = alerting * np.log(NOISE) + (self.count - alerting) * np.log1p(-NOISE)
        return noise

    def best(self, roots: tuple[int, ...]) -> Hypothesis:
        """The most likely way in which these elements failed together."""
        failed, weakened = self.network.failing_with(roots, DEPTH)
        each = [self._told(roots, mode, failed, weakened) for mode in MODES]
        ratio = _log_mean([mode.ratio for mode in each], [prior for prior, _ in MODES.values()])
        best = max(each, key=lambda mode: mode.ratio)
        worked_on = PLANNED * sum(root in self.planned for root in roots)
        return Hypothesis(roots, best.mode, ratio + self._measured(roots) + worked_on, best.onset, failed, weakened)

    def _told(
        self, roots: tuple[int, ...], mode: str, failed: Mapping[int, int], weakened: Mapping[int, int]
    ) -> Hypothesis:
        strength = MODES[mode][1]
        if mode != "down":  # nobody fails: whoever depends on it may notice
            weakened = {**weakened, **{vertex: steps for vertex, steps in failed.items() if steps}}
            failed = dict.fromkeys(roots, 0)
        else:
            strength = 1.0
        score = np.zeros((len(MISSED), len(NOISE)))
        rows: list[int] = []
        roles: list[int] = []
        for role, some in (("failed", failed), ("weakened", weakened)):
            for steps, silent, speaking in self._counted(some, rows, roles, role):
                if role == "failed" and steps == 0:
                    chance = 1 - SILENT_ROOT
                else:
                    chance = (1 - MISSED) * REACH ** (steps - 1)
                    chance = chance * ((WEAKENED if mode == "down" else strength) if role == "weakened" else 1.0)
                score += speaking * (np.log(chance)[:, None] - np.log(NOISE)[None, :])
                score += silent * (np.log1p(-chance)[:, None] - np.log1p(-NOISE)[None, :])
        told, onset = self._when_and_what(rows, roles)
        whole = _log_mean((score + self._noise[None, :]).ravel()) - _log_mean(self._noise)
        return Hypothesis(roots, mode, whole + told, onset, failed, weakened)

    def _counted(
        self, some: Mapping[int, int], rows: list[int], roles: list[int], role: str
    ) -> list[tuple[int, int, int]]:
        counts: dict[int, list[int]] = {}
        for vertex, steps in some.items():
            if vertex in self.explained:
                continue
            if vertex in self.alerting:
                counts.setdefault(steps, [0, 0])[1] += 1
                rows += self._rows_of[vertex]
                roles += [_ROLES["root" if role == "failed" and steps == 0 else role]] * len(self._rows_of[vertex])
            elif self.speaks[vertex]:
                counts.setdefault(steps, [0, 0])[0] += 1
        return [(steps, silent, speaking) for steps, (silent, speaking) in sorted(counts.items())]

    def _when_and_what(self, rows: list[int], roles: list[int]) -> tuple[float, float]:
        """What the times and kinds of the signs of affected elements add, and when the failure then began."""
        if not rows:
            return 0.0, 0.0
        chosen, role = np.array(rows), np.array(roles)
        at, vertex = self.at[chosen], self.vertex[chosen]
        what = _KINDS[role, self.meaning[chosen]]
        starts = np.unique(at)[:40]
        later = at[None, :] - starts[:, None]
        when = np.where(role == 0, _late(later, "root", self.window), _late(later, "failed", self.window))
        order = np.argsort(vertex, kind="stable")
        groups = np.flatnonzero(np.diff(vertex[order], prepend=-1))
        best = np.maximum.reduceat((when + what)[:, order], groups, axis=1).sum(axis=1)
        at_best = int(best.argmax())
        # the failure may have begun at any time of the window: that its time fits must be paid for
        return float(best[at_best]) - float(np.log(self.window / ANY_TIME)), float(starts[at_best])

    def _measured(self, roots: tuple[int, ...]) -> float:
        """What the metrics of the causes add."""
        cause, anybody = MEASURED
        total = 0.0
        for root in roots:
            if anomaly := self.anomalies.get(root):
                strength = min(max((anomaly.surprise - 1.5) / 1.5, 0.0), 1.0)
                total += strength * np.log(cause / anybody) + (1 - strength) * np.log((1 - cause) / (1 - anybody))
        return total


def _late(later: Floats, role: str, window: float) -> Floats:
    short, long = DELAYS[role]
    after = 0.5 * np.exp(-np.maximum(later, 0) / short) / short + 0.5 * np.exp(-np.maximum(later, 0) / long) / long
    before = 0.3 * np.exp(np.minimum(later, 0) / EARLY) / EARLY
    return np.log(ON_TIME * np.where(later >= 0, after, before) * window + (1 - ON_TIME))


def _log_mean(values: Sequence[float] | Floats, weights: Sequence[float] | None = None) -> float:
    array = np.asarray(values, np.float64)
    share = np.full(len(array), 1 / len(array)) if weights is None else np.asarray(weights)
    top = array.max()
    return float(top + np.log((share * np.exp(array - top)).sum()))


_KINDS = np.log([[OWN[role] / 0.5, (1 - OWN[role]) / 0.5, 1.0] for role in _ROLES])
