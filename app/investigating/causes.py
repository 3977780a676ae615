"""Which failures explain the alerts best: candidates, their probabilities, and sets of several. Pure.

Candidates are what alerting elements depend on. Each is compared with noise (:mod:`app.investigating.likelihood`); the
best explains its signs away, and what remains is explained by the next, until nothing is gained.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from app.investigating.likelihood import DEPTH, Hypothesis, Seen

PRIOR = 0.7
"""Chance that something failed at all when somebody asks."""
ANOTHER = 0.08
"""Chance of a further, independent failure."""
TEMPERATURE = 0.6
"""How far ratios are trusted: signs are not as independent as the ratio takes them to be. Set on training seeds."""
INDEPENDENT = 3.0
"""Ratio from which an explanation of what the first cause leaves is shown among the first."""
MOST = 200
PAIRED = 12
CERTAINTY: Mapping[str, float] = {"very likely": 0.8, "likely": 0.5, "possible": 0.2}


@dataclass(frozen=True)
class Cause:
    """An element that may have failed, with its probability, and the hypothesis that names it."""

    vertex: int
    probability: float
    hypothesis: Hypothesis

    @property
    def certainty(self) -> str:
        """The probability in words; empty if it is too small to name it."""
        return next((word for word, least in CERTAINTY.items() if self.probability >= least), "")


@dataclass(frozen=True)
class Ranking:
    """Candidates, the most likely first; ``chosen`` are those that together explain what was seen, maybe none."""

    causes: list[Cause]
    chosen: list[Cause]
    nothing: float


def rank_causes(seen: Seen) -> Ranking:
    """Rank what may have failed."""
    singles = [seen.best((vertex,)) for vertex in _candidates(seen)]
    singles.sort(key=lambda each: (-each.ratio, each.roots))
    if not singles:
        return Ranking([], [], 1.0)
    infrastructure = max(sum(kind == "infrastructure" for kind in seen.network.kinds), 2)
    causes, nothing = _probabilities(singles, infrastructure)
    if causes[0].probability < nothing or causes[0].probability < CERTAINTY["possible"]:
        return Ranking(causes, [], nothing)
    foremost, again = _distinct(seen, singles)
    causes = _with_independent(causes, again)
    best = _best_set(seen, singles, foremost, infrastructure)
    chosen = [next(cause for cause in causes if cause.vertex == root) for root in best.roots]
    chosen.sort(key=lambda cause: (-cause.hypothesis.ratio, cause.vertex))
    if len(chosen) > 1:  # each explains what the others do not, so they do not compete
        names = {cause.vertex for cause in chosen}
        chosen = [Cause(cause.vertex, max(cause.probability, 0.6), cause.hypothesis) for cause in chosen]
        causes = [*chosen, *(cause for cause in causes if cause.vertex not in names)]
    return Ranking(causes, chosen, nothing)


def _candidates(seen: Seen) -> list[int]:
    """Infrastructure that alerting elements depend on: what most of them share, and the nearest, first."""
    shared: Counter[int] = Counter()
    for vertex in sorted(seen.alerting):
        for candidate, steps in seen.network.upstream(vertex, DEPTH).items():
            if seen.network.kinds[candidate] == "infrastructure":
                shared[candidate] += 4 if steps == 0 else 2 if steps == 1 else 1
    return sorted(shared, key=lambda each: (-shared[each], each))[:MOST]


def _probabilities(hypotheses: list[Hypothesis], infrastructure: int) -> tuple[list[Cause], float]:
    ratios = np.array([each.ratio for each in hypotheses]) * TEMPERATURE + np.log(PRIOR / infrastructure)
    everything = np.append(ratios, np.log(1 - PRIOR))
    shares = np.exp(everything - everything.max())
    shares /= shares.sum()
    causes = [
        Cause(each.roots[0], round(float(share), 6), each) for each, share in zip(hypotheses, shares[:-1], strict=True)
    ]
    return causes, round(float(shares[-1]), 6)


def _with_independent(causes: list[Cause], again: list[Hypothesis]) -> list[Cause]:
    """Put what best explains what the first cause does not into the third place, where it would stand further down."""
    if not again or again[0].ratio < INDEPENDENT:
        return causes
    place = next(number for number, cause in enumerate(causes) if cause.vertex == again[0].roots[0])
    if place <= 2:
        return causes
    return [*causes[:2], causes[place], *causes[2:place], *causes[place + 1 :]]


def _best_set(seen: Seen, singles: list[Hypothesis], foremost: list[int], infrastructure: int) -> Hypothesis:
    """The set of failures with the best ratio, each further one at its price: all pairs of the best, then more."""
    price = np.log(ANOTHER / infrastructure)
    best, value = singles[0], singles[0].ratio
    for one, other in combinations(foremost, 2):
        if other in seen.network.downstream([one], DEPTH) or one in seen.network.downstream([other], DEPTH):
            continue  # the one explains the other
        pair = _joint(seen, singles, (one, other))
        if pair.ratio + price > value:
            best, value = pair, pair.ratio + price
    while len(best.roots) > 1:
        inside = set(best.failed) | set(best.weakened)
        further = [each for each in foremost if each not in inside]
        larger = [_joint(seen, singles, (*best.roots, each)) for each in further]
        top = max(larger, key=lambda each: (each.ratio, each.roots), default=None)
        if top is None or top.ratio + price * (len(top.roots) - 1) <= value:
            break
        best, value = top, top.ratio + price * (len(top.roots) - 1)
    return best


def _distinct(seen: Seen, singles: list[Hypothesis]) -> tuple[list[int], list[Hypothesis]]:
    """The best candidates, and those that are best for what the first does not explain."""
    chosen = [each.roots[0] for each in singles[:PAIRED]]
    explained = frozenset(singles[0].failed) | frozenset(singles[0].weakened)
    remaining = seen.without(explained)
    rest = [each for each in singles if each.roots[0] not in explained]
    again = sorted((remaining.best(each.roots) for each in rest), key=lambda each: (-each.ratio, each.roots))
    return list(dict.fromkeys([*chosen, *(each.roots[0] for each in again[:PAIRED])])), again


def _joint(seen: Seen, singles: list[Hypothesis], roots: tuple[int, ...]) -> Hypothesis:
    """Several failures, each with its own time: the first explains its elements, the next what is left."""
    ratio, taken = 0.0, frozenset[int]()
    failed: dict[int, int] = {}
    weakened: dict[int, int] = {}
    order = {each.roots[0]: place for place, each in enumerate(singles)}
    ordered = sorted(roots, key=lambda root: order.get(root, len(order)))
    for root in ordered:
        part = (seen.without(taken) if taken else seen).best((root,))
        ratio += part.ratio
        failed |= part.failed
        weakened |= part.weakened
        taken |= set(part.failed) | set(part.weakened)
    return Hypothesis(tuple(ordered), "down", ratio, 0.0, failed, weakened)
