"""What to ask instead, in words that a model can follow: added to what DuckDB says of a query that failed."""

import re
from collections.abc import Mapping, Sequence

from kb_pipeline.network.local.gate import WALKS
from kb_pipeline.network.sql_names import sql_name

_NO_COLUMN = re.compile(r'(Referenced column|column named) "([^"]+)"')
_CALLS = "downstream('LINK-1', 4), neighbours('LINK-1'), common_causes(['VPN-1', 'VPN-2'], 4)"


def advice_on(error: str, text: str, columns: Mapping[str, Sequence[str]]) -> str:
    """What may help. ``columns`` are those of each table."""
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
