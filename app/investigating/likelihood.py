"""How much better a fault explains what was seen than noise does: the logarithm of a ratio of probabilities. Pure.

A hypothesis is a set of elements that failed at one time each. Who alerts, who is silent though it should alert, what
the alerts say, when they came, and what was measured all count. How often alerts are lost and how often they mean
nothing is not known, so the ratio is averaged over a range of both.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from app.investigating.alerts import Sign
from app.investigating.baselines import Anomaly
from kb_pipeline.network.topology import Numbers, Reach, Topology

Floats = NDArray[np.float64]

DEPTH = 6
_RINGS = 2 * DEPTH + 2
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
_STARTS = 40
"""Most times at which a failure may have begun that are compared."""
_TOLD = 1500
"""Most signs whose times and kinds are compared for one candidate; of more, every n-th."""


@dataclass(frozen=True)
class Hypothesis:
    """Elements that failed, in the ways they did; ``ratio`` against noise. What it makes of the elements around."""

    roots: tuple[int, ...]
    mode: str
    ratio: float
    onset: float
    reach: Reach = field(compare=False, repr=False)

    @cached_property
    def failed(self) -> Mapping[int, int]:
        """What fails with the roots, with the number of edges to it."""
        if self.mode != "down":  # nobody else fails: whoever depends on it may notice
            return dict.fromkeys(self.roots, 0)
        return dict(zip(self.reach.failed.tolist(), self.reach.failed_steps.tolist(), strict=True))

    @cached_property
    def weakened(self) -> Mapping[int, int]:
        """What has trouble because of the roots, with the number of edges to it."""
        weakened = dict(zip(self.reach.weakened.tolist(), self.reach.weakened_steps.tolist(), strict=True))
        if self.mode != "down":
            roots = set(self.roots)
            steps = zip(self.reach.failed.tolist(), self.reach.failed_steps.tolist(), strict=True)
            weakened |= {vertex: step for vertex, step in steps if vertex not in roots}
        return weakened

    @property
    def touched(self) -> Numbers:
        """Everything that it explains: what alerts there, and what does not."""
        return np.concatenate((self.reach.failed, self.reach.weakened))


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
        self.vertex = np.array([sign.vertex for sign in telling], np.int64)
        self.at = np.array([sign.first for sign in telling], np.float64)
        self.meaning = np.array([_MEANINGS[sign.meaning] for sign in telling], np.int64)
        self.window = max(window, 600.0)
        self.anomalies = anomalies
        self.planned = planned
        self.speaking = speaking
        self.speaks = np.array([name in speaking for name in network.type_names] + [False])[network.type_codes]
        self.alerts = np.zeros(len(network.ids), bool)
        self.alerts[self.vertex] = True
        self.count = max(int(self.speaks.sum()), int(self.alerts.sum()) + 1)
        self.is_explained = np.zeros(len(network.ids), bool)
        self._reaches: dict[int, Reach] = {}

    @property
    def alerting(self) -> Numbers:
        """Elements whose alerts are not explained yet, in order."""
        return np.flatnonzero(self.alerts)

    def without(self, vertices: Numbers) -> "Seen":
        """The same without some elements, which another cause explains: neither their signs nor their silence count."""
        seen = object.__new__(Seen)
        seen.__dict__.update(self.__dict__)
        seen.__dict__.pop("_noise", None)
        seen.alerts, seen.is_explained = self.alerts.copy(), self.is_explained.copy()
        seen.alerts[vertices] = False
        seen.is_explained[vertices] = True
        return seen

    def reach(self, root: int) -> Reach:
        """What fails with an element."""
        if root not in self._reaches:
            self._reaches[root] = self.network.reach([root], DEPTH)
        return self._reaches[root]

    @property
    def speaking_dependents(self) -> tuple[Numbers, Numbers, Numbers]:
        """How many elements whose silence says something depend on each element."""
        return self.network.count_dependents_of_types(self.speaking, DEPTH)

    @cached_property
    def _noise(self) -> Floats:
        """What each share of noise makes of everything: the case that nothing failed."""
        alerting = int(self.alerts.sum())
        noise: Floats = alerting * np.log(NOISE) + (self.count - alerting) * np.log1p(-NOISE)
        return noise

    def best(self, root: int) -> Hypothesis:
        """The most likely way in which this element failed."""
        reach = self.reach(root)
        failed, weakened = (
            self._counted(reach.failed, reach.failed_steps),
            self._counted(reach.weakened, reach.weakened_steps),
        )
        noticed = weakened.copy()
        noticed[:, : failed.shape[1]] += np.where(np.arange(failed.shape[1]) > 0, failed, 0)
        told = self._when_and_what(root, reach)
        ratios = []
        for mode, (_, strength) in MODES.items():
            is_down = mode == "down"
            score = self._score(failed if is_down else failed[:, :1], 1.0, has_root=True)
            score += self._score(weakened if is_down else noticed, WEAKENED if is_down else strength)
            ratios.append(_log_mean((score + self._noise[None, :]).ravel()) - _log_mean(self._noise) + told[mode][0])
        place = int(np.argmax(ratios))
        mode = list(MODES)[place]
        ratio = _log_mean(ratios, [prior for prior, _ in MODES.values()])
        ratio += self._measured(root) + PLANNED * (root in self.planned)
        return Hypothesis((root,), mode, ratio, told[mode][1], reach)

    def _counted(self, vertices: Numbers, steps: Numbers) -> NDArray[np.int64]:
        """By the number of edges to them: how many elements are silent, and how many alert."""
        left = ~self.is_explained[vertices] & (self.alerts[vertices] | self.speaks[vertices])
        alerts, steps = self.alerts[vertices[left]], steps[left]
        return np.bincount(steps + alerts * _RINGS, minlength=2 * _RINGS).reshape(2, _RINGS)

    def _score(self, counts: NDArray[np.int64], strength: float, *, has_root: bool = False) -> Floats:
        """What those who alert and those who are silent add, for each share of missed alerts and of noise."""
        if_silent, if_alerting = _chances(strength, counts.shape[1], has_root)
        silent, alerting = counts
        score: Floats = (if_silent @ silent + if_alerting @ alerting)[:, None]
        noise: Floats = alerting.sum() * np.log(NOISE) + silent.sum() * np.log1p(-NOISE)
        return np.subtract(score, noise[None, :])

    def _rows(self, reach: Reach) -> tuple[Numbers, Numbers]:
        """The signs of affected elements, and the role of each when the failure is complete."""
        vertices = np.concatenate((reach.failed, reach.weakened))
        roles = np.repeat([_ROLES["failed"], _ROLES["weakened"]], [len(reach.failed), len(reach.weakened)])
        speaking = self.alerts[vertices]
        vertices, roles = vertices[speaking], roles[speaking]
        first, after = np.searchsorted(self.vertex, vertices), np.searchsorted(self.vertex, vertices, "right")
        count = after - first
        owner = np.repeat(np.arange(len(vertices)), count)
        rows = np.arange(len(owner)) + np.repeat(first - np.cumsum(count) + count, count)
        return rows, roles[owner]

    def _when_and_what(self, root: int, reach: Reach) -> dict[str, tuple[float, float]]:
        """By way to fail: what times and kinds of the signs of affected elements add, and when it then began."""
        rows, roles = self._rows(reach)
        if not len(rows):
            return dict.fromkeys(MODES, (0.0, 0.0))
        scale = 1.0
        if len(rows) > _TOLD:
            every = -(-len(rows) // _TOLD)
            scale = len(rows) / len(rows[::every])
            rows, roles = rows[::every], roles[::every]
        order = np.argsort(self.vertex[rows], kind="stable")
        rows, roles = rows[order], roles[order]
        at, vertex = self.at[rows], self.vertex[rows]
        is_root = vertex == root
        starts = _likely_starts(at)
        later = at[None, :] - starts[:, None]
        when = np.where(is_root, _late(later, "root", self.window), _late(later, "failed", self.window))
        groups = np.flatnonzero(np.diff(vertex, prepend=-1))
        found = {}
        for mode in MODES:
            role = np.where(is_root, _ROLES["root"], roles if mode == "down" else _ROLES["weakened"])
            what = _KINDS[role, self.meaning[rows]]
            best = np.maximum.reduceat(when + what, groups, axis=1).sum(axis=1)
            at_best = int(best.argmax())
            # the failure may have begun at any time of the window: that its time fits must be paid for
            price = float(np.log(self.window / ANY_TIME))
            found[mode] = float(best[at_best]) * scale - price, float(starts[at_best])
        return found

    def _measured(self, root: int) -> float:
        """What the metrics of the cause add."""
        anomaly = self.anomalies.get(root)
        if anomaly is None:
            return 0.0
        cause, anybody = MEASURED
        strength = min(max((anomaly.surprise - 1.5) / 1.5, 0.0), 1.0)
        return float(strength * np.log(cause / anybody) + (1 - strength) * np.log((1 - cause) / (1 - anybody)))


def _likely_starts(at: Floats) -> Floats:
    """Times at which a failure may have begun: those of its signs, or those after which most signs come."""
    starts = np.unique(at)
    if len(starts) <= _STARTS:
        return starts
    ordered = np.sort(at)
    following = np.searchsorted(ordered, starts + ANY_TIME, "right") - np.searchsorted(ordered, starts)
    return np.sort(starts[np.argsort(-following, kind="stable")[:_STARTS]])


@cache
def _chances(strength: float, rings: int, has_root: bool) -> tuple[Floats, Floats]:
    """Logarithms of the chance that an element of each ring is silent, and that it alerts."""
    chance = (1 - MISSED)[:, None] * REACH ** np.maximum(np.arange(rings) - 1, 0)[None, :] * strength
    if has_root:
        chance[:, 0] = 1 - SILENT_ROOT
    return np.log1p(-chance), np.log(chance)


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
