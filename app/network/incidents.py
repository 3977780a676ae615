"""Alerts that have to do with each other: near in time, and near in the network or with a common dependency. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.network.alerts import QUIET, Sign
from kb_pipeline.network.topology import Numbers, Topology

GAP = 300.0
"""Signs further apart than this, in seconds, are not the same incident."""
_ENDS = 2
"""What depends on so many elements joins them, as a link joins its two ends."""
_CROWD = 400
"""An element on which more alerting ones than this depend may say nothing about who belongs together,"""
_MOST_OF_THEM = 0.2
"""unless at least this share of what depends on it alerts."""
_SEVERITIES = ("CRITICAL", "MAJOR", "MINOR", "WARNING")


@dataclass(frozen=True)
class SignGroup:
    """Signs that belong together, in order of time."""

    signs: tuple[Sign, ...]

    @property
    def began(self) -> float:
        """The time of its first alert."""
        return self.signs[0].first

    @property
    def vertices(self) -> tuple[int, ...]:
        """Its alerting elements."""
        return tuple(sorted({sign.vertex for sign in self.signs}))

    @property
    def worst(self) -> str:
        """Its highest severity."""
        given = {sign.severity.upper() for sign in self.signs}
        return next((each for each in _SEVERITIES if each in given), "")


def find_incidents(network: Topology, signs: Sequence[Sign]) -> list[SignGroup]:
    """Put every sign into exactly one incident: the gravest and largest first."""
    ordered = sorted(signs, key=lambda sign: (sign.first, sign.vertex, sign.kind))
    if not ordered:
        return []
    shared, place = _shared(network, ordered)
    first, last = (np.array([getattr(sign, name) for sign in ordered]) for name in ("first", "last"))
    last = np.minimum(last, first + QUIET)  # what goes on for days belongs to what it began with
    group = np.cumsum(np.diff(shared, prepend=-1) != 0)
    # as they are in order of time, a sign is near to all before it if it is near to the last of them to end
    span = float(last.max() - first.min()) + 2 * GAP
    ended = np.maximum.accumulate(group * span + last[place] - first.min()) - group * span + first.min()
    joins = np.concatenate(([False], (group[1:] == group[:-1]) & (first[place[1:]] - ended[:-1] <= GAP)))
    joins &= ~_crowded(network, shared, place, joins, ordered)
    later = np.flatnonzero(joins)
    leaders = _leaders(len(ordered), place[later - 1], place[later])
    groups: dict[int, list[Sign]] = {}
    for sign, leader in zip(ordered, leaders.tolist(), strict=True):
        groups.setdefault(leader, []).append(sign)
    return sorted((SignGroup(tuple(some)) for some in groups.values()), key=_gravity)


def _shared(network: Topology, ordered: Sequence[Sign]) -> tuple[Numbers, Numbers]:
    """What every sign's element depends on in two steps, itself included, with the place of the sign; in order."""
    vertex = np.array([sign.vertex for sign in ordered], np.int64)
    telling = np.array([sign.meaning != "nothing" for sign in ordered])
    different, which = np.unique(vertex, return_inverse=True)
    owner, above = network.every_dependency(different)
    further, above_that = network.every_dependency(above)
    end_of, links = network.every_dependent(different)
    has_two_ends = network.dependency_counts()[links] == _ENDS
    end_of, links = end_of[has_two_ends], links[has_two_ends] + len(network.ids)
    owners = np.concatenate((np.arange(len(different)), owner, owner[further], end_of))
    pairs = np.unique(np.stack((owners, np.concatenate((different, above, above_that, links)))), axis=1)
    begin, end = (np.searchsorted(pairs[0], np.arange(len(different)), side) for side in ("left", "right"))
    count = (end - begin)[which] * telling
    place = np.repeat(np.arange(len(ordered)), count)
    shared = pairs[1][np.arange(len(place)) + np.repeat(begin[which] - np.cumsum(count) + count, count)]
    place = np.concatenate((place, np.flatnonzero(~telling)))
    shared = np.concatenate((shared, vertex[~telling]))
    order = np.lexsort((place, shared))
    return shared[order], place[order]


def _crowded(
    network: Topology, shared: Numbers, place: Numbers, joins: NDArray[np.bool_], ordered: Sequence[Sign]
) -> NDArray[np.bool_]:
    """Where so many alert of those that share something, and are so few of all that do, that it says nothing."""
    crowded = np.zeros(len(shared), bool)
    run = np.cumsum(~joins)
    begins = np.flatnonzero(np.diff(run, prepend=0))
    for begin, size in zip(begins.tolist(), np.diff(np.append(begins, len(run))).tolist(), strict=True):
        if size > _CROWD and shared[begin] < len(network.ids):  # a link has two ends and is no crowd
            alerting = {ordered[each].vertex for each in place[begin : begin + size].tolist()}
            dependents = len(network.downstream([int(shared[begin])], 2))
            crowded[begin : begin + size] = _CROWD < len(alerting) < _MOST_OF_THEM * dependents
    return crowded


def _leaders(size: int, one: Numbers, other: Numbers) -> Numbers:
    """The first of those that are joined with each, directly or through others."""
    leaders = np.arange(size)
    while True:
        low, high = np.minimum(leaders[one], leaders[other]), np.maximum(leaders[one], leaders[other])
        if (low == high).all():
            return leaders
        np.minimum.at(leaders, high, low)
        while (leaders[leaders] != leaders).any():
            leaders = leaders[leaders]


def _gravity(incident: SignGroup) -> tuple[int, int, float, int]:
    severity = _SEVERITIES.index(incident.worst) if incident.worst else len(_SEVERITIES)
    return severity, -len(incident.vertices), incident.began, incident.vertices[0]
