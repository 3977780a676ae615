"""Alerts that have to do with each other: near in time, and near in the network or with a common dependency. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.investigating.alerts import Sign
from kb_pipeline.network.topology import Topology

GAP = 300.0
"""Signs further apart than this, in seconds, are not the same incident."""
_CROWD = 400
"""An element that so many alerting ones depend on says nothing about who belongs together."""
_SEVERITIES = ("CRITICAL", "MAJOR", "MINOR", "WARNING")


@dataclass(frozen=True)
class Incident:
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


def find_incidents(network: Topology, signs: Sequence[Sign]) -> list[Incident]:
    """Put every sign into exactly one incident: the gravest and largest first."""
    ordered = sorted(signs, key=lambda sign: (sign.first, sign.vertex, sign.kind))
    leader = list(range(len(ordered)))

    def find(place: int) -> int:
        while leader[place] != place:
            leader[place] = leader[leader[place]]
            place = leader[place]
        return place

    sharing: dict[int, list[int]] = {}
    reach: dict[int, list[int]] = {}
    for place, sign in enumerate(ordered):
        if sign.meaning == "nothing":
            around = [sign.vertex]
        else:
            around = reach.setdefault(sign.vertex, sorted({*network.upstream(sign.vertex, 2)}))
        for shared in around:
            others = sharing.setdefault(shared, [])
            others[:] = [other for other in others if sign.first - ordered[other].last <= GAP]
            if 0 < len(others) < _CROWD:  # the newest stands for all that were joined with it
                leader[find(place)] = find(others[-1])
            others.append(place)
    groups: dict[int, list[Sign]] = {}
    for place, sign in enumerate(ordered):
        groups.setdefault(find(place), []).append(sign)
    incidents = [Incident(tuple(some)) for some in groups.values()]
    return sorted(incidents, key=_gravity)


def _gravity(incident: Incident) -> tuple[int, int, float, int]:
    severity = _SEVERITIES.index(incident.worst) if incident.worst else len(_SEVERITIES)
    return severity, -len(incident.vertices), incident.began, incident.vertices[0]
