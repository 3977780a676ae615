"""A network in Azure Cosmos DB: the graph answers Gremlin, the telemetry answers SQL.

Every query sees one version: the current one, or the one that was current a few seconds ago.
"""

import asyncio
import json
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any, ClassVar

import pyarrow as pa

from kb_pipeline.errors import ScenarioError, TransientError
from kb_pipeline.network.base import (
    Language,
    NetworkStore,
    NetworkStoreHealth,
    QueryLimits,
    Rows,
    Subgraph,
    TopologyQuery,
)
from kb_pipeline.network.cosmos import gremlin_gate
from kb_pipeline.network.cosmos import sql_gate as cosmos_sql_gate
from kb_pipeline.network.cosmos.gremlin import GremlinService
from kb_pipeline.network.cosmos.gremlin_gate import HIDDEN, PAGE, PARTITION, VERSION, NetworkVersion
from kb_pipeline.network.cosmos.gremlin_names import GraphNames
from kb_pipeline.network.cosmos.sql import TelemetryService
from kb_pipeline.network.cosmos.versions import LoadedVersion, read_versions
from kb_pipeline.network.local.store import subgraph
from kb_pipeline.network.scenario import ScenarioFolder
from kb_pipeline.network.topology import Topology
from kb_pipeline.settings import Settings

_LOOK_AGAIN_SECONDS = 5.0
"""Seconds after which a new version is noticed; until then queries need no further request."""
_READ_SECONDS = 60.0
"""Seconds to read a page of the network, and for which its version is believed."""
_PAGES_AT_ONCE = 4
"""Pages that are read at the same time: the account's throughput is for queries as well."""
_CELL = 4000
"""Characters of a value; a longer one is cut, so that one row does not fill an answer."""
_ANSWER_BYTES = 8
"""How many times the bytes of a query an answer may have in GraphSON before it is cut."""


class CosmosStore(NetworkStore):
    """Reads what :class:`kb_pipeline.network.cosmos.loader.CosmosLoader` wrote of a scenario."""

    backend: ClassVar[str] = "cosmosdb"
    language: ClassVar[Language] = Language(
        "Gremlin",
        "One traversal that begins with g.V( or g.E( and only reads. A vertex has its type as label, and id, name, "
        "kind (infrastructure, service, obligation) and the fields of its type; an edge leads from what depends "
        "(out of it) to what it depends on, with needs (all, any). So in() walks to what is affected, out() to "
        "causes. repeat() needs times(n) with n up to 32. No closures, lists or variables.",
        (
            "g.V('LINK-SYD-MEL').repeat(__.in().simplePath()).emit().times(4).dedup().valueMap(true)",
            "g.V().hasLabel('Service').where(out('depends_on').hasId('MPLS-SYD-MEL-1')).values('name')",
            "g.V('VPN-ACME').repeat(out().simplePath()).emit().times(4).path().by(id)",
        ),
    )

    def __init__(self, settings: Settings, scenario: ScenarioFolder) -> None:
        """Nothing is sent before the first query.

        Raises:
            MissingExtraError: the packages are not installed.
            SettingsError: a setting is missing or malformed.
        """
        self._manifest = scenario.scenario
        self._scenario = self._manifest.name
        self._gremlin, self._telemetry = GremlinService(settings), TelemetryService(settings)
        self._lock = threading.Lock()
        self._served: tuple[float, LoadedVersion] | None = None
        self._network: tuple[str, Topology] | None = None

    async def graph(self, query: str, limits: QueryLimits) -> Rows:
        return await asyncio.to_thread(self._graph, query, limits)

    async def telemetry(self, query: str, limits: QueryLimits) -> Rows:
        return await asyncio.to_thread(self._rows, query, limits)

    async def topology(self, wanted: TopologyQuery) -> Subgraph:
        return await asyncio.to_thread(lambda: subgraph(self._topology(), wanted))

    async def health(self) -> NetworkStoreHealth:
        return await asyncio.to_thread(self._health)

    async def close(self) -> None:
        def close() -> None:
            self._gremlin.close()
            self._telemetry.close()
            self._served = self._network = None

        await asyncio.to_thread(close)

    def _graph(self, query: str, limits: QueryLimits) -> Rows:
        began = time.perf_counter()
        served = self._version(limits.seconds)
        scope = served.scope
        text = gremlin_gate.checked(query, scope, limits.rows + 1, limits.characters)
        self._names(served).check(gremlin_gate.parse(query))
        results = self._gremlin.ask(text, seconds=limits.seconds, most_bytes=limits.bytes * _ANSWER_BYTES)
        return _limited((_shown_row(each, scope) for each in results), limits, began)

    def _names(self, served: LoadedVersion) -> GraphNames:
        """What queries may name: the types of the manifest, and the columns that were loaded."""
        properties = [*(name for name in served.vertices if name != "type"), *served.edges]
        labels = dict.fromkeys(each.label for each in self._manifest.edges)
        return GraphNames(tuple(self._manifest.vertices), tuple(labels), (*dict.fromkeys(properties), *HIDDEN))

    def _rows(self, query: str, limits: QueryLimits) -> Rows:
        began = time.perf_counter()
        telemetry = self._version(limits.seconds).telemetry
        checked = cosmos_sql_gate.checked(query, telemetry, limits.characters)
        if checked.names:
            values = [list(self._results(checked, text, limits)) for text in checked.texts]
            row = {name: value[0] if value else None for name, value in zip(checked.names, values, strict=True)}
            return _limited([row], limits, began)
        results = self._results(checked, checked.texts[0], limits)
        rows = _limited((cosmos_sql_gate.plain(each, checked.renamed) for each in results), limits, began)
        if checked.sorted:
            rows.rows.sort(key=lambda row: [(value is None, value) for value in row.values()])
        return rows

    def _results(self, checked: cosmos_sql_gate.Checked, text: str, limits: QueryLimits) -> Iterator[Any]:
        return self._telemetry.rows(checked.container, text, checked.parameters, limits.seconds)

    def _version(self, seconds: float) -> LoadedVersion:
        """The version that is served. If the graph is busy, the one that was."""
        with self._lock:
            served = self._served
        if served and time.monotonic() - served[0] < _LOOK_AGAIN_SECONDS:
            return served[1]
        try:
            current = read_versions(self._gremlin, self._scenario, seconds).current
        except TransientError:
            if not served:
                raise
            return served[1]
        if current is None:
            raise ScenarioError(f"the scenario {self._scenario} is not loaded; run: kb scenario load {self._scenario}")
        with self._lock:
            self._served = time.monotonic(), current
        return current

    def _health(self) -> NetworkStoreHealth:
        served = self._version(_LOOK_AGAIN_SECONDS)
        counts = served.vertex_count, served.edge_count
        return NetworkStoreHealth(self.backend, self._scenario, served.version, *counts, served.telemetry_until)

    def _topology(self) -> Topology:
        """The served version as arrays, which are read once."""
        served = self._version(_READ_SECONDS)
        with self._lock:
            if self._network and self._network[0] == served.version:
                return self._network[1]
        vertex_pages, edge_pages = (-(-rows // served.page_size) for rows in (served.vertex_count, served.edge_count))
        vertices = self._elements("V", PARTITION, vertex_pages, served.vertices, served.scope)
        edges = self._elements("E", VERSION, edge_pages, served.edges, served.scope)
        network = Topology(vertices, edges)
        with self._lock:
            self._network = served.version, network
        return network

    def _elements(self, step: str, key: str, pages: int, columns: Mapping[str, str], scope: NetworkVersion) -> pa.Table:
        query = f"g.{step}().has('{key}', s).has('{PAGE}', n).valueMap(true)"

        def read(page: int) -> list[dict[str, Any]]:
            elements = self._gremlin.ask(query, {"s": scope.name, "n": page}, seconds=_READ_SECONDS)
            return [_shown_row(each, scope) for each in elements]

        with ThreadPoolExecutor(_PAGES_AT_ONCE) as pool:
            rows = [row for some in pool.map(read, range(pages)) for row in some]
        named = {"type": "label"} if step == "V" else {}
        return pa.table(
            {
                name: pa.array([row.get(named.get(name, name)) for row in rows], pa.type_for_alias(kind))
                for name, kind in columns.items()
            }
        )


def _limited(rows: Iterable[dict[str, Any]], limits: QueryLimits, began: float) -> Rows:
    """As many rows as a query may have, and the columns of all of them."""
    kept: list[dict[str, Any]] = []
    size, truncated = 0, False
    for row in rows:
        size += len(json.dumps(row, default=str))
        if len(kept) == limits.rows or size > limits.bytes:
            truncated = True
            break
        kept.append(row)
    kinds: dict[str, str] = {}
    for row in kept:
        for name, value in row.items():
            if kinds.get(name, "null") == "null":
                kinds[name] = _kind(value)
    columns = [{"name": name, "type": kind} for name, kind in kinds.items()]
    return Rows(columns, kept, truncated, round(time.perf_counter() - began, 4))


def _kind(value: object) -> str:
    if value is None or isinstance(value, bool):
        return "null" if value is None else "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, list):
        return "array"
    return "object" if isinstance(value, dict) else "string"


def _shown_row(result: Any, scope: NetworkVersion) -> dict[str, Any]:  # noqa: ANN401
    """A result as a row: a map becomes its columns, an element its id, label and properties, all else one value."""
    shown = _shown(result, scope)
    if not isinstance(shown, dict):
        return {"value": shown}
    return {
        name: value[0] if isinstance(value, list) and len(value) == 1 and name != "path" else value
        for name, value in shown.items()
    }


def _shown(value: Any, scope: NetworkVersion) -> Any:  # noqa: ANN401
    """A value of the driver, or of the JSON that Azure sends, as plain data with the ids of the network."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, str):
        text = scope.shown(value)
        return text if len(text) <= _CELL else f"{text[:_CELL]}… ({len(text):,} characters)"
    if isinstance(value, Mapping):
        if value.get("type") in ("vertex", "edge") and "id" in value:
            return _element(value["id"], value.get("label", ""), value.get("properties") or {}, scope)
        if set(value) == {"labels", "objects"}:
            return {"path": _shown(value["objects"], scope)}
        return {key: _shown(each, scope) for name, each in value.items() if (key := _key(name)) not in HIDDEN}
    if isinstance(value, list | tuple | set | frozenset):
        return [_shown(each, scope) for each in value]
    if hasattr(value, "objects"):
        return {"path": _shown(value.objects, scope)}
    if hasattr(value, "id") and hasattr(value, "label"):
        given = {each.key: [each.value] for each in getattr(value, "properties", None) or []}
        return _element(value.id, value.label, given, scope)
    if hasattr(value, "key") and hasattr(value, "value"):
        return {value.key: _shown(value.value, scope)}
    return str(value)


def _element(element: Any, label: str, properties: Mapping[str, Any], scope: NetworkVersion) -> dict[str, Any]:  # noqa: ANN401
    """A vertex or an edge; a property of Azure is a list of values with ids."""
    row: dict[str, Any] = {"id": _shown(element, scope), "label": label}
    for name, held in properties.items():
        values = [each["value"] if isinstance(each, Mapping) and "value" in each else each
                  for each in (held if isinstance(held, list) else [held])]  # fmt: skip
        if name not in HIDDEN:
            row[name] = _shown(values[0] if len(values) == 1 else values, scope)
    return row


def _key(name: Any) -> str:  # noqa: ANN401
    """The name of an entry; ``T.id`` and ``T.label`` are called like their properties."""
    return str(getattr(name, "name", name)).rstrip("_")
