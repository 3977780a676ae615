"""Writes a network to Azure Cosmos DB: vertices, edges and rows by deterministic ids, each request a whole element.

A version is written beside the one that readers have. If the loader is killed, loading again writes the same ids, and
ends in the same version.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from kb_pipeline.errors import ScenarioError
from kb_pipeline.network.base import NetworkLoader
from kb_pipeline.network.cosmos.gremlin import Bindings, GremlinService
from kb_pipeline.network.cosmos.gremlin_gate import PAGE, PARTITION, VERSION, quoted
from kb_pipeline.network.cosmos.sql import TelemetryService
from kb_pipeline.network.cosmos.sql_gate import VERSION as ROW_VERSION
from kb_pipeline.network.cosmos.sql_gate import Contained, stored_time
from kb_pipeline.network.cosmos.versions import (
    COSMOS,
    Dialect,
    LoadedVersion,
    Versions,
    forget_versions,
    read_versions,
    write_versions,
)
from kb_pipeline.network.scenario import Scenario
from kb_pipeline.network.tables import NetworkTables
from kb_pipeline.settings import Settings

_AT_ONCE = 8
"""Requests at the same time; the limit is the account's throughput, not their number."""
_RETRIES = 20
"""A busy account is asked again for longer than a reader would wait."""
_SECONDS = 300.0
"""Seconds for a count over everything that was written."""
_PAGE_SIZE = 500
"""Vertices or edges of a page, in which the network is read back: some hundred KB."""
_DROPPED_AT_ONCE = 100
"""Vertices of a request, which drops their edges as well and must end in time."""
_LONGEST_ID = 1000
"""Cosmos DB allows 1,023 bytes."""
_TYPES = frozenset({"string", "double", "int64", "bool"})
_NAME = re.compile(r"[A-Za-z_]\w{0,63}", re.ASCII)
_RESERVED = frozenset({PARTITION, VERSION, PAGE})
T = TypeVar("T")


class CosmosLoader(NetworkLoader):
    """Writes to the accounts that KB_GREMLIN_* and KB_TELEMETRY_* name."""

    def __init__(self, settings: Settings, scenario: Scenario, dialect: Dialect = COSMOS) -> None:
        self._gremlin = GremlinService(settings, _RETRIES)
        self._telemetry = TelemetryService(settings, _RETRIES)
        self._scenario, self._dialect = scenario, dialect
        self._written: LoadedVersion | None = None

    def current(self) -> str:
        current = self._versions().current
        return current.version if current else ""

    def holds(self, version: str) -> bool:
        return self._versions().find(version) is not None

    def write(self, tables: NetworkTables, version: str) -> None:
        """See the base class.

        Raises:
            ScenarioError: an id or a column cannot be stored.
            KnowledgeBaseError: an account refuses, is busy for long, or cannot be reached.
        """
        self._check(tables)
        versions = self._versions()
        loading = self._planned(tables, version)
        if loading not in versions.begun:
            self._remember(replace(versions, begun=(*versions.begun, loading)))
        for elements in (self._vertices(tables.vertices, loading), self._edges(tables.edges, loading)):
            self._each(elements, lambda each: self._ask(*each))
        there = {each.telemetry.get(name) for each in (versions.current, versions.previous) if each
                 for name in each.telemetry}  # fmt: skip
        for name, contained in loading.telemetry.items():
            if contained not in there:  # another version has the same rows
                self._write_container(name, contained, tables.telemetry[name])
        self._written = loading

    def counts(self, version: str) -> dict[str, int]:
        written = self._whole(version)
        query = {"vertices": f"g.V().has('{PARTITION}', s).count()", "edges": f"g.E().has('{VERSION}', s).count()"}
        counts = {name: int(self._ask(text, {"s": written.scope.name})[0]) for name, text in query.items()}
        for name, contained in written.telemetry.items():
            counts[name] = self._telemetry.count(name, contained.name, _SECONDS)
        return counts

    def switch(self, version: str) -> None:
        whole, versions = self._whole(version), self._versions()
        if versions.current != whole:
            versions = replace(versions, current=whole, previous=versions.current)
            self._remember(versions)
        self._drop(versions, kept=[each for each in (versions.current, versions.previous) if each])

    def forget(self) -> None:
        self._drop(self._versions(), kept=[])
        forget_versions(self._gremlin, self._scenario.name, _SECONDS)

    def close(self) -> None:
        self._gremlin.close()
        self._telemetry.close()

    def _versions(self) -> Versions:
        return read_versions(self._gremlin, self._scenario.name, _SECONDS)

    def _remember(self, versions: Versions) -> None:
        write_versions(self._gremlin, self._scenario.name, versions, self._dialect, _SECONDS)

    def _whole(self, version: str) -> LoadedVersion:
        if self._written and self._written.version == version:
            return self._written
        loaded = self._versions().find(version)
        if not loaded:
            raise ScenarioError(f"the version {version} of {self._scenario.name} was not written; load it again")
        return loaded

    def _check(self, tables: NetworkTables) -> None:
        wrong = _RESERVED.union({"label"}) & set(tables.vertices.column_names)
        wrong |= _RESERVED.union({"id"}) & set(tables.edges.column_names)
        wrong |= {name for table in tables.telemetry.values() for name in table.column_names
                  if name in ("id", ROW_VERSION) or name.startswith("_")}  # fmt: skip
        wrong |= {name for table in (tables.vertices, tables.edges, *tables.telemetry.values())
                  for name in table.column_names if not _NAME.fullmatch(name)}  # fmt: skip
        if wrong:
            raise ScenarioError(
                f"Azure Cosmos DB cannot store columns called {', '.join(sorted(wrong))}; rename them in the files of "
                f"{self._scenario.name}"
            )

    def _planned(self, tables: NetworkTables, version: str) -> LoadedVersion:
        telemetry = {
            name: Contained(
                f"{self._scenario.name}@{_content(table)}",
                tuple(table.column_names),
                declared.partition_key or declared.entity,
                declared.time,
                len(table),
            )
            for name, table in tables.telemetry.items()
            for declared in [self._scenario.telemetry[name]]
        }
        return LoadedVersion(
            version,
            self._scenario.name,
            _types(tables.vertices),
            _types(tables.edges),
            len(tables.vertices),
            len(tables.edges),
            _PAGE_SIZE,
            telemetry,
            _newest(self._scenario, tables),
        )

    def _vertices(self, table: pa.Table, loading: LoadedVersion) -> Iterator[tuple[str, Bindings]]:
        """For each vertex the query that inserts or replaces it, and its values."""
        scope = loading.scope
        for page, rows in enumerate(_slices(table)):
            for row in rows:
                given = _known({PAGE: page, **{name: row[name] for name in row if name not in ("id", "type")}})
                query = (
                    f"g.V(i).has('{PARTITION}', s).fold().coalesce(unfold(), addV(l)"
                    f".property({self._dialect.id}, i).property('{PARTITION}', s)){_steps(given)}"
                )
                stored = _id(scope.stored(row["id"]), row["id"])
                yield query, {"i": stored, "l": row["type"], "s": scope.name, **_values(given)}

    def _edges(self, table: pa.Table, loading: LoadedVersion) -> Iterator[tuple[str, Bindings]]:
        """The same for edges, whose ids come from their ends."""
        scope = loading.scope
        seen: dict[tuple[str, str, str], int] = {}
        for page, rows in enumerate(_slices(table)):
            for row in rows:
                place = (row["source"], row["label"], row["target"])
                seen[place] = number = seen.get(place, 0) + 1
                digest = sha256("\0".join((*place, str(number))).encode()).hexdigest()[:32]
                given = _known({PAGE: page, **{name: row[name] for name in row if name != "label"}})
                query = (
                    f"g.V(f).has('{PARTITION}', s).coalesce(outE(l).hasId(i), addE(l)"
                    f".to({self._dialect.inner}.V(t).has('{PARTITION}', s)).property({self._dialect.id}, i)"
                    f".property('{VERSION}', s)){_steps(given)}"
                )
                ends = {"f": scope.stored(row["source"]), "t": scope.stored(row["target"])}
                yield query, {"i": scope.stored(digest), "l": row["label"], "s": scope.name, **ends, **_values(given)}

    def _write_container(self, name: str, contained: Contained, table: pa.Table) -> None:
        self._telemetry.ensure(name, contained.partition_key, contained.time)
        numbered = table.append_column("number", pa.array(range(len(table)), pa.int64()))
        keys = pc.unique(table[contained.partition_key]).to_pylist()

        def write(key: str) -> None:
            rows = numbered.filter(pc.equal(table[contained.partition_key], key)).to_pylist()
            documents = [
                {**{column: _plain(value) for column, value in row.items() if column != "number"},
                 "id": f"{contained.name}-{row['number']}", ROW_VERSION: contained.name}
                for row in rows
            ]  # fmt: skip
            self._telemetry.write(name, key, documents)

        self._each(keys, write)

    def _drop(self, versions: Versions, kept: list[LoadedVersion]) -> None:
        """Remove all that was ever begun, but for what readers may have."""
        scopes = {each.scope.name for each in kept}
        containers = {(name, each.name) for one in kept for name, each in one.telemetry.items()}
        gone = [each for each in versions.begun if each.version not in {one.version for one in kept}]
        for each in gone:
            if each.scope.name not in scopes:
                self._drop_elements(each.scope.name)
            for name, contained in each.telemetry.items():
                if (name, contained.name) not in containers:
                    self._drop_rows(name, contained)
        if gone:
            self._remember(replace(versions, begun=tuple(each for each in versions.begun if each not in gone)))

    def _drop_elements(self, scope: str) -> None:
        while self._ask(f"g.V().has('{PARTITION}', s).limit(1).count()", {"s": scope})[0]:
            self._ask(f"g.V().has('{PARTITION}', s).limit({_DROPPED_AT_ONCE}).drop()", {"s": scope})

    def _drop_rows(self, name: str, contained: Contained) -> None:
        self._telemetry.ensure(name, contained.partition_key, contained.time)
        query = f'SELECT c.id, c["{contained.partition_key}"] AS key FROM c WHERE c.{ROW_VERSION} = @v'  # noqa: S608
        ids: dict[str, list[str]] = {}
        for row in self._telemetry.rows(name, query, [("@v", contained.name)], _SECONDS):
            ids.setdefault(row["key"], []).append(row["id"])
        self._each(ids.items(), lambda item: self._telemetry.delete(name, item[0], item[1]))

    def _ask(self, query: str, bindings: Bindings) -> list[Any]:
        return self._gremlin.ask(query, bindings, seconds=_SECONDS)

    @staticmethod
    def _each(items: Iterable[T], write: Callable[[T], object]) -> None:
        """Write items, some at once, and hold no more than a page of them in memory."""
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            waiting: list[T] = []
            for item in items:
                waiting.append(item)
                if len(waiting) == _PAGE_SIZE:
                    list(pool.map(write, waiting))
                    waiting = []
            list(pool.map(write, waiting))


def _steps(properties: Iterable[str]) -> str:
    """The steps that write properties, each with a value of its own."""
    return "".join(f".property({quoted(name)}, p{number})" for number, name in enumerate(properties))


def _values(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {f"p{number}": value for number, value in enumerate(properties.values())}


def _known(properties: Mapping[str, Any]) -> dict[str, Any]:
    """The properties that have a value."""
    return {name: plain for name, value in properties.items() if (plain := _plain(value)) is not None}


def _plain(value: Any) -> Any:  # noqa: ANN401
    """A value as JSON has it; what is no number has none."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    return stored_time(value) if isinstance(value, datetime) else str(value)


def _types(table: pa.Table) -> dict[str, str]:
    """The columns with the types that their values have when they come back."""
    return {each.name: str(each.type) if str(each.type) in _TYPES else "string" for each in table.schema}


def _id(stored: str, given: str) -> str:
    if len(stored) > _LONGEST_ID:
        raise ScenarioError(f"the id {given[:40]!r}… is too long for Azure Cosmos DB; shorten it")
    return stored


def _slices(table: pa.Table) -> Iterator[list[dict[str, Any]]]:
    for start in range(0, len(table), _PAGE_SIZE):
        yield table.slice(start, _PAGE_SIZE).to_pylist()


def _content(table: pa.Table) -> str:
    """A hash of the rows of a table, so that a container is written again only when they change."""
    digest = sha256(str(table.schema).encode())
    for batch in table.combine_chunks().to_batches():
        for column in batch.columns:
            for value in column.to_pylist():
                digest.update(repr(value).encode())
    return digest.hexdigest()[:16]


def _newest(scenario: Scenario, tables: NetworkTables) -> str:
    """The time of the newest alert."""
    if "alerts" not in tables.telemetry:
        return ""
    newest = pc.max(tables.telemetry["alerts"][scenario.telemetry["alerts"].time]).as_py()
    return stored_time(newest) if newest else ""
