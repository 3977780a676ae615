"""What a query of the local store may be: one SELECT of the scenario's own tables and of functions that only compute.

DuckDB's parser itself says what a text is, so there is no difference between what is checked and what runs.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from kb_pipeline.errors import QueryFailedError, QueryRefusedError
from kb_pipeline.network.local.functions import FUNCTIONS
from kb_pipeline.network.sql_names import sql_name

WALKS = {
    "downstream": "downstream(id, depth): what depends on an element",
    "upstream": "upstream(id, depth): what an element depends on",
    "neighbours": "neighbours(id): what it is joined to",
    "common_causes": "common_causes(ids, depth): what several elements depend on, the most shared first",
}
_TABLE_FUNCTIONS = {*WALKS, "unnest"}
_READING = {"SELECT_NODE", "SET_OPERATION_NODE"}
"""What DuckDB calls a SELECT, and several by UNION. A WITH may hold others, such as COPY and DELETE."""
_MOST_NESTED = 200
"""DuckDB's parser has a limit of its own (1,000), and what checks the query is recursive."""
_CLOSE = 3
"""So many functions are named instead of one that may not be called."""


def check_query(parser: Any, text: str, tables: Mapping[str, Sequence[str]], characters: int) -> None:  # noqa: ANN401
    """Refuse a text that is more than one SELECT of ``tables`` and the walks. ``parser`` is a connection of DuckDB.

    ``tables``: the columns of each.

    Raises:
        QueryRefusedError: it asks for something else; the message says what it may ask for.
        QueryFailedError: it is no SQL.
    """
    _check_text(text, characters)
    import duckdb

    try:
        statements = parser.extract_statements(text)
    except (duckdb.Error, RuntimeError, UnicodeError) as exc:
        told = f"this is no SQL that DuckDB understands: {exc}"[:1000]
        advice = "; ".join(filter(None, (_to_be_quoted(text, tables), _allowed(tables))))
        raise QueryFailedError(f"{told}; write one SELECT statement: {advice}") from exc
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise QueryRefusedError("a query is exactly one SELECT statement, without PRAGMA, SET, CALL, COPY or others")
    try:
        serialized = parser.execute("SELECT json_serialize_sql(?)", [text]).fetchone()[0]
        tree = json.loads(serialized)
    except (duckdb.Error, RecursionError, ValueError) as exc:
        raise QueryRefusedError("this statement cannot be checked; write a plain SELECT") from exc
    if tree.get("error"):
        raise QueryRefusedError(f"only SELECT statements can be asked: {tree.get('error_message', '')}"[:500])
    _check_tree(tree["statements"], tables)


def _check_text(text: str, characters: int) -> None:
    if not text.strip():
        raise QueryRefusedError("the query is empty; write one SELECT statement")
    if len(text) > characters:
        raise QueryRefusedError(f"the query has {len(text):,} characters; at most {characters:,} are read")
    if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise QueryRefusedError("the query holds characters that are no text")
    depth = deepest = 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        deepest = max(deepest, depth)
    if deepest > _MOST_NESTED:
        raise QueryRefusedError(f"the query nests {deepest} brackets; at most {_MOST_NESTED} are read")


def _check_tree(tree: Any, tables: Collection[str]) -> None:  # noqa: ANN401
    own = frozenset(map(_folded, tables))
    for node, visible in _nodes(tree, own):
        kind = node.get("type")
        if kind == "BASE_TABLE":
            _check_table(node, visible, tables)
        elif kind == "TABLE_FUNCTION":
            name = str(node["function"].get("function_name", ""))
            if _folded(name) not in _TABLE_FUNCTIONS:
                raise QueryRefusedError(f"{name[:80] or 'this'} cannot be read; {_allowed(tables)}")
        elif kind == "SHOW_REF":
            raise QueryRefusedError(f"a query cannot describe or show tables; {_allowed(tables)}")
        elif kind == "RECURSIVE_CTE_NODE":
            raise QueryRefusedError(f"a query cannot recurse by itself; use the walks: {'; '.join(WALKS.values())}")
        elif str(kind).endswith("_NODE") and kind not in _READING:
            raise QueryRefusedError(f"a query only reads, also in its WITH; {_allowed(tables)}")
        if called := node.get("function_name"):
            _check_function(str(called), node, tables)


def _check_table(node: dict[str, Any], visible: Collection[str], tables: Collection[str]) -> None:
    name = str(node.get("table_name", ""))
    path = (node.get("qualified_name") or {}).get("path") or [name]
    if node.get("at_clause"):
        raise QueryRefusedError("a table is read as it is, without AT (VERSION or TIMESTAMP)")
    if node.get("schema_name") or node.get("catalog_name") or len(path) > 1 or _folded(name) not in visible:
        raise QueryRefusedError(f"there is no table {'.'.join(map(str, path))[:80]!r}; {_allowed(tables)}")


def _check_function(name: str, node: dict[str, Any], tables: Collection[str]) -> None:
    """Refuse a function that is not written down; all signs, such as ``||``, are functions that pass."""
    path = (node.get("qualified_name") or {}).get("path") or [name]
    is_allowed = _folded(name) in FUNCTIONS or _folded(name) in _TABLE_FUNCTIONS or not re.search(r"\w", name)
    if len(path) > 1 or not is_allowed:
        close = get_close_matches(_folded(name), FUNCTIONS, _CLOSE)
        instead = (
            f"similar ones are {', '.join(close)}" if close else "texts are joined with || and numbers get round()"
        )
        raise QueryRefusedError(f"the function {'.'.join(path)[:80]} is not for queries; {instead}; {_allowed(tables)}")


def _allowed(tables: Collection[str]) -> str:
    names = ", ".join(sql_name(name) for name in sorted(tables))
    return f"the tables are {names}; the walks are {'; '.join(WALKS.values())}"


def _to_be_quoted(text: str, tables: Mapping[str, Sequence[str]]) -> str:
    """Which names in a text are words of SQL, and must be in quotation marks to be read as names."""
    words = {word.lower() for word in re.findall(r"\w+", text)}
    names = {name for table, columns in tables.items() for name in (table, *columns) if name.lower() in words}
    reserved = sorted(quoted for name in names if (quoted := sql_name(name)) != name)
    return f"names that are words of SQL stand in double quotation marks: {', '.join(reserved)}" if reserved else ""


def _nodes(tree: Any, visible: frozenset[str]) -> Iterator[tuple[dict[str, Any], frozenset[str]]]:  # noqa: ANN401
    """All nodes, with the names of tables that are visible there.

    A name that WITH defines is visible in the statement that it belongs to, and in the definitions after its own.
    Anywhere else DuckDB takes it for a table, maybe one of its own.
    """
    pending = [(tree, visible)]
    while pending:
        node, visible = pending.pop()
        if isinstance(node, dict):
            yield node, visible
            for defined in (node.get("cte_map") or {}).get("map", []):
                pending.append((defined["value"], visible))
                visible |= {_folded(str(defined["key"]))}
            pending += [(value, visible) for key, value in node.items() if key != "cte_map"]
        elif isinstance(node, list):
            pending += [(each, visible) for each in node]


def _folded(name: str) -> str:
    """The name as DuckDB compares it, which ignores the case of ASCII letters only."""
    return name.encode().lower().decode()
