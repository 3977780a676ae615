"""Random texts for the queries of a network, and what the answer to each must be."""

import httpx
from hypothesis import strategies as st

ANSWERS = {
    "/query/graph": {"columns", "data", "truncated", "seconds", "error"},
    "/query/telemetry": {"columns", "rows", "truncated", "seconds", "error"},
    "/query/topology": {"nodes", "edges", "meta", "error"},
}
_TABLES = ("vertices", "edges", "alerts", "link_metrics", "downstream('LINK-SYD-MEL', 2)", "neighbours('X')")
_VALUES = (
    "*",
    "id",
    "severity",
    "latency_ms",
    "count(*)",
    "x",
    "1",
    "-1",
    "1e999",
    "NULL",
    "'é'",
    "[1, 'x']",
    "{'a': 1}",
)
_TAILS = ("WHERE severity = 'MAJOR'", "GROUP BY ALL", "ORDER BY 1", "LIMIT 3", "LIMIT -1", "JOIN edges ON true", "AS x",
          "UNION SELECT 1", "WHERE latency_ms / 0 > id", "HAVING 1", "OFFSET 9999999999999999999")  # fmt: skip
_SIGNS = (
    "(",
    ")",
    "[",
    "]",
    "'",
    '"',
    "''",
    ";",
    "--",
    "/*",
    ",",
    "=",
    "::",
    "->",
    "g.",
    "V()",
    "\0",
    "\u2028",
    "WITH",
)
_PARTS = st.sampled_from(("SELECT", "FROM", *_TABLES, *_VALUES, *_TAILS, *_SIGNS))
_STATEMENTS = st.tuples(
    st.lists(st.sampled_from(_VALUES), min_size=1, max_size=3).map(", ".join),
    st.sampled_from(_TABLES),
    st.lists(st.sampled_from(_TAILS), max_size=3).map(" ".join),
).map(lambda parts: "SELECT {} FROM {} {}".format(*parts))
TEXTS = st.one_of(st.text(max_size=200), st.lists(_PARTS, max_size=20).map(" ".join), _STATEMENTS)


def fault(path: str, reply: httpx.Response) -> str:
    """What is wrong with an answer; empty if it is what a client may count on."""
    if reply.status_code not in (200, 400):  # 400: the text is none, as a lone surrogate
        return f"status {reply.status_code}"
    answer = reply.json()
    if answer.keys() != (ANSWERS[path] if reply.status_code == 200 else {"error"}):
        return f"keys {', '.join(answer)}"
    # the words for what nobody foresaw: the log has a traceback
    return "unforeseen" if "the service's log" in str(answer["error"]) else ""
