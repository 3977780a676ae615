"""Reads what an investigation needs from a store: the network, the alerts of a window, some measurements."""

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from app.network.diagnosing import Measured
from kb_pipeline.network.base import NetworkStore, QueryLimits, TopologyQuery
from kb_pipeline.network.scenario import Container, Scenario
from kb_pipeline.network.sql_names import sql_name
from kb_pipeline.network.topology import Topology

_WHOLE = 10_000_000
"""Elements: more than any network that fits into memory."""
_MANY = QueryLimits(seconds=60, rows=2_000_000, bytes=500_000_000, characters=1_000_000)
"""Reads of the program itself, for which the limits of a person's query are too small: a day of a large network."""


async def read_network(store: NetworkStore, scenario: Scenario) -> Topology:
    """The whole network: the arrays of a store that has them, else made of all its vertices and edges."""
    if (network := await store.whole()) is not None:
        return network
    everything = await store.topology(TopologyQuery(limit=_WHOLE))
    kinds = {name: declared.kind for name, declared in scenario.vertices.items()}
    rows = [
        {
            "name": None,
            **node["properties"],
            "id": node["id"],
            "type": node["type"],
            "kind": kinds.get(node["type"], "infrastructure"),
        }
        for node in everything.nodes
    ]
    needs = {edge.label: edge.needs for edge in scenario.edges}
    columns = sorted({"id", "type", "kind", "name"} | {name for row in rows for name in row})
    vertices = pa.table({name: [row.get(name) for row in rows] for name in columns})
    edges = pa.table(
        {
            "source": [edge["source"] for edge in everything.edges],
            "target": [edge["target"] for edge in everything.edges],
            "label": [edge["type"] for edge in everything.edges],
            "needs": [needs.get(edge["type"], "all") for edge in everything.edges],
        }
    )
    return Topology(vertices, edges)


def alerts_query(declared: Container, since: float, until: float) -> str:
    """The query of the alerts between two times."""
    entity, time = sql_name(declared.entity), sql_name(declared.time)
    return (
        f"SELECT {entity}, alert_type, {time}, severity FROM alerts "  # noqa: S608
        f"WHERE {time} BETWEEN TIMESTAMP '{stamp(since)}' AND TIMESTAMP '{stamp(until)}' ORDER BY ALL"
    )


async def read_alerts(store: NetworkStore, declared: Container, query: str) -> tuple[pa.Table, bool]:
    """The alerts that :func:`alerts_query` asks for, as columns, and whether there were more."""
    found, truncated = await store.table(query, _MANY)
    if not found.num_rows:
        found = pa.table({name: pa.array([], pa.string()) for name in found_columns(declared)})
    table = pa.table(
        {
            "entity": found[declared.entity].cast(pa.string()),
            "kind": pc.fill_null(found["alert_type"].cast(pa.string()), ""),
            "at": pa.array(seconds_of(found[declared.time])),
            "severity": pc.fill_null(found["severity"].cast(pa.string()), ""),
        }
    )
    return table, truncated


def found_columns(declared: Container) -> tuple[str, ...]:
    """The columns of :func:`alerts_query`."""
    return declared.entity, "alert_type", declared.time, "severity"


def metrics_query(name: str, declared: Container, entities: Sequence[str], since: float, until: float) -> str:
    """The query of the measurements of some elements between two times."""
    listed = ", ".join("'{}'".format(each.replace("'", "''")) for each in entities)
    entity, time, *metrics = map(sql_name, (declared.entity, declared.time, *declared.metrics))
    return (
        f"SELECT {entity}, {time}, {', '.join(metrics)} FROM {sql_name(name)} "  # noqa: S608
        f"WHERE {time} BETWEEN TIMESTAMP '{stamp(since)}' AND TIMESTAMP '{stamp(until)}' "
        f"AND {entity} IN ({listed}) ORDER BY {entity}, {time}"
    )


async def read_metrics(store: NetworkStore, declared: Container, query: str) -> tuple[dict[str, Measured], bool]:
    """The measurements that :func:`metrics_query` asks for, by element, and whether there were more."""
    table, truncated = await store.table(query, _MANY)
    if not table.num_rows:
        return {}, truncated
    table = table.combine_chunks()
    names = table[declared.entity].to_numpy()
    times = seconds_of(table[declared.time])
    metrics = {name: table[name].cast(pa.float64()).to_numpy() for name in declared.metrics}
    begins = np.flatnonzero(np.append(True, names[1:] != names[:-1]))
    ends = np.append(begins[1:], len(names))
    measured: dict[str, Measured] = {
        str(names[begin]): (times[begin:end], {name: values[begin:end] for name, values in metrics.items()})
        for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)
    }
    return measured, truncated


def seconds_of(column: pa.ChunkedArray) -> NDArray[np.float64]:
    """Times of a store, as timestamps or ISO text, in seconds since 1970, UTC."""
    if pa.types.is_timestamp(column.type):
        return np.asarray(column.cast(pa.timestamp("us")).cast(pa.int64()).to_numpy() / 1e6, np.float64)
    return np.array([seconds(text) for text in column.to_pylist()], np.float64)


def seconds(text: str | None) -> float:
    """A time in ISO text, in seconds since 1970; 0 without one."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() if text else 0.0


def stamp(at: float) -> str:
    """A time as queries have it."""
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S}"
