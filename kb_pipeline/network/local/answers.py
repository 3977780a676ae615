"""Answers queries of a DuckDB file that cannot be trusted, in a process that has nothing else to do.

DuckDB refuses what would read or write other files. But it does not count all memory, and some functions cannot be
stopped, as ``format('{:>2000000000}', 'x')``: so the process itself has limits, see
:mod:`kb_pipeline.network.local.query_processes`.
"""

import json
import os
import re
import resource
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

import psutil

from kb_pipeline.errors import QueryFailedError, ScenarioError
from kb_pipeline.network.base import QueryLimits, Rows
from kb_pipeline.network.local.gate import WALKS, check_query
from kb_pipeline.network.sql_names import sql_name

if TYPE_CHECKING:
    import duckdb

    Opened = tuple[duckdb.DuckDBPyConnection, Mapping[str, Sequence[str]]]


MEMORY_MB = 512
"""What DuckDB may use for the queries of one process."""
_BESIDE_MB = 128
"""What a query may allocate that DuckDB does not count."""
_ROOM_MB = 64
"""What must be left for a query when it begins: with less, it may break the database through no fault of its own."""
_LOCKED = {
    "enable_external_access": "false",
    "python_enable_replacements": "false",
    "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false",
    "threads": "1",
    "memory_limit": f"{MEMORY_MB}MB",
    "max_temp_directory_size": "0MB",
    "lock_configuration": "true",
}
_CELL = 4000
"""Characters of a value; a longer one is cut, so that one row does not fill an answer."""
_MOST_ITEMS = 1000
"""Values of a list."""
_TOLD = 1200
"""Characters of DuckDB's words: the first say what is wrong."""
_TOO_LARGE = "the query needs more memory than it may have; aggregate, or ask for less"
T = TypeVar("T")


class TooLargeError(QueryFailedError):
    """A query needs more memory than it may have."""

    def __init__(self, message: str = _TOO_LARGE) -> None:
        super().__init__(message)


class WornOutError(Exception):
    """The queries before have left the process no room for another; a fresh process can answer it."""


def open_locked(path: str) -> "Opened":
    """A connection that can only read the tables of a file, and the columns of each table.

    Raises:
        ScenarioError: there is no such file, or another process writes it.
    """
    import duckdb

    try:
        connection = duckdb.connect(path, read_only=True, config=_LOCKED)
    except duckdb.Error as exc:
        raise ScenarioError(f"{path} cannot be opened: {exc}; load the scenario again: kb scenario load") from exc
    columns: dict[str, list[str]] = {}
    listed = "SELECT table_name, column_name FROM duckdb_columns() WHERE NOT internal ORDER BY table_name, column_index"
    for table, column in connection.execute(listed).fetchall():
        columns.setdefault(table, []).append(column)
    return connection, columns


def answer(path: str, text: str, limits: QueryLimits) -> Rows:
    """Answer one SELECT about a file, in a process that answers nothing else. It is checked before it runs.

    A query after which the database can answer no more ends the process.

    Raises:
        QueryError: it may not be asked, or cannot be answered.
        WornOutError: only a fresh process can answer it.
    """
    import duckdb

    connection, columns = _opened(path)
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    if psutil.Process().memory_info().vms > most - _ROOM_MB * 1024**2:
        raise WornOutError
    try:
        return ask(connection, columns, text, limits, _fetch)
    except QueryFailedError as exc:
        if isinstance(exc.__cause__, duckdb.FatalException | duckdb.InternalException):
            os._exit(1)
        raise


def be_ready(path: str) -> None:
    """Open a file, so that the first query need not wait for that."""
    _opened(path)


@lru_cache(maxsize=1)
def _opened(path: str) -> "Opened":
    """The file, for a process that from now on can neither write a file nor grow beyond its limit."""
    opened = open_locked(path)
    most = psutil.Process().memory_info().vms + (MEMORY_MB + _BESIDE_MB) * 1024**2
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return opened


def ask(
    connection: "duckdb.DuckDBPyConnection",
    columns: Mapping[str, Sequence[str]],
    text: str,
    limits: QueryLimits,
    fetch: "Callable[[duckdb.DuckDBPyConnection, str, QueryLimits], T]",
) -> T:
    """Check a query, and fetch what it asks for. It is stopped when it takes too long.

    Raises:
        QueryError: it may not be asked, or cannot be answered.
    """
    import duckdb

    with connection.cursor() as parser:
        check_query(parser, text, columns, limits.characters)
    cursor = connection.cursor()
    timer = threading.Timer(limits.seconds, cursor.interrupt)
    timer.start()
    try:
        return fetch(cursor, text, limits)
    except duckdb.InterruptException as exc:
        raise QueryFailedError(too_slow(limits)) from exc
    except (duckdb.OutOfMemoryException, MemoryError, SystemError) as exc:  # the last where Python itself had none left
        raise TooLargeError from exc
    except (duckdb.Error, RuntimeError, ValueError, OverflowError) as exc:
        raise QueryFailedError(f"{str(exc)[:_TOLD]}; {advice_on(str(exc), text, columns)}"[: 2 * _TOLD]) from exc
    finally:
        timer.cancel()
        cursor.close()


def too_slow(limits: QueryLimits) -> str:
    """What a query that was stopped is told."""
    return f"the query took longer than {limits.seconds:g} seconds; ask for fewer rows, a shorter time or less depth"


def _fetch(cursor: "duckdb.DuckDBPyConnection", text: str, limits: QueryLimits) -> Rows:
    began = time.perf_counter()
    cursor.execute(text)
    names = list(_unlike(each[0] for each in cursor.description or ()))
    columns = [{"name": name, "type": str(each[1])} for name, each in zip(names, cursor.description or (), strict=True)]
    rows: list[dict[str, Any]] = []
    size, truncated = 0, False
    while not truncated and (fetched := cursor.fetchmany(min(limits.rows + 1, 500))):
        for values in fetched:
            row = {name: _plain(value) for name, value in zip(names, values, strict=True)}
            size += len(json.dumps(row, default=str))
            if len(rows) == limits.rows or size > limits.bytes:
                truncated = True
                break
            rows.append(row)
    return Rows(columns, rows, truncated, round(time.perf_counter() - began, 4))


def _unlike(names: Iterator[str]) -> Iterator[str]:
    """The names of columns; a further one of a name gets a number, since a row holds its values by name."""
    seen: set[str] = set()
    for name in names:
        other, number = name, 1
        while other in seen:
            number += 1
            other = f"{name}_{number}"
        seen.add(other)
        yield other


def _plain(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value[:_MOST_ITEMS]]
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    if value is None or isinstance(value, bool | int | float):
        return value
    text = str(value)
    return text if len(text) <= _CELL else f"{text[:_CELL]}… ({len(text):,} characters)"


_NO_COLUMN = re.compile(r'(Referenced column|column named) "([^"]+)"')
_CALLS = "downstream('LINK-1', 4), neighbours('LINK-1'), common_causes(['VPN-1', 'VPN-2'], 4)"


def advice_on(error: str, text: str, columns: Mapping[str, Sequence[str]]) -> str:
    """What to ask instead, in words that a model can follow. ``columns`` are those of each table."""
    advice = []
    if no_column := _NO_COLUMN.search(error):
        how, wrong = no_column.groups()
        if homes := [sql_name(table) for table, names in columns.items() if wrong.lower() in map(str.lower, names)]:
            advice.append(f"{sql_name(wrong)} is a column of {' and '.join(homes)}")
        named = [table for table in columns if re.search(rf"\b{re.escape(table)}\b", text, re.IGNORECASE)]
        advice += [
            f"the columns of {sql_name(table)} are {', '.join(map(sql_name, columns[table]))}" for table in named
        ]
        if how == "Referenced column":
            advice.append(f"a text stands in single quotation marks, such as '{wrong}'")
    if re.search(rf"\b({'|'.join(WALKS)})\b", text, re.IGNORECASE):
        advice.append(f"walks are called so: {_CALLS}")
    return "; ".join([*advice, "check the names and ask again"])
