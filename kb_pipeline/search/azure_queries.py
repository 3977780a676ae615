"""Questions as search requests of Azure AI Search: words without syntax, vectors, filters, reranking."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kb_pipeline.search.azure_fields import READ_FIELDS, SEARCHED, VECTOR, Fields
from kb_pipeline.search.azure_filters import odata
from kb_pipeline.search.base import Query

if TYPE_CHECKING:
    from azure.search.documents.models import VectorQuery

CANDIDATES = 50
"""Hits of each half that a hybrid search fuses, and that the semantic ranker looks at."""
MOST_HITS = 1000
"""Of one request: the service's limit."""
_OPERATORS = re.compile(r'[+|"()*~\\]')


@dataclass(frozen=True)
class Searching:
    """How an index is searched: its fields, those that can be filtered by, and what it can do beside."""

    fields: Fields
    filterable: Fields
    semantic: str | None = None
    """Name of the semantic configuration by which hybrid hits are reranked; ``""`` for the index's default."""


def request(query: Query, how: Searching) -> dict[str, Any]:
    """Arguments of the SDK's ``search`` for a query that can find something."""
    fields = how.fields
    words = plain_words(query.words)
    vectors = _vectors(query, fields)
    asked: dict[str, Any] = {
        "search_text": words or None,
        "search_fields": fields.present([SEARCHED]) or None,
        "vector_queries": vectors or None,
        "vector_filter_mode": "preFilter" if vectors else None,
        "filter": odata(query.filters, how.filterable),
        "select": fields.present(READ_FIELDS),
        "top": min(query.top, MOST_HITS),
        "debug": "vector" if vectors else None,
    }
    return asked | (_semantic(query, how.semantic) if words and vectors and how.semantic is not None else {})


def is_futile(query: Query) -> bool:
    """Whether it cannot find anything; without words, the service would find everything."""
    filters = query.filters
    nothing = filters.article_ids == () or filters.key_topics == ()
    return nothing or not query.top or not (plain_words(query.words) or has_vector(query))


def has_vector(query: Query) -> bool:
    """Whether it is (also) searched by meaning."""
    return query.vector is not None or bool(query.question)


def plain_words(words: str) -> str:
    """The words without what the simple query syntax takes for operators.

    https://learn.microsoft.com/azure/search/query-simple-syntax
    """
    parts = (part.lstrip("-") for part in _OPERATORS.sub(" ", words).split())
    return " ".join(part for part in parts if any(map(str.isalnum, part)))


def _vectors(query: Query, fields: Fields) -> "Sequence[VectorQuery]":
    from azure.search.documents.models import VectorizableTextQuery, VectorizedQuery

    if VECTOR not in fields:
        return []
    nearest, field = min(max(query.top, CANDIDATES), MOST_HITS), fields[VECTOR]
    if query.vector is not None:
        values = query.vector.astype(float).tolist()
        return [VectorizedQuery(vector=values, k_nearest_neighbors=nearest, fields=field)]
    if query.question:
        return [VectorizableTextQuery(text=query.question, k_nearest_neighbors=nearest, fields=field)]
    return []


def _semantic(query: Query, configuration: str) -> dict[str, Any]:
    return {
        "query_type": "semantic",
        "semantic_configuration_name": configuration or None,
        "semantic_error_mode": "partial",
        "semantic_query": query.question or None,
    }
