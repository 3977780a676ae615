"""How much better a fault explains what was seen than noise does: the logarithm of a ratio of probabilities. Pure.

A hypothesis is a set of elements that failed at one time each. Who alerts, who is silent though it should alert, what
the alerts say, when they came, and what was measured all count. How often alerts are lost and how often they mean
nothing is not known, so the ratio is averaged over a range of both.
"""

from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from math import comb, exp, log

import numpy as np
from numpy.typing import NDArray

from app.network.alerts import Sign
from app.network.baselines import Anomaly
from app.network.hypothesis import Hypothesis
from kb_pipeline.network.topology import Numbers, Reach, Topology

Floats = NDArray[np.float64]

DEPTH = 6
"""Edges from a cause up to which its failure is followed, and from an alert up to which causes are looked for."""
_RINGS = 2 * DEPTH + 2
"""A bin for each number of edges to an element; what is weakened is followed further than what failed."""
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
IN_PART = 0.15
"""Prior of a further way: some of what depends on the element directly fails completely, the rest not at all, as with
a line card. Which of them is open, and must be paid for."""
AT_SITE = 0.05
"""Prior of a further way: everything that stands at the same site fails with it, as when the power goes."""
_SITE = 60
"""Most elements of a site of which that is asked."""
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
RAREST = 0.0005
"""Chance that those of any element are far beyond everything of the past."""
LIFELESS = (0.8, 0.001)
"""Chance that what failed, and any element, measurably carries nothing any more."""
SEVERITY: Mapping[str, float] = {"CRITICAL": 2.0, "MAJOR": 1.4, "MINOR": 0.8, "WARNING": 0.4}
"""How much likelier an alert of a severity is with a failure than without: by ITU-T X.733 critical and major say that
service suffers, and a warning that it does not yet."""

PLANNED = 4.0
"""What it adds that somebody works on an element."""

_MEANINGS = {"own": 0, "derived": 1, "unknown": 2}
_ROLES = {"root": 0, "failed": 1, "weakened": 2}
_STARTS = 40
"""Most times at which a failure may have begun that are compared."""
_TOLD = 1500
"""Most signs whose times and kinds are compared for one candidate; of more, every n-th."""
_CONSPICUOUS = 4.0
"""With more surprise than this, an element is a candidate also if nothing that depends on it alerts."""
_BRANCHES = 24
"""Most direct dependents in trouble of which it is asked whether only some failed."""


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
        self.weight = np.log([SEVERITY.get(sign.severity.upper(), 1.0) for sign in telling])
        self.window = max(window, 600.0)
        self.anomalies = anomalies
        self.is_lifeless, self.lives_until = np.zeros(len(network.ids), bool), np.zeros(len(network.ids))
        for vertex, anomaly in anomalies.items():
            self.is_lifeless[vertex] = anomaly.lives is False
            self.lives_until[vertex] = anomaly.newest if anomaly.lives else 0.0
        self.tells_its_life = self.is_lifeless | (self.lives_until > 0)
        self.lives_are_told = bool(self.tells_its_life.any())
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

    @property
    def saying_that_they_failed(self) -> list[int]:
        """Infrastructure whose own alert says that it failed, so gravely that service suffers, or whose measurements
        do; in order."""
        grave = np.union1d(self.vertex[(self.meaning == _MEANINGS["own"]) & (self.weight > 0)], self.conspicuous)
        return [each for each in grave.astype(np.int64).tolist() if self.network.is_infrastructure[each]]

    @property
    def conspicuous(self) -> list[int]:
        """Elements that carry nothing any more, or whose metrics are far out of their baseline; in order."""
        return [
            vertex
            for vertex, anomaly in sorted(self.anomalies.items())
            if not self.is_explained[vertex] and (anomaly.lives is False or anomaly.surprise >= _CONSPICUOUS)
        ]

    def without(self, vertices: Numbers) -> "Seen":
        """The same without some elements, which another cause explains: neither their signs nor their silence count."""
        seen = object.__new__(Seen)
        seen.__dict__.update(self.__dict__)
        for counted in ("_noise", "_mean_noise"):
            seen.__dict__.pop(counted, None)
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

    @cached_property
    def _mean_noise(self) -> float:
        return _log_mean(self._noise)

    def best(self, root: int, *, special: bool = False) -> Hypothesis:
        """The most likely way in which this element failed; ``special`` compares also that only a part of it did, or
        its whole site."""
        reach = self.reach(root)
        failed, weakened = (
            self._counted(reach.failed, reach.failed_steps),
            self._counted(reach.weakened, reach.weakened_steps),
        )
        noticed = weakened.copy()
        noticed[:, : failed.shape[1]] += np.where(np.arange(failed.shape[1]) > 0, failed, 0)
        told, measured = self._when_and_what(root, reach), self._measured(root)
        ratios = []
        for mode, (_, strength) in MODES.items():
            is_down = mode == "down"
            score = self._score(failed if is_down else failed[:, :1], 1.0, has_root=True)
            score += self._score(weakened if is_down else noticed, WEAKENED if is_down else strength)
            explained, onset = told[mode]
            ratios.append(self._against_noise(score) + explained)
            ratios[-1] += self._carried(reach.failed, onset) if is_down else 0.0
            ratios[-1] += 0.0 if is_down and self._tells_its_life(root, onset) else measured
        worth = np.add(ratios, _MODE_PRIORS)
        mode = list(MODES)[int(worth.argmax())]
        ratio = _log_mean(ratios, _MODE_SHARES) + PLANNED * (root in self.planned)
        whole = Hypothesis((root,), mode, ratio, told[mode][1], reach)
        if not special:
            return whole
        others = [each for each in (self._in_part(whole), self._with_site(whole)) if each]
        best, ratio = max(others, key=lambda each: each[1], default=(whole, -np.inf))
        return best if ratio > float(worth.max()) else whole

    def _in_part(self, whole: Hypothesis) -> tuple[Hypothesis, float] | None:
        """The same element, failed only in part, if it can have, and what that way alone is worth."""
        (root,) = whole.roots
        direct = np.unique(np.array(self.network.dependents(root), np.int64))
        direct = direct[~self.is_explained[direct]]
        parts = self._parts(whole, direct)
        if not 0 < len(parts) < len(direct):
            return None
        behind = self.network.reach(parts, DEPTH - 1)
        failed, steps = np.append(root, behind.failed), np.append(0, behind.failed_steps + 1)
        reach = Reach(failed, steps, behind.weakened, behind.weakened_steps + 1)
        score = self._score(self._counted(reach.failed, reach.failed_steps), 1.0, has_root=True)
        score += self._score(self._counted(reach.weakened, reach.weakened_steps), WEAKENED)
        explained, onset = self._when_and_what(root, reach)["down"]
        choices = (len(direct) + 1) * comb(len(direct), len(parts))
        ratio = self._against_noise(score) + explained + self._carried(behind.failed, onset) + log(IN_PART / choices)
        # what is measured of the element itself may be of the part that failed, or not
        ratio += log(0.5 + 0.5 * exp(self._carried(failed[:1], onset)))
        ratio += 0.0 if self._tells_its_life(root, onset) else self._measured(root)
        return self._further(whole, "in part", ratio, onset, reach, parts), ratio

    def _with_site(self, whole: Hypothesis) -> tuple[Hypothesis, float] | None:
        """The same element, failed with all that stands beside it, and what that way alone is worth.

        Of a site the element on which most depends is named, and only if not all the rest depends on it anyway.
        """
        (root,) = whole.roots
        site = self.network.beside(root)
        if not 1 < len(site) <= _SITE or self.is_explained[site].any() or np.isin(site, whole.reach.failed).all():
            return None
        if max(site.tolist(), key=lambda each: (len(self.reach(each).failed), -each)) != root:
            return None
        reach = self.network.reach(site, DEPTH)
        score = self._score(self._counted(reach.failed, reach.failed_steps), 1.0, has_root=True)
        score += self._score(self._counted(reach.weakened, reach.weakened_steps), WEAKENED)
        explained, onset = self._when_and_what(root, reach, site)["down"]
        ratio = self._against_noise(score) + explained + self._carried(reach.failed, onset) + log(AT_SITE)
        ratio += 0.0 if self._tells_its_life(root, onset) else self._measured(root)
        return self._further(whole, "site", ratio, onset, reach, site[site != root].tolist()), ratio

    def _further(
        self, whole: Hypothesis, mode: str, ratio: float, onset: float, reach: Reach, parts: Sequence[int]
    ) -> Hypothesis:
        everything = float(np.logaddexp(whole.ratio, ratio + PLANNED * (whole.roots[0] in self.planned)))
        return Hypothesis(whole.roots, mode, everything, onset, reach, tuple(parts))

    def _parts(self, whole: Hypothesis, direct: Numbers) -> list[int]:
        """Those direct dependents that rather failed than not; what one explains is no sign of another."""
        failed = whole.reach.failed
        failed = failed[self.alerts[failed] | (self.is_lifeless[failed] & ~self.is_explained[failed])]
        failed = failed[failed != whole.roots[0]]
        near = np.intersect1d(direct, self.network.above(failed, DEPTH)).tolist() if len(direct) > 1 else []
        parts, left = list[int](), self
        if len(near) > _BRANCHES:
            return parts
        for branch in sorted(near, key=lambda each: (-self._failed_rather(each, whole.onset), each)):
            if left._failed_rather(branch, whole.onset) > log(len(direct)):
                parts.append(branch)
                left = left.without(np.concatenate((self.reach(branch).failed, self.reach(branch).weakened)))
        return parts

    def _failed_rather(self, vertex: int, onset: float) -> float:
        """How much likelier it is that this element failed with something than that it works."""
        reach = self.reach(vertex)
        score = self._score(self._counted(reach.failed, reach.failed_steps), 1.0)
        return self._against_noise(score) + self._carried(reach.failed, onset)

    def _against_noise(self, score: Floats) -> float:
        return _log_mean((score + self._noise[None, :]).ravel()) - self._mean_noise

    def _carried(self, failed: Numbers, onset: float) -> float:
        """What it adds which of the elements that should have failed measurably carry something since then."""
        if not self.lives_are_told:
            return 0.0
        telling = failed[self.tells_its_life[failed]]
        telling = telling[~self.is_explained[telling]]
        lifeless, living = int(self.is_lifeless[telling].sum()), int((self.lives_until[telling] > onset).sum())
        return lifeless * _IF_LIFELESS + living * _IF_LIVING

    def _tells_its_life(self, vertex: int, onset: float) -> bool:
        return bool(self.is_lifeless[vertex] or self.lives_until[vertex] > onset)

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

    def _when_and_what(self, root: int, reach: Reach, beside: Numbers | None = None) -> dict[str, tuple[float, float]]:
        """By way to fail: what times and kinds of the signs of affected elements add, and when it then began."""
        rows, roles = self._rows(reach)
        if not len(rows):
            measured = self.anomalies.get(root)
            return dict.fromkeys(MODES, (0.0, (measured.onset if measured else None) or 0.0))
        scale = 1.0
        if len(rows) > _TOLD:
            every = -(-len(rows) // _TOLD)
            scale = len(rows) / len(rows[::every])
            rows, roles = rows[::every], roles[::every]
        order = np.argsort(self.vertex[rows], kind="stable")
        rows, roles = rows[order], roles[order]
        at, vertex = self.at[rows], self.vertex[rows]
        is_root = vertex == root if beside is None else np.isin(vertex, beside)
        starts = _likely_starts(at)
        later = at[None, :] - starts[:, None]
        when = np.where(is_root, _late(later, "root", self.window), _late(later, "failed", self.window))
        groups = np.flatnonzero(np.diff(vertex, prepend=-1))
        # the failure may have begun at any time of the window: that its time fits must be paid for
        price = float(np.log(self.window / ANY_TIME))

        def told(affected: Numbers | int) -> tuple[float, float]:
            role = np.where(is_root, _ROLES["root"], affected)
            what = _KINDS[role, self.meaning[rows]] + self.weight[rows]
            best = np.maximum.reduceat(when + what, groups, axis=1).sum(axis=1)
            at_best = int(best.argmax())
            return float(best[at_best]) * scale - price, float(starts[at_best])

        down, noticed = told(roles), told(_ROLES["weakened"])
        return {mode: down if mode == "down" else noticed for mode in MODES}

    def _measured(self, root: int) -> float:
        """What the metrics of the cause add."""
        anomaly = self.anomalies.get(root)
        if anomaly is None or anomaly.lives is False:
            return 0.0
        cause, anybody = MEASURED
        anybody = max(anybody * 10 ** (-max(anomaly.surprise - 3.0, 0.0) / 2), RAREST)
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
    top = array.max()
    shares = np.exp(array - top)
    return float(top + np.log(shares.mean() if weights is None else shares @ np.asarray(weights)))


_KINDS = np.log([[OWN[role] / 0.5, (1 - OWN[role]) / 0.5, 1.0] for role in _ROLES])
_MODE_SHARES = [prior for prior, _ in MODES.values()]
_MODE_PRIORS = np.log(_MODE_SHARES)
_IF_LIFELESS = log(LIFELESS[0] / LIFELESS[1])
_IF_LIVING = log((1 - LIFELESS[0]) / (1 - LIFELESS[1]))
"""What one element that should be dead and measurably carries something adds: it speaks against."""
