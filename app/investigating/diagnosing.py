"""From alerts, measurements and the network to causes, what they bring down, and what nobody can explain. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from app.investigating.alerts import Alert, Sign, alerting_types, reduce_alerts
from app.investigating.baselines import Anomaly, worst_metric
from app.investigating.causes import Ranking, rank_causes
from app.investigating.incidents import Incident, find_incidents
from app.investigating.likelihood import DEPTH, Seen
from kb_pipeline.network.scenario import Symptom
from kb_pipeline.network.topology import Topology

Series = Mapping[str, tuple[np.ndarray, Mapping[str, np.ndarray]]]
"""By element: the times of its measurements, and its metrics."""


@dataclass(frozen=True)
class Blast:
    """What is down because of the causes, and what only lost one of several ways."""

    down: tuple[int, ...]
    weakened: tuple[int, ...]


@dataclass(frozen=True)
class Diagnosis:
    """All that a report is made of."""

    signs: list[Sign]
    strangers: Mapping[str, int]
    alerts: int
    incidents: list[Incident]
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


def diagnose(
    network: Topology,
    alerts: Iterable[Alert],
    symptoms: Mapping[str, Symptom],
    since: float,
    until: float,
    *,
    series: Series | None = None,
    directions: Mapping[str, str] | None = None,
    planned: Sequence[str] = (),
) -> Diagnosis:
    """Diagnose what was seen between two times. ``planned``: elements that somebody works on."""
    window = [alert for alert in alerts if since <= alert.at <= until]
    signs, strangers = reduce_alerts(window, network, symptoms)
    incidents = find_incidents(network, signs)
    anomalies = _anomalies(network, signs, series or {}, directions or {}, since, until)
    speaking = alerting_types(network, signs, symptoms)
    seen = Seen(network, signs, speaking, anomalies, until - since, frozenset(network.numbers(planned)))
    ranking = rank_causes(seen)
    failed: dict[int, int] = {}
    weakened: dict[int, int] = {}
    for cause in ranking.chosen:
        failed |= cause.hypothesis.failed
        weakened |= cause.hypothesis.weakened
    alerting = sorted(seen.alerting)
    explained = tuple(each for each in alerting if each in failed or each in weakened)
    down = _down(network, ranking)
    return Diagnosis(
        signs,
        strangers,
        len(window),
        incidents,
        ranking,
        Blast(tuple(sorted(down)), tuple(sorted(each for each in (set(failed) | set(weakened)) - down))),
        _paths(network, ranking, explained),
        explained,
        tuple(sorted(each for each in failed if each not in seen.alerting and seen.speaks[each])),
        tuple(each for each in alerting if each not in failed and each not in weakened),
        anomalies,
        _maintenance(network, ranking, planned),
        since,
        until,
    )


def _down(network: Topology, ranking: Ranking) -> set[int]:
    """What fails when all causes that failed completely do so at once."""
    roots = [cause.vertex for cause in ranking.chosen if cause.hypothesis.mode == "down"]
    return set(network.failing_with(roots, DEPTH * 2)[0]) if roots else set()


def _paths(network: Topology, ranking: Ranking, explained: Sequence[int]) -> list[list[int]]:
    ways = [
        network.path(each, cause.vertex, DEPTH)
        for cause in ranking.chosen
        for each in explained
        if each != cause.vertex
    ]
    return [way for way in ways if way]


def _maintenance(network: Topology, ranking: Ranking, planned: Sequence[str]) -> tuple[int, ...]:
    """The chosen causes that somebody works on, or that depend on such an element."""
    worked_on = set(network.numbers(planned))
    return tuple(
        each for cause in ranking.chosen for each in sorted(worked_on & set(network.upstream(cause.vertex, DEPTH)))
    )


def _anomalies(
    network: Topology, signs: Sequence[Sign], series: Series, directions: Mapping[str, str], since: float, until: float
) -> dict[int, Anomaly]:
    """The worst metric of every measured element that an alerting one depends on."""
    near = {each for sign in signs for each in network.upstream(sign.vertex, DEPTH)}
    found: dict[int, Anomaly] = {}
    for vertex in sorted(near):
        measured = series.get(network.ids[vertex])
        if measured is not None and (worst := worst_metric(measured[0], measured[1], directions, since, until)):
            found[vertex] = worst
    return found
