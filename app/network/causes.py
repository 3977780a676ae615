"""Which failures explain the alerts best: candidates, their probabilities, and sets of several. Pure.

Candidates are what alerting elements depend on. Each is compared with noise (:mod:`app.network.likelihood`); the
best explains its signs away, and what remains is explained by the next, until nothing is gained.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, zip_longest

import numpy as np

from app.network.candidates import find_candidates
from app.network.hypothesis import Hypothesis
from app.network.likelihood import Seen
from kb_pipeline.network.topology import Numbers

PRIOR = 0.7
"""Chance that something failed at all when somebody asks."""
ANOTHER = 0.08
"""Chance of a further, independent failure."""
TEMPERATURE = 0.6
"""How far ratios are trusted: signs are not as independent as the ratio takes them to be. Set on training seeds."""
INDEPENDENT = 3.0
"""Ratio from which an explanation of what the first cause leaves is shown among the first."""
MOST = 200
"""Most candidates that are compared at once."""
AGAIN = 60
"""Most candidates that are compared for what is left."""
PAIRED = 12
"""Causes of which each two are tried as a pair: so many of the first, and of those for what is left."""
SPECIAL, SPECIAL_AGAIN = 12, 3
"""Causes that may have failed in part, or with their site: so many at first, and of those for what is left."""
SHOWN = 24
"""Most causes of a ranking that are looked for one after the other."""
CERTAINTY: Mapping[str, float] = {"very likely": 0.8, "likely": 0.5, "possible": 0.2}
"""Least probability for each word: above a half it is likelier than all else together."""


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
    singles = _ranked(seen)
    if not singles:
        return Ranking([], [], 1.0)
    infrastructure = max(int(seen.network.is_infrastructure.sum()), 2)
    causes, nothing = _probabilities(singles, infrastructure)
    if causes[0].probability < nothing or causes[0].probability < CERTAINTY["possible"]:
        return Ranking(causes, [], nothing)
    price = float(np.log(ANOTHER / infrastructure))
    first = _pair(seen, singles, price)
    chosen, further = _following(seen, first, price)
    if len(chosen) == 1:
        named, rivals = [next(cause for cause in causes if cause.vertex == chosen[0].roots[0])], causes
    else:
        named, rivals = _apart(seen, chosen, infrastructure)
    names = {cause.vertex for cause in named}
    return Ranking([*named, *_others(rivals, further, causes, names)], named, nothing)


def _ranked(seen: Seen, most: int = MOST) -> list[Hypothesis]:
    """Candidates by their ratios; of the foremost it is also asked whether they failed in part or with their site."""
    singles = _sorted(seen.best(vertex) for vertex in find_candidates(seen, most))
    return _closely(seen, singles, SPECIAL if most == MOST else SPECIAL_AGAIN)


def _closely(seen: Seen, singles: list[Hypothesis], foremost: int) -> list[Hypothesis]:
    return _sorted([*(seen.best(each.roots[0], special=True) for each in singles[:foremost]), *singles[foremost:]])


def _sorted(hypotheses: Iterable[Hypothesis]) -> list[Hypothesis]:
    return sorted(hypotheses, key=lambda each: (-each.ratio, each.roots))


def _probabilities(hypotheses: Sequence[Hypothesis], infrastructure: int) -> tuple[list[Cause], float]:
    ratios = np.array([each.ratio for each in hypotheses]) * TEMPERATURE + np.log(PRIOR / infrastructure)
    everything = np.append(ratios, np.log(1 - PRIOR))
    shares = np.exp(everything - everything.max())
    shares /= shares.sum()
    causes = [
        Cause(each.roots[0], round(float(share), 6), each) for each, share in zip(hypotheses, shares[:-1], strict=True)
    ]
    return causes, round(float(shares[-1]), 6)


def _pair(seen: Seen, singles: list[Hypothesis], price: float) -> list[Hypothesis]:
    """The best candidate, or two that together explain more than their price: so that one common ancestor and two
    independent failures are told apart."""
    best, value = [singles[0]], singles[0].ratio
    remaining = seen.without(singles[0].touched)
    again = _sorted(remaining.best(each.roots[0]) for each in singles)
    again = [each for each in again if not remaining.is_explained[each.roots[0]]]
    again = _closely(remaining, again, SPECIAL_AGAIN)
    special = {each.roots[0] for each in (*singles[:PAIRED], *again[:PAIRED]) if each.is_special}
    by_root = {each.roots[0]: each for each in singles}
    places = {each.roots[0]: place for place, each in enumerate(singles)}
    foremost = dict.fromkeys(each.roots[0] for each in (*singles[:PAIRED], *again[:PAIRED]))
    left = {root: seen.without(by_root[root].touched) for root in foremost}
    for pair in combinations(sorted(foremost, key=lambda root: places[root]), 2):
        one, other = by_root[pair[0]], by_root[pair[1]]
        if pair[1] in one.touched or pair[0] in other.touched:
            continue  # the one explains the other
        second = left[pair[0]].best(pair[1], special=pair[1] in special)
        if one.ratio + second.ratio + price > value:
            best, value = [one, second], one.ratio + second.ratio + price
    return best


def _following(seen: Seen, chosen: list[Hypothesis], price: float) -> tuple[list[Hypothesis], list[Hypothesis]]:
    """What else failed: the best explanation of what is left, as long as it gains more than its price; and the best
    of those that do not."""
    chosen, further = list(chosen), list[Hypothesis]()
    left = seen.without(np.concatenate([each.touched for each in chosen]))
    while len(chosen) + len(further) < SHOWN and left.alerts.any():
        ranked = [each for each in _ranked(left, AGAIN) if not left.is_explained[each.roots[0]]]
        if not ranked or ranked[0].ratio < INDEPENDENT:
            break
        (chosen if ranked[0].ratio + price > 0 and not further else further).append(ranked[0])
        left = left.without(ranked[0].touched)
    return chosen, further


def _apart(seen: Seen, chosen: list[Hypothesis], infrastructure: int) -> tuple[list[Cause], list[Cause]]:
    """Several causes with their probabilities, and their rivals: each competes for what the others leave."""
    named, rivals = list[Cause](), list[Cause]()
    for each in chosen:
        others = np.concatenate([other.touched for other in chosen if other is not each])
        left = seen.without(others)
        roots = [root for root in _rivals(seen, each, others) if not left.is_explained[root]]
        best = left.best(each.roots[0], special=each.is_special)
        causes, _ = _probabilities([best, *map(left.best, roots)], infrastructure)
        named.append(causes[0])
        rivals += causes[1:]
    named.sort(key=lambda cause: (-cause.hypothesis.ratio, cause.vertex))
    return named, sorted(rivals, key=lambda cause: (-cause.probability, -cause.hypothesis.ratio, cause.vertex))


def _rivals(seen: Seen, chosen: Hypothesis, others: Numbers) -> list[int]:
    """What else explains the same alerts: the nearest of what its alerting elements depend on."""
    alerting = chosen.touched[seen.alerts[chosen.touched]]
    left = seen.without(others)
    near = left.alerts[alerting]
    candidates = find_candidates(seen, PAIRED * 2, alerting[near])
    return [root for root in candidates if root != chosen.roots[0]]


def _others(rivals: list[Cause], further: list[Hypothesis], causes: list[Cause], names: set[int]) -> Iterator[Cause]:
    """The rest: in turn who competes with the chosen, and who explains what they leave; then all other candidates."""
    by_vertex = {cause.vertex: cause for cause in causes}
    independent = [by_vertex.get(each.roots[0], Cause(each.roots[0], 0.0, each)) for each in further]
    told = set(names)
    for cause in (*chain.from_iterable(zip_longest(rivals, independent)), *causes):
        if cause is not None and cause.vertex not in told:
            told.add(cause.vertex)
            yield cause
