"""How the name of a table or column stands in SQL: in quotation marks where it would be read as a word of SQL."""

import re

_PLAIN = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_RESERVED = frozenset("""
    all analyse analyze and anti any array as asc asof asymmetric at authorization binary both by case cast check
    collate collation column columns concurrently constraint create cross default deferrable desc describe distinct do
    else end except false fetch for foreign freeze from full generated glob group having ilike in initially inner
    intersect into is isnull join lambda lateral leading left like limit map natural not notnull null offset on only or
    order outer overlaps pivot pivot_longer pivot_wider placing positional primary qualify references returning right
    select semi show similar some struct summarize symmetric table tablesample then to top trailing true try_cast tuple
    union unique unpack unpivot using value variadic verbose when where window with
""".split())  # fmt: skip
"""Words of DuckDB and of Azure Cosmos DB that are no names by themselves."""


def sql_name(name: str) -> str:
    """The name as a query has it: ``"order"``, but ``alerts``."""
    if _PLAIN.fullmatch(name) and name.lower() not in _RESERVED:
        return name
    return '"' + name.replace('"', '""') + '"'
