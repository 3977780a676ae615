"""A network without a database: plain words instead of a query language, answered from a scenario's own files."""

import asyncio
import itertools
import re
from typing import ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from kb_pipeline.errors import QueryFailedError, QueryRefusedError
from kb_pipeline.network.base import (
    Language,
    NetworkStore,
    NetworkStoreHealth,
    QueryLimits,
    Rows,
    Subgraph,
    TopologyQuery,
)
from kb_pipeline.network.local.store import subgraph
from kb_pipeline.network.scenario import ScenarioFolder
from kb_pipeline.network.tables import NetworkTables, read_tables
from kb_pipeline.network.topology import Topology


class MockStore(NetworkStore):
    """Recognizes the types of vertices, ids of elements and names of containers in a text."""

    backend: ClassVar[str] = "mock"
    language: ClassVar[Language] = Language(
        "plain words",
        "A sentence that names a type of element, or the id of one, whose neighbours are then listed.",
        ("Which core routers are there?", "What is around LINK-SYD-MEL?"),
    )

    def __init__(self, scenario: ScenarioFolder) -> None:
        self._scenario = scenario
        self._read: tuple[NetworkTables, Topology] | None = None

    async def graph(self, query: str, limits: QueryLimits) -> Rows:
        tables, network = await asyncio.to_thread(self._tables)
        words = _words(query)
        ids = [each for each in network.ids if each.casefold() in query.casefold()]
        if ids:
            around = network.around(network.numbers(ids), 1)
            return _rows(
                tables.vertices.filter(_among(tables.vertices["id"], [network.ids[n] for n in around])), limits
            )
        types = [each for each in self._scenario.scenario.vertices if each.casefold() in words]
        if not types:
            known = ", ".join(self._scenario.scenario.vertices)
            raise QueryRefusedError(f"name a type of element, or the id of one; the types are {known}")
        return _rows(tables.vertices.filter(_among(tables.vertices["type"], types)), limits)

    async def telemetry(self, query: str, limits: QueryLimits) -> Rows:
        tables, _ = await asyncio.to_thread(self._tables)
        of_sql = re.search(r'\bFROM\s+"?(\w+)', query, re.IGNORECASE)
        for name, table in tables.telemetry.items():
            if re.search(rf"\b{re.escape(name)}\b", of_sql[1] if of_sql else query, re.IGNORECASE):
                return _rows(table, limits)
        raise QueryFailedError(f"name a container of telemetry: {', '.join(tables.telemetry) or 'there is none'}")

    async def topology(self, wanted: TopologyQuery) -> Subgraph:
        _, network = await asyncio.to_thread(self._tables)
        return subgraph(network, wanted)

    async def health(self) -> NetworkStoreHealth:
        _, network = await asyncio.to_thread(self._tables)
        name = self._scenario.scenario.name
        return NetworkStoreHealth(
            self.backend, name, self._scenario.fingerprint(), len(network.ids), len(network.labels), ""
        )

    async def close(self) -> None:
        self._read = None

    def _tables(self) -> tuple[NetworkTables, Topology]:
        if self._read is None:
            tables = read_tables(self._scenario)
            self._read = tables, Topology(tables.vertices, tables.edges)
        return self._read


def _words(text: str) -> set[str]:
    """Words and pairs of words, so that "core routers" is ``corerouter``."""
    single = [word.casefold() for word in re.findall(r"\w+", text)]
    joined = [*single, *("".join(pair) for pair in itertools.pairwise(single))]
    return {
        form for word in joined for form in (word, word.removesuffix("s"), word.removesuffix("es"), word[:-3] + "y")
    }


def _among(column: pa.ChunkedArray, values: list[str]) -> pa.ChunkedArray:
    return pc.is_in(column, value_set=pa.array(values, pa.string()))


def _rows(table: pa.Table, limits: QueryLimits) -> Rows:
    rows = table.slice(0, limits.rows).to_pylist()
    for row in rows:
        for name, value in row.items():
            row[name] = value.isoformat() if hasattr(value, "isoformat") else value
    columns = [{"name": field.name, "type": str(field.type)} for field in table.schema]
    return Rows(columns, rows, len(table) > limits.rows)
