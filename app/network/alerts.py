"""Alerts as evidence: one row per element and alert type, with what the type says about the element. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from kb_pipeline.network.scenario import Symptom
from kb_pipeline.network.topology import Topology

Meaning = Literal["own", "derived", "unknown", "nothing"]
"""Whether an alert says that the element itself failed, that something below it did, nothing, or nobody knows."""
QUIET = 1800.0
"""A silence longer than this, in seconds, ends a sign; what comes after it is another."""


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
    """All alerts of one type of one element, without a long silence. ``vertex`` is its number in the topology."""

    vertex: int
    kind: str
    meaning: Meaning
    first: float
    last: float
    count: int
    severity: str


def alert_table(alerts: Iterable[Alert]) -> pa.Table:
    """The same alerts as columns: entity, kind, at (seconds), severity."""
    rows = list(alerts)
    return pa.table(
        {
            "entity": pa.array([each.entity for each in rows], pa.string()),
            "kind": pa.array([each.kind for each in rows], pa.string()),
            "at": pa.array([each.at for each in rows], pa.float64()),
            "severity": pa.array([each.severity for each in rows], pa.string()),
        }
    )


def reduce_alerts(
    alerts: pa.Table, network: Topology, symptoms: Mapping[str, Symptom]
) -> tuple[list[Sign], dict[str, int]]:
    """Signs in order of time, and how many alerts came from elements that the network does not have."""
    alerts = alerts.combine_chunks()
    vertex = network.find(alerts["entity"])
    strangers = pc.value_counts(alerts["entity"].filter(pa.array(vertex < 0))).to_pylist()
    is_known = vertex >= 0
    kinds, kind = _in_order(alerts["kind"])
    severities, severity = _in_order(alerts["severity"])
    vertex, kind, severity, at = vertex[is_known], kind[is_known], severity[is_known], alerts["at"].to_numpy()[is_known]
    order = np.lexsort((severity, at, kind, vertex))
    vertex, kind, severity, at = vertex[order], kind[order], severity[order], at[order]
    is_new = (np.diff(vertex, prepend=-1) != 0) | (np.diff(kind, prepend=-1) != 0)
    begins = np.flatnonzero(is_new | (np.diff(at, prepend=-np.inf) > QUIET))
    count = np.diff(np.append(begins, len(vertex)))
    meanings: dict[tuple[int, int], Meaning] = {}
    signs = []
    by_time = np.lexsort((kind[begins], vertex[begins], at[begins]))
    for first, times in zip(begins[by_time].tolist(), count[by_time].tolist(), strict=True):
        where, what = int(vertex[first]), int(kind[first])
        known_type = int(network.type_codes[where])
        if (what, known_type) not in meanings:
            meanings[what, known_type] = meaning_of(kinds[what], network.types[where], symptoms)
        last = float(at[first + times - 1])
        meaning = meanings[what, known_type]
        signs.append(Sign(where, kinds[what], meaning, float(at[first]), last, times, severities[severity[first]]))
    return signs, {each["values"]: each["counts"] for each in sorted(strangers, key=lambda each: each["values"])}


def _in_order(column: pa.ChunkedArray) -> tuple[list[str], NDArray[np.int64]]:
    """The different texts of a column in order, and which each row has."""
    filled = pc.fill_null(column.cast(pa.string()), "")
    texts = sorted(pc.unique(filled).to_pylist())
    return texts, pc.index_in(filled, value_set=pa.array(texts, pa.string())).to_numpy().astype(np.int64)


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
