"""Filters as OData in the dialect of Azure AI Search: the only place where values meet its syntax.

https://learn.microsoft.com/azure/search/query-odata-filter-orderby-syntax
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence

from kb_pipeline.search.azure_fields import ACCESS, KEY, Fields
from kb_pipeline.search.base import SearchFilter

LONGEST_TERM = 32_766
"""Bytes in UTF-8 of a string that can be filtered by (Lucene's limit of a term)."""
_DELIMITERS = (",", "|", ";", *map(chr, range(0xE000, 0xE100)))


def term(value: str) -> str:
    """What a value is filtered by: itself, or what stands for it if it is too long."""
    whole = value.encode("utf-8", "replace")
    return value if len(whole) <= LONGEST_TERM else f"sha256:{hashlib.sha256(whole).hexdigest()}"


def odata(filters: SearchFilter, fields: Fields) -> str | None:
    """The condition that a document must meet, or ``None`` when every one does.

    What the index has no field for is left out; its readers then look at what was found.
    """
    conditions = []
    if filters.article_ids is not None and "article_id" in fields:
        conditions.append(in_list(fields["article_id"], filters.article_ids))
    if filters.section_header is not None and "section_header" in fields:
        conditions.append(in_list(fields["section_header"], [filters.section_header]))
    if filters.key_topics is not None and "key_topics" in fields:
        conditions.append(_overlaps(fields["key_topics"], filters.key_topics))
    if filters.principals is not None and ACCESS in fields:
        for_all = f"not {fields[ACCESS]}/any()"
        named = _overlaps(fields[ACCESS], filters.principals)
        conditions.append(for_all if named == "false" else f"({for_all} or {named})")
    return " and ".join(conditions) or None


def in_list(field: str, values: Iterable[str]) -> str:
    """The field's value is one of ``values``; never, if there are none."""
    return _any_of(values, lambda test: test(field))


def after(key: str, condition: str | None, fields: Fields) -> str | None:
    """The condition, of documents behind the one with that key only; ``""`` is before all of them."""
    behind = f"{fields[KEY]} gt {literal(key)}" if key else None
    return " and ".join(each for each in (behind, condition) if each) or None


def literal(value: str) -> str:
    """A string literal; what is no valid text (a lone surrogate) becomes U+FFFD."""
    readable = value.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return "'" + readable.replace("'", "''") + "'"


Test = Callable[[str], str]
"""The condition that an operand meets."""


def _overlaps(field: str, values: Iterable[str]) -> str:
    # one "any" for each test: within one, only some combinations of them are allowed
    return _any_of(values, lambda test: f"{field}/any(each: {test('each')})")


def _any_of(values: Iterable[str], apply: Callable[[Test], str]) -> str:
    conditions = [apply(test) for test in _tests(list(dict.fromkeys(map(term, values))))]
    return conditions[0] if len(conditions) == 1 else f"({' or '.join(conditions)})" if conditions else "false"


def _tests(values: Sequence[str]) -> list[Test]:
    """Equality with each; as many as possible in one ``search.in``, which takes thousands where ``or`` takes hundreds.

    What it would trim or leave out, or what holds every delimiter, is compared by itself.
    """
    listable = [value for value in values if value and value == value.strip()]
    delimiter = next((each for each in _DELIMITERS if not any(each in value for value in listable)), None)
    if delimiter is None or len(listable) < 2:
        return list(map(_equals, values))
    listed = f"{literal(delimiter.join(listable))}, {literal(delimiter)}"
    alone = [value for value in values if not value or value != value.strip()]
    return [lambda operand: f"search.in({operand}, {listed})", *map(_equals, alone)]


def _equals(value: str) -> Test:
    return lambda operand: f"{operand} eq {literal(value)}"
