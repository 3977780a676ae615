"""Reads the files of a scenario into typed Arrow tables: vertices, edges, and one table per telemetry container."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as csv

from kb_pipeline.errors import ScenarioError
from kb_pipeline.network.parquet import MOST_COLUMNS, read_parquet
from kb_pipeline.network.scenario import EdgeType, ScenarioFolder, VertexType

_TYPES = {"text": pa.string(), "float": pa.float64(), "integer": pa.int64()}
_BLOCK = 1 << 20
"""Bytes that are parsed at once; a longer line is refused."""
ALERTS = "alerts"
"""The container in which alerts are looked up."""
_ALERTS_MAY_HAVE = ("severity", "message")
FIRST_YEAR, LAST_YEAR = 1971, 2200
"""No alert or measurement is from before or after these."""


@dataclass(frozen=True)
class NetworkTables:
    """``vertices``: id, type, kind, name and the fields of all types. ``edges``: source, target, label, needs, and
    what the files add."""

    vertices: pa.Table
    edges: pa.Table
    telemetry: dict[str, pa.Table]


def read_network(scenario: ScenarioFolder) -> tuple[pa.Table, pa.Table]:
    """Read vertices and edges.

    Raises:
        ScenarioError: a file cannot be read, or lacks a column.
    """
    vertices = [_vertices(scenario, name, kind) for name, kind in scenario.scenario.vertices.items()]
    edges = [_edges(scenario, kind) for kind in scenario.scenario.edges]
    return _concatenated(vertices), _concatenated(edges)


def read_telemetry(scenario: ScenarioFolder) -> dict[str, pa.Table]:
    """Read every container, its times as timestamps in UTC, sorted by time and entity.

    Raises:
        ScenarioError: a file cannot be read, lacks a column, or holds a time that is none.
    """
    return {name: read_container(scenario, name) for name in scenario.scenario.telemetry}


def read_tables(scenario: ScenarioFolder) -> NetworkTables:
    """Read everything.

    Raises:
        ScenarioError: a file cannot be read, or lacks a column.
    """
    vertices, edges = read_network(scenario)
    return NetworkTables(vertices, edges, read_telemetry(scenario))


def _vertices(scenario: ScenarioFolder, type_name: str, declared: VertexType) -> pa.Table:
    path = scenario.path(declared.file)
    table = _read(path, {declared.id: "text", declared.name: "text", **declared.fields})
    _require(path, table, [declared.id, declared.name])
    length = len(table)
    columns: dict[str, Any] = {
        "id": table[declared.id],
        "type": pa.array([type_name] * length, pa.string()),
        "kind": pa.array([declared.kind] * length, pa.string()),
        "name": table[declared.name],
    }
    columns |= {name: table[name] for name in table.column_names if name not in (declared.id, declared.name, *columns)}
    return pa.table(columns)


def _edges(scenario: ScenarioFolder, declared: EdgeType) -> pa.Table:
    path = scenario.path(declared.file)
    source, target = declared.from_.column, declared.to.column
    table = _read(path, {source: "text", target: "text"})
    _require(path, table, [source, target])
    length = len(table)
    columns: dict[str, Any] = {
        "source": table[source],
        "target": table[target],
        "label": pa.array([declared.label] * length, pa.string()),
        "needs": pa.array([declared.needs] * length, pa.string()),
    }
    columns |= {name: table[name] for name in table.column_names if name not in (source, target, *columns)}
    return pa.table(columns)


def read_container(scenario: ScenarioFolder, name: str) -> pa.Table:
    """Read one container, as :func:`read_telemetry` does. ``alerts`` always has the columns that are asked for."""
    declared = scenario.scenario.telemetry[name]
    path = scenario.path(declared.file)
    types = {declared.time: "text", declared.entity: "text", **dict.fromkeys(declared.metrics, "float")}
    table = _read(path, types)
    _require(path, table, [declared.time, declared.entity, *declared.metrics])
    if name == ALERTS:
        _require(path, table, ["alert_type"])
        for column in [each for each in _ALERTS_MAY_HAVE if each not in table.column_names]:
            table = table.append_column(column, pa.nulls(len(table), pa.string()))
    for column in table.column_names:
        if column == declared.time or column.endswith("_at"):
            table = table.set_column(table.column_names.index(column), column, _times(path, table[column], column))
    return table.sort_by([(declared.time, "ascending"), (declared.entity, "ascending")])


def _times(path: Path, column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    try:
        times = _timestamps(column)
    except pa.ArrowException as exc:
        raise ScenarioError(f"{path}, column {name}: {exc}; write times as 2026-11-02T03:04:05Z") from exc
    ends = pc.min_max(times)
    for end in (ends["min"], ends["max"]):
        if end.is_valid and not FIRST_YEAR <= pc.year(end).as_py() < LAST_YEAR:
            raise ScenarioError(f"{path}, column {name}: the year {pc.year(end)} is none of a measurement")
    return times


def _timestamps(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_timestamp(column.type):
        return column.cast(pa.timestamp("us", "UTC") if column.type.tz else pa.timestamp("us")).cast(pa.timestamp("us"))
    text = pc.if_else(pc.equal(column, ""), None, column)
    return text.cast(pa.timestamp("us", "UTC")).cast(pa.timestamp("us"))


def _read(path: Path, types: dict[str, str]) -> pa.Table:
    try:
        table = _cast(read_parquet(path), types) if path.suffix == ".parquet" else _read_csv(path, types)
        names = [name.lower() for name in table.column_names]
    except (pa.ArrowException, OSError, UnicodeDecodeError, KeyError) as exc:
        raise ScenarioError(f"{path} cannot be read: {exc}") from exc
    if len(set(names)) < len(names):
        raise ScenarioError(f"{path} has two columns of one name: {', '.join(names[:50])}")
    return table


def _read_csv(path: Path, types: dict[str, str]) -> pa.Table:
    with path.open("rb") as header:
        if (columns := header.readline(_BLOCK).count(b",") + 1) > MOST_COLUMNS:
            raise ScenarioError(f"{path} has {columns:,} columns; at most {MOST_COLUMNS:,} are read")
    options = csv.ConvertOptions(
        column_types={name: _TYPES[kind] for name, kind in types.items()},
        strings_can_be_null=True,
        timestamp_parsers=[],
    )
    with pa.OSFile(str(path)) as file:  # a path could be that of a compressed file
        return csv.read_csv(file, read_options=csv.ReadOptions(block_size=_BLOCK), convert_options=options)


def _cast(table: pa.Table, types: dict[str, str]) -> pa.Table:
    """The table with the columns of these types; times stay what they are."""
    for place, field in enumerate(table.schema):
        if field.name in types and not pa.types.is_timestamp(field.type):
            table = table.set_column(place, field.name, table.column(place).cast(_TYPES[types[field.name]]))
    return table


def _require(path: Path, table: pa.Table, columns: Sequence[str]) -> None:
    if missing := [name for name in columns if name not in table.column_names]:
        raise ScenarioError(f"{path} has no column {', '.join(missing)}; it has: {', '.join(table.column_names)}")


def _concatenated(tables: list[pa.Table]) -> pa.Table:
    """One table of all columns; a column that is a number in one file and text in another becomes text."""
    kinds: dict[str, set[pa.DataType]] = {}
    for table in tables:
        for field in table.schema:
            kinds.setdefault(field.name, set()).add(field.type)
    mixed = {name for name, types in kinds.items() if len(types - {pa.null()}) > 1}
    numbers = {name for name in mixed if kinds[name] <= {pa.int64(), pa.float64(), pa.null()}}
    for name in mixed:
        wanted = pa.float64() if name in numbers else pa.string()
        tables = [
            table.set_column(table.column_names.index(name), name, table[name].cast(wanted))
            if name in table.column_names
            else table
            for table in tables
        ]
    return pa.concat_tables(tables, promote_options="default").combine_chunks()
