"""Search requests to Azure AI Search: words without syntax, vectors, filters, reranking; and listing documents."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kb_pipeline.records import BlockType, Chunk, SearchHit
from kb_pipeline.search.azure.documents import (
    BESIDE,
    KEY,
    SEARCHED,
    VECTOR,
    Fields,
    after,
    hits,
    in_list,
    is_ranked_here,
    newest,
    odata,
    selected,
    to_chunk,
)
from kb_pipeline.search.azure.service import SearchService
from kb_pipeline.search.base import DocumentPage, Query, SearchFilter

if TYPE_CHECKING:
    from azure.search.documents.models import VectorQuery


CANDIDATES = 50
"""Hits of each half that a hybrid search fuses and that the semantic ranker reads."""
MOST_HITS = 1000
"""Most hits of one request: the limit of the service."""
_OPERATORS = re.compile(r'[+|"()*~\\]')


@dataclass(frozen=True)
class SearchOptions:
    """How to search an index: its fields, the fields it can filter by, and whether it reranks."""

    fields: Fields
    filterable: Fields
    semantic: str | None = None
    """Name of the semantic configuration by which hybrid hits are reranked; ``""`` for the index's default."""


def request(query: Query, options: SearchOptions) -> dict[str, Any]:
    """Return the arguments of the SDK's ``search``."""
    fields = options.fields
    words = plain_words(query.words)
    vectors = _vectors(query, fields)
    arguments: dict[str, Any] = {
        "search_text": words or None,
        "search_fields": fields.present(_searched(query)) or None,
        "vector_queries": vectors or None,
        "vector_filter_mode": "preFilter" if vectors else None,
        "filter": odata(query.filters, options.filterable),
        "select": selected(fields),
        "top": min(max(query.top, CANDIDATES) if is_ranked_here(fields) else query.top, MOST_HITS),
        "debug": "vector" if vectors else None,
    }
    if words and vectors and options.semantic is not None:
        arguments |= {
            "query_type": "semantic",
            "semantic_configuration_name": options.semantic or None,
            "semantic_error_mode": "partial",
            "semantic_query": query.question or None,
        }
    return arguments


def _searched(query: Query) -> list[str]:
    kinds = query.filters.block_type
    sections = [SEARCHED] if kinds is None or "text" in kinds else []
    return sections if kinds == ("text",) else [*sections, BESIDE]


def plain_words(words: str) -> str:
    """Remove the operators of the simple query syntax.

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


PAGE = 1000
"""Documents in one answer: the limit of the service."""
_VALUES = 500
"""Most values in one filter."""

Row = dict[str, Any]


class DocumentLister:
    """Lists the documents of one index under our field names."""

    def __init__(self, service: SearchService, index: str, fields: Fields) -> None:
        self._service = service
        self._index = index
        self._fields = fields

    def all(self, select: Sequence[str]) -> Iterator[Row]:
        """Yield every document with these of our fields."""
        return self._pages(None, select)

    def where(self, field: str, values: Collection[str], select: Sequence[str]) -> Iterator[Row]:
        """Yield the documents whose ``field`` has one of these values, with these of our fields."""
        distinct = list(dict.fromkeys(values))
        for start in range(0, len(distinct), _VALUES):
            yield from self._pages(in_list(self._fields[field], distinct[start : start + _VALUES]), select)

    def _pages(self, condition: str | None, select: Sequence[str]) -> Iterator[Row]:
        last = ""
        while True:
            page = self._page(after(last, condition, self._fields), select)
            yield from page
            if len(page) < PAGE:
                return
            last = page[-1][KEY]

    def _page(self, condition: str | None, select: Sequence[str]) -> list[Row]:
        with self._service.translated_errors(self._index):
            documents = self._service.documents(self._index).search(
                search_text="*",
                filter=condition,
                select=self._fields.present([KEY, *select]),
                order_by=[f"{self._fields[KEY]} asc"],
                top=PAGE,
            )
            return [self._fields.ours(document) for document in documents]


def count_kind(service: SearchService, index: str, block_type: BlockType, fields: Fields) -> int:
    """Count the rows of one kind, by which the index must be able to filter."""
    kind = odata(SearchFilter(block_type=(block_type,)), fields)
    with service.translated_errors(index):
        results = service.documents(index).search(search_text="*", filter=kind, top=0, include_total_count=True)
        return results.get_count() or 0


def list_rows(
    service: SearchService,
    index: str,
    filters: SearchFilter,
    options: SearchOptions,
    *,
    order_by: Sequence[str],
    gap: str = "",
    limit: int,
    offset: int = 0,
) -> DocumentPage:
    """List rows in the order of these clauses, without a search.

    ``gap`` is the field of the first clause if rows may lack it: they come last, which takes a request of its own.

    Raises:
        SearchError: the service cannot answer, or ``offset`` is beyond what it can skip.
    """
    if filters.lets_nothing_through:
        return DocumentPage(total=0, documents=())
    total = 0
    rows: list[Chunk] = []
    for condition in [f"{gap} ne null", f"{gap} eq null"] if gap else [""]:
        with service.translated_errors(index):
            results = service.documents(index).search(
                search_text="*",
                filter=" and ".join(filter(None, [odata(filters, options.filterable), condition])) or None,
                select=selected(options.fields),
                order_by=list(order_by) or None,
                skip=max(0, offset - total),
                top=limit - len(rows),
                include_total_count=True,
            )
            page = newest(list(results), options.fields)
            total += results.get_count() or 0
        rows += [to_chunk(row, options.fields) for row in page]
    return DocumentPage(total=total, documents=tuple(rows))


class Searcher:
    """Searches one index."""

    def __init__(self, service: SearchService, index: str, options: SearchOptions) -> None:
        self._service = service
        self._index = index
        self._options = options

    def search(self, query: Query) -> list[SearchHit]:
        """Return the best hits, best first.

        Raises:
            IndexMissingError: the index does not exist.
            SearchError: it cannot answer.
        """
        filters = query.filters
        words = bool(plain_words(query.words))
        vector = VECTOR in self._options.fields and (query.vector is not None or bool(query.question))
        # Do not send a request that can find nothing: without words and a vector, the service returns everything.
        if not query.top or filters.lets_nothing_through or not (words or vector):
            return []
        with self._service.translated_errors(self._index):
            results = list(self._service.documents(self._index).search(**request(query, self._options)))
        return hits(results, self._options.fields, words=words, vector=vector)[: query.top]
