"""From alerts, measurements and the network to causes, what they bring down, and what nobody can explain. Pure."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from app.network.alerts import Alert, Sign, alert_table, alerting_types, reduce_alerts
from app.network.baselines import NOTICED, Anomaly, worst_metric
from app.network.candidates import find_candidates
from app.network.causes import Cause, Ranking, rank_causes
from app.network.hypothesis import Hypothesis
from app.network.incidents import SignGroup, find_incidents
from app.network.likelihood import DEPTH, Seen
from kb_pipeline.network.scenario import Symptom
from kb_pipeline.network.topology import Topology

_WAYS = 1000
"""Most ways of a failure that are told."""
ALTERNATIVE = 0.1
"""Least probability of another explanation for which it is told what would be down with it."""
_PREMISES = 3
"""Elements of which a text may say that they failed and be taken at its word; of more, none is rather meant."""
_MEASURED = 400
"""Most elements whose measurements are compared with their past."""
_LOOKED_AT_LONGER = 100
"""Most of those that are compared with a longer past: in four times the time as many values as in a week of all."""
Measured = tuple[np.ndarray, Mapping[str, np.ndarray]]
"""The times at which an element was measured, and the values of each metric."""
Series = Mapping[str, Measured]
"""The times of each element's measurements, and its metrics."""


@dataclass(frozen=True)
class Blast:
    """What is down because of the causes, and what only lost one of several ways; and what else would be down if one of
    the alternatives is right."""

    down: tuple[int, ...]
    weakened: tuple[int, ...]
    perhaps: tuple[int, ...] = ()


@dataclass(frozen=True)
class Diagnosis:
    """All that a report is made of."""

    signs: list[Sign]
    strangers: Mapping[str, int]
    alerts: int
    incidents: list[SignGroup]
    ranking: Ranking
    blast: Blast
    paths: list[list[int]]
    """For each chosen cause and alerting element that it explains: the way from the element to the cause."""
    explained: tuple[int, ...]
    silent: tuple[int, ...]
    unexplained: tuple[int, ...]
    anomalies: Mapping[int, Anomaly]
    maintenance: tuple[int, ...]
    since: float
    until: float
    premises: frozenset[int] = frozenset()
    """Those of the chosen causes that are taken at the word of a text: what was seen does not suffice to name them."""
    alone: tuple[Cause, ...] = ()
    """What says gravely of itself that it failed, by its alert or its measurements, while nothing confirms or explains
    it; the most probable first. The first of them is chosen where nothing else is."""
    beside: tuple[SignGroup, ...] = ()
    """Alerts of the time that have nothing to do with what the text is about."""
    aside: tuple[Cause, ...] = ()
    """Causes that explain nothing of what the text is about."""

    @property
    def is_alone(self) -> bool:
        """Whether the only element that is named is named by its own alert."""
        return any(cause in self.alone for cause in self.ranking.chosen)

    @property
    def alerting(self) -> tuple[int, ...]:
        """Every element that alerted in the time, in order."""
        beside = (sign for group in self.beside for sign in group.signs)
        return tuple(sorted({sign.vertex for sign in (*self.signs, *beside)}))


def diagnose(
    network: Topology,
    alerts: Iterable[Alert] | pa.Table,
    symptoms: Mapping[str, Symptom],
    since: float,
    until: float,
    *,
    series: Series | None = None,
    directions: Mapping[str, str] | None = None,
    planned: Sequence[str] = (),
    about: Collection[str] = (),
    sees_all: bool = True,
) -> Diagnosis:
    """Diagnose what was seen between two times.

    Args:
        planned: elements that somebody works on.
        about: the elements that a text raises alerts of. What has nothing to do with them is not looked at, and of
            what it says of them without further evidence, it is told what would follow.
        sees_all: whether all alerts of the time are known, so that the silence of every type that raises alerts says
            something; else only that of the types that alert does.
    """
    table = alerts if isinstance(alerts, pa.Table) else alert_table(alerts)
    window = _between(table, since, until)
    signs, strangers = reduce_alerts(window, network, symptoms)
    incidents = find_incidents(network, signs)
    asked = network.numbers(sorted(about))
    beside = _beside(network, incidents, asked)
    unrelated = {(sign.vertex, sign.kind, sign.first) for group in beside for sign in group.signs}
    signs = [sign for sign in signs if (sign.vertex, sign.kind, sign.first) not in unrelated]
    anomalies = _anomalies(network, series or {}, directions or {}, since, until)
    speaking = alerting_types(network, signs, symptoms if sees_all else {})
    seen = Seen(network, signs, speaking, anomalies, until - since, frozenset(network.numbers(planned)))
    ranking, aside = _about(rank_causes(seen), asked)
    if not sees_all:  # that it failed as a whole is not denied by those who are silent
        said = [_whole(seen, cause) if cause.vertex in asked else cause for cause in ranking.chosen]
        ranking = replace(ranking, chosen=said)
    premises = _premises(seen, ranking, asked)
    ranking = replace(ranking, chosen=[*ranking.chosen, *premises])
    alone = _alone(seen, ranking, asked)
    if alone and not ranking.chosen:
        ranking = replace(
            ranking, causes=[alone[0], *(each for each in ranking.causes if each != alone[0])], chosen=alone[:1]
        )
    failed: dict[int, int] = {}
    weakened: dict[int, int] = {}
    for cause in ranking.chosen:
        failed |= cause.hypothesis.failed
        weakened |= cause.hypothesis.weakened
    alerting = seen.alerting.tolist()
    explained = tuple(each for each in alerting if each in failed or each in weakened)
    return Diagnosis(
        signs,
        strangers,
        window.num_rows,
        incidents,
        ranking,
        _blast(seen, ranking, set(failed) | set(weakened), premises, alone),
        _paths(network, ranking, explained),
        explained,
        tuple(sorted(each for each in failed if not seen.alerts[each] and seen.speaks[each])),
        tuple(each for each in alerting if each not in failed and each not in weakened),
        anomalies,
        _maintenance(network, ranking, planned),
        since,
        until,
        frozenset(cause.vertex for cause in premises),
        tuple(alone),
        tuple(beside),
        tuple(aside),
    )


def worth_measuring(
    network: Topology, alerts: pa.Table, symptoms: Mapping[str, Symptom], since: float, until: float
) -> list[str]:
    """The ids of the elements whose measurements may tell causes apart, in order: those near alerts, and all other
    infrastructure as far as there is room, as what fails may be silent, and all that depends on it as well."""
    signs, _ = reduce_alerts(_between(alerts, since, until), network, symptoms)
    seen = Seen(network, signs, alerting_types(network, signs, symptoms), {}, until - since)
    candidates = find_candidates(seen, _MEASURED)
    dependents = network.every_dependent(np.array(candidates, np.int64))[1]
    further = np.setdiff1d(dependents[network.is_infrastructure[dependents]], candidates)
    chosen = [*candidates, *further[: _MEASURED - len(candidates)].tolist()]
    others = np.setdiff1d(np.flatnonzero(network.is_infrastructure), chosen) if len(chosen) < _MEASURED else further[:0]
    return [network.ids[vertex] for vertex in sorted([*chosen, *others[: _MEASURED - len(chosen)].tolist()])]


def conspicuous(series: Series, directions: Mapping[str, str], since: float, until: float) -> list[str]:
    """The ids of the elements whose measurements are worth comparing with a longer past, the most surprising first."""
    worst = {name: worst_metric(times, metrics, directions, since, until) for name, (times, metrics) in series.items()}
    surprises = {name: found.surprise for name, found in worst.items() if found and found.surprise >= NOTICED}
    return sorted(surprises, key=lambda name: -surprises[name])[:_LOOKED_AT_LONGER]


def _between(alerts: pa.Table, since: float, until: float) -> pa.Table:
    at = alerts["at"]
    return alerts.filter(pc.and_(pc.greater_equal(at, since), pc.less_equal(at, until)))


def _beside(network: Topology, incidents: Sequence[SignGroup], asked: Sequence[int]) -> list[SignGroup]:
    """The groups none of whose elements depends on one of those that are asked about, or is a dependency of one."""
    if not asked:
        return []
    related = {*network.above(asked, DEPTH).tolist(), *network.downstream(asked, DEPTH)}
    return [group for group in incidents if related.isdisjoint(group.vertices)]


def _about(ranking: Ranking, asked: Sequence[int]) -> tuple[Ranking, list[Cause]]:
    """The ranking without those chosen causes that explain nothing of what is asked about, and these."""
    if not asked:
        return ranking, []
    telling = [bool(np.isin(asked, cause.hypothesis.touched).any()) for cause in ranking.chosen]
    aside = [cause for cause, tells in zip(ranking.chosen, telling, strict=True) if not tells]
    chosen = [cause for cause, tells in zip(ranking.chosen, telling, strict=True) if tells]
    others = [cause for cause in ranking.causes if cause not in aside]
    return Ranking(others, chosen, ranking.nothing), aside


def _premises(seen: Seen, ranking: Ranking, asked: Sequence[int]) -> list[Cause]:
    """What the text says failed and no chosen cause explains: first causes only, each as if all of it had failed."""
    explained = {each for cause in ranking.chosen for each in cause.hypothesis.touched.tolist()}
    network = seen.network
    said = [each for each in asked if network.is_infrastructure[each] and seen.alerts[each] and each not in explained]
    roots = _uppermost(seen, said)
    if len(roots) > _PREMISES:
        return []
    by_vertex = {cause.vertex: cause for cause in ranking.causes}
    premises = []
    for root in roots:
        found = by_vertex.get(root, Cause(root, 0.0, seen.best(root)))
        premises.append(_whole(seen, found))
    return premises


def _alone(seen: Seen, ranking: Ranking, asked: Sequence[int]) -> list[Cause]:
    """What raises a grave alert of itself, or is measured to have failed, and no chosen cause explains; the most
    probable first. It may be all that is seen of a failure, where nothing depends on the element or what does is
    silent. First causes only."""
    explained = {each for cause in ranking.chosen for each in cause.hypothesis.touched.tolist()}
    by_vertex = {cause.vertex: cause for cause in ranking.causes}
    said = [each for each in seen.saying_that_they_failed if each in by_vertex and each not in explained]
    told = [by_vertex[root] for root in _uppermost(seen, said)]
    if asked:
        told = [cause for cause in told if np.isin(asked, cause.hypothesis.touched).any()]
    return sorted(told, key=lambda cause: (-cause.probability, cause.vertex))


def _uppermost(seen: Seen, said: Sequence[int]) -> list[int]:
    """Those that depend on no other of them."""
    below = {each: {*seen.reach(each).failed.tolist(), *seen.reach(each).weakened.tolist()} for each in said}
    return [each for each in said if not any(each in below[other] for other in said if other != each)]


def _whole(seen: Seen, cause: Cause) -> Cause:
    """The same cause, failed as a whole with all that depends on it."""
    found = cause.hypothesis
    return replace(
        cause, hypothesis=Hypothesis(found.roots, "down", found.ratio, found.onset, seen.reach(cause.vertex))
    )


def _blast(seen: Seen, ranking: Ranking, touched: set[int], premises: Sequence[Cause], alone: Sequence[Cause]) -> Blast:
    down = _down(seen, ranking.chosen)
    others = [cause for cause in ranking.causes if cause not in ranking.chosen and cause.probability >= ALTERNATIVE]
    others = [] if premises else others
    others += [_whole(seen, cause) for cause in alone if ranking.chosen[0] in alone]
    perhaps = set().union(*(_down(seen, [other]) for other in others)) - down
    return Blast(*(tuple(sorted(some)) for some in (down, touched - down - perhaps, perhaps)))


def _down(seen: Seen, causes: Sequence[Cause]) -> set[int]:
    """What fails when all causes that failed do so at once, but not what measurably goes on."""
    roots, alone = set[int](), set[int]()
    for cause in causes:
        roots.update(cause.hypothesis.parts)
        if cause.hypothesis.mode == "in part":
            alone.update({cause.vertex} if seen.is_lifeless[cause.vertex] else ())
        elif cause.hypothesis.mode in ("down", "site") or seen.is_lifeless[cause.vertex]:
            roots.add(cause.vertex)
    onset = min((cause.hypothesis.onset for cause in causes), default=0.0)
    failed = seen.network.failing_with(sorted(roots), DEPTH * 2)[0] if roots else {}
    return {vertex for vertex in (*failed, *alone) if seen.lives_until[vertex] <= onset}


def _paths(network: Topology, ranking: Ranking, explained: Sequence[int]) -> list[list[int]]:
    ways = [
        way
        for cause in ranking.chosen
        for way in network.paths([each for each in explained if each != cause.vertex], cause.vertex, DEPTH)
    ]
    return [way for way in ways if way][:_WAYS]


def _maintenance(network: Topology, ranking: Ranking, planned: Sequence[str]) -> tuple[int, ...]:
    """The chosen causes that somebody works on, or that depend on such an element."""
    worked_on = set(network.numbers(planned))
    return tuple(
        each for cause in ranking.chosen for each in sorted(worked_on & set(network.upstream(cause.vertex, DEPTH)))
    )


def _anomalies(
    network: Topology, series: Series, directions: Mapping[str, str], since: float, until: float
) -> dict[int, Anomaly]:
    """The worst metric of every measured element, whether anything near it alerts or not."""
    anomalies: dict[int, Anomaly] = {}
    for vertex in sorted(network.numbers([*series])):
        times, metrics = series[network.ids[vertex]]
        if worst := worst_metric(times, metrics, directions, since, until):
            anomalies[vertex] = worst
    return anomalies
