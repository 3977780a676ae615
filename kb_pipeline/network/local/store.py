"""A network in a DuckDB file: written once for each version, then only read, by a connection that can do no more."""

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from kb_pipeline.errors import QueryFailedError, ScenarioError
from kb_pipeline.network.base import (
    Language,
    NetworkStore,
    NetworkStoreHealth,
    QueryLimits,
    Rows,
    Subgraph,
    TopologyQuery,
)
from kb_pipeline.network.local.answers import ask, open_locked
from kb_pipeline.network.local.gate import WALKS
from kb_pipeline.network.local.query_processes import AT_ONCE, PendingQuery, QueryProcesses
from kb_pipeline.network.sql_names import sql_name
from kb_pipeline.network.tables import NetworkTables
from kb_pipeline.network.topology import Topology
from kb_pipeline.network.versions import STORE, current_version, version_folder

if TYPE_CHECKING:
    import duckdb

    Opened = tuple[duckdb.DuckDBPyConnection, Mapping[str, Sequence[str]], Topology]
    """A version: the connection, the columns of each table, and the network."""

_AT_ONCE = 4
"""Reads of the program itself, which have threads of their own: a reader's query never holds them up."""
_ARRIVING = "table that arrives"
"""No table of a scenario can have this name."""
_WALK = """CREATE MACRO {name}(start, depth) AS TABLE
WITH RECURSIVE walk(id, distance) USING KEY (id) AS (
  SELECT start::VARCHAR, 0
  UNION
  SELECT e.{end}, min(w.distance) + 1 FROM walk w JOIN edges e ON e.{begin} = w.id
  LEFT JOIN recurring.walk r ON r.id = e.{end} WHERE r.id IS NULL AND w.distance < least(depth, 12) GROUP BY e.{end})
SELECT w.id, w.distance, v.type, v.kind, v.name FROM walk w LEFT JOIN vertices v USING (id) ORDER BY w.distance, w.id"""
_NEIGHBOURS = """CREATE MACRO neighbours(start) AS TABLE
SELECT target AS id, label, 'needs' AS direction FROM edges WHERE source = start
UNION ALL SELECT source, label, 'needed by' FROM edges WHERE target = start ORDER BY ALL"""
_COMMON = """CREATE MACRO common_causes(starts, depth) AS TABLE
WITH RECURSIVE walk AS (
  SELECT id AS origin, id, 0 AS distance FROM (SELECT unnest(starts)::VARCHAR AS id)
  UNION
  SELECT w.origin, e.target, w.distance + 1 FROM walk w JOIN edges e ON e.source = w.id
  WHERE w.distance < least(depth, 8))
SELECT w.id, v.type, count(DISTINCT origin) AS shared_by, min(distance) AS nearest
FROM walk w JOIN vertices v USING (id) WHERE v.kind = 'infrastructure'
GROUP BY ALL ORDER BY shared_by DESC, nearest, w.id"""
T = TypeVar("T")


def write_store(tables: NetworkTables, path: Path) -> None:
    """Write a new DuckDB file of the tables, with the walks.

    Raises:
        ScenarioError: it cannot hold a table.
    """
    import duckdb

    try:
        _write_tables(tables, path)
    except duckdb.Error as exc:
        raise ScenarioError(f"the store cannot hold the scenario's tables: {exc}"[:1000]) from exc


def _write_tables(tables: NetworkTables, path: Path) -> None:
    import duckdb

    with duckdb.connect(str(path)) as connection:
        for name, table in {"vertices": tables.vertices, "edges": tables.edges, **tables.telemetry}.items():
            connection.register(_ARRIVING, table)
            connection.execute(f"CREATE TABLE {sql_name(name)} AS SELECT * FROM {sql_name(_ARRIVING)}")  # noqa: S608
            connection.unregister(_ARRIVING)
        connection.execute(_WALK.format(name="downstream", begin="target", end="source"))
        connection.execute(_WALK.format(name="upstream", begin="source", end="target"))
        connection.execute(_NEIGHBOURS)
        connection.execute(_COMMON)


def store_counts(path: Path) -> dict[str, int]:
    """The number of rows of every table of a file."""
    import duckdb

    with duckdb.connect(str(path), read_only=True) as connection:
        names = [row[0] for row in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()]
        queries = {name: f"SELECT count(*) FROM {sql_name(name)}" for name in sorted(names)}  # noqa: S608
        return {name: connection.execute(query).fetchone()[0] for name, query in queries.items()}


class LocalStore(NetworkStore):
    """Follows the current version of a scenario below a home folder."""

    backend: ClassVar[str] = "local"
    language: ClassVar[Language] = Language(
        "SQL",
        "One SELECT of DuckDB's SQL over vertices (id, type, kind, name, and fields of the types) and edges (source "
        f"depends on target; label, needs). Ready-made walks: {'; '.join(WALKS.values())}.",
        (
            "SELECT id, distance FROM downstream('LINK-SYD-MEL', 4)",
            "SELECT * FROM common_causes(['VPN-ACME', 'BGP-SYD-MEL'], 4) LIMIT 5",
        ),
    )

    def __init__(self, home: Path, scenario: str) -> None:
        self.home, self.scenario = home, scenario
        self._version = ""
        self._opened: Opened | None = None
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="network")
        self._waiting = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="queries")
        self._processes = QueryProcesses()

    async def prepare(self) -> None:
        if not self._processes.are_ready:
            await asyncio.to_thread(self._processes.prepare, str(self._file(self._require_version())))

    async def graph(self, query: str, limits: QueryLimits) -> Rows:
        return await self._queried(query, limits)

    async def telemetry(self, query: str, limits: QueryLimits) -> Rows:
        return await self._queried(query, limits)

    async def table(self, query: str, limits: QueryLimits) -> tuple[pa.Table, bool]:
        return await self._in_thread(lambda: self._table(query, limits))

    async def whole(self) -> Topology:
        return await self._in_thread(self.network)

    async def topology(self, wanted: TopologyQuery) -> Subgraph:
        return await self._in_thread(lambda: subgraph(self.network(), wanted))

    async def health(self) -> NetworkStoreHealth:
        return await asyncio.to_thread(self._of_current, self._health_of)

    async def close(self) -> None:
        with self._lock:
            if self._opened:
                self._opened[0].close()
            self._opened, self._version = None, ""
        self._threads.shutdown(wait=False)
        self._waiting.shutdown(wait=False, cancel_futures=True)
        await asyncio.to_thread(self._processes.close)

    async def _queried(self, query: str, limits: QueryLimits) -> Rows:
        """Wait in threads of their own, so that slow queries hold up nothing but other queries.

        A query whose asker is gone is given up.
        """
        pending = PendingQuery()
        try:
            return await asyncio.get_running_loop().run_in_executor(self._waiting, self.query, query, limits, pending)
        except asyncio.CancelledError:
            pending.give_up()
            raise

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def network(self) -> Topology:
        """The current version as arrays."""
        return self._open()[2]

    def query(self, text: str, limits: QueryLimits, asked: PendingQuery | None = None) -> Rows:
        """Answer one SELECT, checked before it runs, in another process that ends when it takes too much.

        ``asked``: by which another thread can give it up.

        Raises:
            QueryError: it may not be asked, or cannot be answered.
        """
        asked = asked or PendingQuery()
        return self._of_current(lambda version: self._processes.answer(str(self._file(version)), text, limits, asked))

    def _table(self, text: str, limits: QueryLimits) -> tuple[pa.Table, bool]:
        connection, columns, _ = self._open()
        return ask(connection, columns, text, limits, _fetch_table)

    def _open(self) -> "Opened":
        with self._lock:
            return self._of_current(self._opened_version)

    def _of_current(self, look: Callable[[str], T]) -> T:
        """What the current version says; if it was replaced and removed meanwhile, what the next one says."""
        while True:
            version = self._require_version()
            try:
                return look(version)
            except ScenarioError:
                if version == self._require_version():
                    raise

    def _opened_version(self, version: str) -> "Opened":
        if self._opened and version == self._version:
            return self._opened
        connection, columns = open_locked(str(self._file(version)))
        vertices = connection.sql("SELECT * FROM vertices").to_arrow_table()
        edges = connection.sql("SELECT source, target, label, needs FROM edges").to_arrow_table()
        self._opened, self._version = (connection, columns, Topology(vertices, edges)), version
        return self._opened

    def _health_of(self, version: str) -> NetworkStoreHealth:
        """Told by the tables that the store was made of, so that the database need not be opened."""
        folder = version_folder(self.home, self.scenario, version)
        if not (folder / STORE).is_file():
            raise ScenarioError(f"{folder / STORE} is not there; run: kb scenario load {self.scenario}")
        try:
            vertices, edges = (pq.read_metadata(folder / f"{name}.parquet") for name in ("vertices", "edges"))
            alerts = folder / "telemetry-alerts.parquet"
            until = _newest(pq.read_metadata(alerts)) if alerts.is_file() else ""
        except (OSError, pa.ArrowException) as exc:
            raise ScenarioError(f"{folder} cannot be read: {exc}; run: kb scenario load {self.scenario}") from exc
        return NetworkStoreHealth(self.backend, self.scenario, version, vertices.num_rows, edges.num_rows, until)

    def _file(self, version: str) -> Path:
        return version_folder(self.home, self.scenario, version) / STORE

    def _require_version(self) -> str:
        version = current_version(self.home, self.scenario)
        if not version:
            raise ScenarioError(f"the scenario {self.scenario} is not loaded; run: kb scenario load {self.scenario}")
        return version


def subgraph(network: Topology, wanted: TopologyQuery) -> Subgraph:
    """The wanted part of a network.

    Raises:
        QueryFailedError: it is asked what lies around an element that there is not.
    """
    if unknown := [each for each in wanted.around if each not in network.number]:
        raise QueryFailedError(f"there is no element {unknown[0][:80]!r}")
    numbers: Sequence[int] = range(len(network.ids))
    if wanted.around:
        starts = network.numbers(list(wanted.around))
        if wanted.direction == "down":
            numbers = list(network.downstream(starts, wanted.depth))
        elif wanted.direction == "up":
            numbers = network.above(starts, wanted.depth).tolist()
        else:
            numbers = list(network.around(starts, wanted.depth))
    chosen = _matching(network, numbers, wanted)[: wanted.limit]
    inside = set(chosen)
    nodes = [
        {"id": network.ids[each], "label": properties.get("name", ""), "type": network.types[each],
         "properties": properties}
        for each, properties in zip(chosen, network.properties_of(chosen), strict=True)
    ]  # fmt: skip
    edges = [
        {"id": f"{network.ids[one]}>{network.ids[other]}", "source": network.ids[one], "target": network.ids[other],
         "type": network.labels[one, other], "properties": {}}
        for one in chosen
        for other in network.dependencies(one)
        if other in inside
    ]  # fmt: skip
    return Subgraph(nodes, edges, len(network.ids), len(network.labels))


def _matching(network: Topology, numbers: Sequence[int], wanted: TopologyQuery) -> list[int]:
    """Those of the wanted types whose id or name has the wanted text."""
    matches = np.isin(network.type_codes, [network.type_names.index(each) for each in wanted.types
                                           if each in network.type_names]) if wanted.types else None  # fmt: skip
    if wanted.text:
        columns = (network.table[name].fill_null("") for name in ("id", "name"))
        some = [pc.match_substring(column, wanted.text, ignore_case=True).to_numpy() for column in columns]
        has_text = (some[0] | some[1]).astype(bool)
        matches = has_text if matches is None else matches & has_text
    if matches is None:
        return list(numbers[: wanted.limit])
    chosen = np.asarray(numbers, np.int64)
    return chosen[matches[chosen]].tolist()  # type: ignore[no-any-return]


def _fetch_table(cursor: "duckdb.DuckDBPyConnection", text: str, limits: QueryLimits) -> tuple[pa.Table, bool]:
    reader = cursor.sql(text).to_arrow_reader()
    batches: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in reader:
        batches.append(batch)
        rows, size = rows + batch.num_rows, size + batch.nbytes
        if rows > limits.rows or size > limits.bytes:
            break
    table = pa.Table.from_batches(batches, reader.schema)
    kept = table.slice(0, limits.rows)
    return kept, len(kept) < rows or size > limits.bytes


def _newest(written: pq.FileMetaData) -> str:
    """The latest time in the first column of times, from the statistics of a Parquet file; empty if there is none."""
    newest: datetime | None = None
    for group in range(written.num_row_groups):
        columns = (written.row_group(group).column(each) for each in range(written.num_columns))
        latest = next(
            (c.statistics.max for c in columns if c.statistics and isinstance(c.statistics.max, datetime)), None
        )
        newest = max(filter(None, (newest, latest)), default=None)
    return newest.replace(tzinfo=None).isoformat() if newest else ""
