"""The second index of another program, with one row per document: listed, searched by words, and looked up by id."""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from kb_pipeline.errors import SearchError
from kb_pipeline.records import HIDDEN, Chunk, DocumentSort, SearchHit
from kb_pipeline.search.azure.documents import ACCESS, KEY, Fields, selected, to_indexed_chunk
from kb_pipeline.search.azure.foreign_rows import DOCUMENT_ID
from kb_pipeline.search.azure.mapping import document_mapping
from kb_pipeline.search.azure.query import Searcher, list_rows
from kb_pipeline.search.azure.service import SearchService
from kb_pipeline.search.azure.shape import Shape, read_shape
from kb_pipeline.search.base import DocumentPage, IndexedChunk, Query, SearchFilter, folded

_MOST = 1000
"""Most documents that are read to do here what the index cannot: sort, or find those of a fact."""
_IDS = 500
"""Ids in one request."""

_VALUES: dict[DocumentSort, Callable[[Chunk], Any]] = {
    "title": lambda row: folded(row.title),
    "filename": lambda row: folded(row.filename),
    "document_type": lambda row: row.document and folded(row.document.document_type),
    "department": lambda row: row.document and folded(row.document.department),
    "author": lambda row: row.document and folded(row.document.author),
    "upload_date": lambda row: row.document and row.document.upload_date,
    "page_count": lambda row: row.document and row.document.page_count,
}


class ForeignDocuments:
    """The index of KB_SEARCH_DOCUMENTS_INDEX. Its access lists are enforced like those of blocks."""

    def __init__(self, service: SearchService, name: str) -> None:
        self.name = name
        self._service = service

    @cached_property
    def shape(self) -> Shape:
        """What can be searched.

        Raises:
            SettingsError: the settings map to fields that the index lacks or that are unsuitable.
            SearchError: the index does not exist, or cannot be reached.
        """
        return read_shape(self._service, self.name, document_mapping(self._service.settings))

    def count(self) -> int:
        """Number of documents."""
        with self._service.translated_errors(self.name):
            return self._service.documents(self.name).get_document_count()

    def page(
        self, filters: SearchFilter, sort: DocumentSort, *, descending: bool, limit: int, offset: int
    ) -> DocumentPage:
        """List the documents that meet the filter. What the index cannot sort by is sorted here.

        Raises:
            SearchError: the index cannot filter by a fact, or it cannot sort and too many documents meet the filter.
        """
        self._check_filterable(filters)
        order = {"page_count": "page_end"}.get(sort, sort)
        fields, filterable = self.shape.options.fields, self.shape.options.filterable
        by_key = filters.article_ids is not None and "article_id" not in filterable
        if by_key or (order in fields and not (order in self.shape.sortable and order in filterable)):
            why = f"meet the filter, and the index {self.name} cannot sort them by {sort}"
            rows = sorted(self._few(filters, why), key=lambda row: row.id)
            rows.sort(key=_VALUES[sort], reverse=descending)
            rows.sort(key=lambda row: not _VALUES[sort](row))  # those without the fact come last
            return DocumentPage(total=len(rows), documents=tuple(rows[offset : offset + limit]))
        clauses = [f"{fields[order]} {'desc' if descending else 'asc'}"] if order in fields else []
        tie = [f"{fields[KEY]} asc"] if KEY in self.shape.sortable else []
        return list_rows(
            self._service,
            self.name,
            filters,
            self.shape.options,
            order_by=[*clauses, *tie],
            gap=fields[order] if clauses else "",
            limit=limit,
            offset=offset,
        )

    def search(self, query: Query) -> list[SearchHit]:
        """Return the best documents by words, best first."""
        self._check_filterable(query.filters)
        hits = Searcher(self._service, self.name, self.shape.options).search(query)
        return [hit for hit in hits if admits(hit.chunk, query.filters, self.shape.options.filterable)]

    def ids(self, filters: SearchFilter) -> tuple[str, ...]:
        """Return the ids of the documents that meet the filter.

        Raises:
            SearchError: the index cannot filter by a fact, or too many documents meet the filter.
        """
        self._check_filterable(filters)
        facts = " and ".join([*filters.facts, *(["upload_date"] if filters.upload_date else [])])
        why = f"meet the filter by {facts}, which the index of their blocks does not know"
        rows = self._few(filters, why, ("article_id",))
        return tuple(dict.fromkeys(row.article_id for row in rows))

    def by_article(self, article_ids: Iterable[str], filters: SearchFilter) -> dict[str, Chunk]:
        """Map article id -> its document, as far as the access conditions of the filter let it be read."""
        access = {name: getattr(filters, name) for name in ("principals", "granted_articles", "denied_articles")}
        wanted = list(dict.fromkeys(article_ids))
        rows: list[Chunk] = []
        for start in range(0, len(wanted), _IDS):
            part = SearchFilter(article_ids=tuple(wanted[start : start + _IDS]), **access)
            rows += self._few(part, "share ids", ("article_id", "title", "filename", "source_url"))
        return {row.article_id: row for row in rows}

    def find(self, chunk_ids: Collection[str]) -> dict[str, Chunk]:
        """Map id -> the document row, of those that there are. Access lists are not looked at."""
        rows = ((chunk_id, self._read(chunk_id.removeprefix(DOCUMENT_ID))) for chunk_id in chunk_ids)
        return {chunk_id: row for chunk_id, row in rows if row is not None}

    def _check_filterable(self, filters: SearchFilter) -> None:
        wanted = [*filters.facts, *(["upload_date"] if filters.upload_date is not None else [])]
        if lacking := [name for name in wanted if name not in self.shape.options.filterable]:
            raise SearchError(
                f"the index {self.name} cannot be filtered by {lacking[0]}; name a filterable field for it in "
                "KB_SEARCH_DOCUMENT_FIELDS, or search without that filter"
            )

    def _few(self, filters: SearchFilter, why: str, only: Sequence[str] = ()) -> list[Chunk]:
        """Read all documents that meet the filter, or ``only`` these of our fields; ``why`` these documents.

        Raises:
            SearchError: there are too many.
        """
        options = self.shape.options
        if filters.article_ids is not None and "article_id" not in options.filterable:
            return self._few_by_key(filters)
        if only:
            names = {ours: name for ours, name in options.fields.names.items() if ours in (KEY, *only)}
            options = replace(options, fields=replace(options.fields, names=names))
        page = list_rows(self._service, self.name, filters, options, order_by=(), limit=_MOST)
        if page.total > len(page.documents):
            raise SearchError(
                f"{page.total:,} documents of the index {self.name} {why}; at most {_MOST:,} can be read for that, so "
                "limit them by other filters"
            )
        return list(page.documents)

    def _few_by_key(self, filters: SearchFilter) -> list[Chunk]:
        """Read documents by their keys, because the index cannot filter by them; others' are left out here."""
        fields = self.shape.options.fields
        if fields["article_id"] != fields[KEY]:
            raise SearchError(
                f"the index {self.name} cannot be filtered by {fields['article_id']}, by which documents are looked "
                "up; map a filterable field as doc_id in KB_SEARCH_DOCUMENT_FIELDS"
            )
        rows = [self._read(article_id) for article_id in dict.fromkeys(filters.article_ids or ())]
        return [row for row in rows if row is not None and filters.lets_read(row) and _has_facts(row, filters)]

    def _read(self, key: str) -> Chunk | None:
        row = read_by_key(self._service, self.name, key, self.shape)
        return row.chunk if row else None


def is_key(text: str) -> bool:
    """Whether a row of an index can have this key."""
    return re.fullmatch(r"[A-Za-z0-9_=-]{1,1024}", text) is not None


def read_by_key(service: SearchService, index: str, key: str, shape: Shape) -> IndexedChunk | None:
    """Read one row of another program's index; ``None`` if there is none, or if no row can have this key."""
    document = service.read_document(index, key, selected(shape.options.fields)) if is_key(key) else None
    return None if document is None else as_readable(to_indexed_chunk(document, shape.options.fields), shape)


def as_readable(row: IndexedChunk, shape: Shape) -> IndexedChunk:
    """Return a row that was read by its key; where nobody can tell who may read it, nobody may."""
    if not shape.hides_access_lists:
        return row
    return row.model_copy(update={"chunk": row.chunk.model_copy(update={ACCESS: (HIDDEN,)})})


def admits(chunk: Chunk, filters: SearchFilter, filterable: Fields) -> bool:
    """Whether the chunk meets the conditions that the index cannot filter by."""
    is_met = {
        "article_id": chunk.article_id not in filters.denied_articles
        and (filters.article_ids is None or chunk.article_id in filters.article_ids),
        "section_header": filters.section_header is None or chunk.section_header == filters.section_header,
        "key_topics": filters.key_topics is None or not set(filters.key_topics).isdisjoint(chunk.key_topics),
    }
    return all(met or field in filterable for field, met in is_met.items())


def _has_facts(row: Chunk, filters: SearchFilter) -> bool:
    first, last = filters.upload_date or ("", "")
    day = row.document.upload_date if row.document else ""
    on_time = filters.upload_date is None or (bool(day) and first <= day and (not last or day <= last))
    return on_time and all(folded(getattr(row.document, name)) in values for name, values in filters.facts.items())
