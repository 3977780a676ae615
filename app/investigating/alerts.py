"""Alerts as evidence: one row per element and alert type, with what the type says about the element. Pure."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from kb_pipeline.network.scenario import Symptom
from kb_pipeline.network.topology import Topology

Meaning = Literal["own", "derived", "unknown", "nothing"]
"""Whether an alert says that the element itself failed, that something below it did, nothing, or nobody knows."""
_TIME = re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?")
_WORD = re.compile(r"[^\s,;|\"'<>()\[\]{}]+")
_FLAPPING = 4


@dataclass(frozen=True)
class Alert:
    """One alert as it was raised; ``at`` in seconds since 1970, UTC."""

    entity: str
    kind: str
    at: float
    severity: str = ""
    message: str = ""


@dataclass(frozen=True)
class Sign:
    """All alerts of one type of one element. ``vertex`` is its number in the topology."""

    vertex: int
    kind: str
    meaning: Meaning
    first: float
    last: float
    count: int
    severity: str

    @property
    def is_flapping(self) -> bool:
        """Whether it came again and again."""
        return self.count >= _FLAPPING


@dataclass(frozen=True)
class Pasted:
    """What a person pasted: the elements and alert types it names, its times, and alerts if its lines hold some."""

    entities: tuple[str, ...]
    kinds: tuple[str, ...]
    unknown: tuple[str, ...]
    alerts: tuple[Alert, ...]
    newest: float | None


def reduce_alerts(
    alerts: Iterable[Alert], network: Topology, symptoms: Mapping[str, Symptom]
) -> tuple[list[Sign], dict[str, int]]:
    """Signs in order of time, and how many alerts came from elements that the network does not have."""
    grouped: dict[tuple[int, str], list[Alert]] = {}
    strangers: dict[str, int] = {}
    for alert in alerts:
        vertex = network.number.get(alert.entity)
        if vertex is None:
            strangers[alert.entity] = strangers.get(alert.entity, 0) + 1
        else:
            grouped.setdefault((vertex, alert.kind), []).append(alert)
    signs = [
        Sign(
            vertex,
            kind,
            meaning_of(kind, network.types[vertex], symptoms),
            min(each.at for each in some),
            max(each.at for each in some),
            len(some),
            min(some, key=lambda each: (each.at, each.severity)).severity,
        )
        for (vertex, kind), some in grouped.items()
    ]
    return sorted(signs, key=lambda sign: (sign.first, sign.vertex, sign.kind)), dict(sorted(strangers.items()))


def meaning_of(kind: str, vertex_type: str, symptoms: Mapping[str, Symptom]) -> Meaning:
    """What an alert type says of an element of a type, as the manifest declares it."""
    symptom = symptoms.get(kind)
    if symptom is None:
        return "unknown"
    if not symptom.own and not symptom.derived:
        return "nothing"
    if vertex_type in symptom.own:
        return "own"
    return "derived" if vertex_type in symptom.derived else "unknown"


def alerting_types(network: Topology, signs: Iterable[Sign], symptoms: Mapping[str, Symptom]) -> frozenset[str]:
    """The types whose silence says something: those that alerts are declared for, or that alert now."""
    declared = {name for symptom in symptoms.values() for name in (*symptom.own, *symptom.derived)}
    return frozenset(declared | {network.types[sign.vertex] for sign in signs})


def read_pasted(text: str, network: Topology, kinds: Iterable[str]) -> Pasted:
    """Find elements (by id or name), alert types and times in a pasted alert or storm, one alert a line or as JSON."""
    known_kinds = set(kinds)
    upper = {each.upper(): each for each in network.ids}
    named = {name.casefold(): network.ids[number] for number, name in enumerate(network.names) if len(name) > 3}
    entities: dict[str, None] = {}
    found_kinds: dict[str, None] = {}
    unknown: dict[str, None] = {}
    alerts: list[Alert] = []
    times: list[float] = []
    for line in _lines(text):
        words = [word.strip(".:!?") for word in _WORD.findall(_TIME.sub(" ", line))]
        here = [upper[word.upper()] for word in words if word.upper() in upper]
        folded = line.casefold()
        here += [each for name, each in named.items() if name in folded and each not in here] if not here else []
        types = [word for word in words if word in known_kinds]
        at = [found for each in _TIME.findall(line) if (found := _seconds(each)) is not None]
        times += at
        entities.update(dict.fromkeys(here))
        found_kinds.update(dict.fromkeys(types))
        unknown.update(dict.fromkeys(w for w in words if _looks_like_an_id(w, network) and w.upper() not in upper))
        if here and types and at:
            alerts.append(Alert(here[0], types[0], at[0], "", ""))
    unknown = {word: None for word in unknown if word not in known_kinds}
    return Pasted(tuple(entities), tuple(found_kinds), tuple(unknown)[:20], tuple(alerts), max(times, default=None))


def _lines(text: str) -> Sequence[str]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return text.splitlines()
    rows = document if isinstance(document, list) else [document]
    return [" ".join(map(str, row.values())) if isinstance(row, dict) else str(row) for row in rows]


def _looks_like_an_id(word: str, network: Topology) -> bool:
    """Whether a word begins as ids of this network do, up to their first digit or dash."""
    start = re.match(r"[A-Za-z]+[-_]", word)
    return bool(start) and any(each.startswith(start.group()) for each in network.ids) if start else False


def _seconds(text: str) -> float | None:
    try:
        at = datetime.fromisoformat(text.replace(" ", "T"))
    except ValueError:  # digits that look like a time, such as month 99
        return None
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
