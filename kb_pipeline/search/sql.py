"""Filters as SQL (DataFusion's dialect): the only place where values meet SQL text."""

from collections.abc import Iterable

from kb_pipeline.search.base import SearchFilter


def where(filters: SearchFilter, *, marked: bool = True) -> str | None:
    """The condition that a row must meet, or ``None`` when every row does.

    ``marked`` says that the table has the column ``restricted``, in which an index finds what is for everybody.
    """
    conditions = []
    if filters.article_ids is not None:
        conditions.append(in_list("article_id", filters.article_ids))
    if filters.section_header is not None:
        conditions.append(in_list("section_header", [filters.section_header]))
    if filters.key_topics is not None:
        conditions.append(_overlaps("key_topics", filters.key_topics))
    if filters.principals is not None:
        # with "= false", Lance makes a list of the rows that are not meant, which costs three times as much to ask when
        # the vector index has more than one segment
        public = "restricted IS FALSE" if marked else "empty(access_control_list)"
        named = _overlaps("access_control_list", filters.principals)
        conditions.append(f"({public} OR {named})" if filters.principals else public)
    return " AND ".join(conditions) or None


def in_list(column: str, values: Iterable[str]) -> str:
    """The column's value is one of ``values``; never, if there are none."""
    literals = ", ".join(map(literal, values))
    return f"{column} IN ({literals})" if literals else "false"


def literal(value: str) -> str:
    """A string literal; what is no valid text (a lone surrogate) becomes U+FFFD."""
    readable = value.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return "'" + readable.replace("'", "''") + "'"


def _overlaps(column: str, values: Iterable[str]) -> str:
    literals = ", ".join(map(literal, values))
    return f"array_has_any({column}, make_array({literals}))" if literals else "false"
