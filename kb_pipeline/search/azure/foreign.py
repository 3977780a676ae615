"""Indexes on Azure AI Search that another program fills: searched with their own field names, never written.

One holds blocks; a second one may hold a row per document. Conditions on fields that an index cannot filter by are
checked on the hits. If an index has no access control lists, everybody sees everything in it.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from kb_pipeline.errors import SearchError, SettingsError
from kb_pipeline.records import BlockType, Chunk, DocumentSort, SearchHit
from kb_pipeline.search.azure.documents import BLOCK, KEY, Fields, in_list, odata, selected, to_chunk, to_indexed_chunk
from kb_pipeline.search.azure.foreign_documents import ForeignDocuments, admits, as_readable, is_key, read_by_key
from kb_pipeline.search.azure.foreign_rows import DOCUMENT_ID
from kb_pipeline.search.azure.mapping import block_mapping
from kb_pipeline.search.azure.query import Searcher, count_kind
from kb_pipeline.search.azure.service import SearchService
from kb_pipeline.search.azure.shape import Shape, read_shape
from kb_pipeline.search.base import (
    DocumentPage,
    IndexedChunk,
    IndexEntry,
    Query,
    SearchFilter,
    SearchIndex,
    Vector,
    checked_vector,
)
from kb_pipeline.search.catalog import Generation, IndexCatalog, LiveIndex
from kb_pipeline.settings import Settings

_ID = "somebodys"
"""The id of its one generation; ours are hashes, so none can have it."""
_KEYS = 500
"""Keys in one request."""
_FUSION = 60
"""Constant of reciprocal rank fusion, as the service has it."""


class ForeignIndex(SearchIndex):
    """The index of KB_SEARCH_INDEX, with that of KB_SEARCH_DOCUMENTS_INDEX for the rows of whole documents."""

    def __init__(self, service: SearchService, name: str) -> None:
        super().__init__(service.settings.embedder, 0)
        self.name = name
        self._service = service
        documents = service.settings.search_documents_index
        self.library = ForeignDocuments(service, documents) if documents else None

    @cached_property
    def shape(self) -> Shape:
        return read_shape(self._service, self.name, block_mapping(self._service.settings))

    @property
    def embeds_questions(self) -> bool:
        return self.shape.embeds

    def entries(self, article_ids: Collection[str] | None = None) -> dict[str, dict[str, str]]:
        """Map article id -> block id -> content hash, "" if it has none.

        Only the first 100,000 blocks: the service lists no more of an index that cannot be sorted by key.
        """
        fields = self._fields
        filters = SearchFilter(article_ids=None if article_ids is None else tuple(article_ids))
        entries: dict[str, dict[str, str]] = {}
        with self._service.translated_errors(self.name):
            documents = self._service.documents(self.name).search(
                search_text="*",
                filter=odata(filters, self.shape.options.filterable),
                select=fields.present([KEY, "article_id", "content_hash"]),
            )
            for chunk in (to_chunk(document, fields) for document in documents):
                if article_ids is None or chunk.article_id in article_ids:
                    entries.setdefault(chunk.article_id, {})[chunk.id] = chunk.content_hash
        return entries

    def find(self, chunk_ids: Collection[str]) -> list[IndexedChunk]:
        wanted = list(dict.fromkeys(chunk_ids))
        found = {row.chunk.id: row for row in self._read(wanted)}
        named = self._named([row.chunk for row in found.values()], SearchFilter())
        found = {chunk.id: found[chunk.id].model_copy(update={"chunk": chunk}) for chunk in named}
        if self.library:
            rows = self.library.find([chunk_id for chunk_id in wanted if chunk_id.startswith(DOCUMENT_ID)])
            found |= {key: IndexedChunk(chunk=row, embedding_model="") for key, row in rows.items()}
        return [found[chunk_id] for chunk_id in wanted if chunk_id in found]

    @property
    def without_access_lists(self) -> tuple[str, ...]:
        shapes = {self.name: self.shape, **({self.library.name: self.library.shape} if self.library else {})}
        return tuple(name for name, shape in shapes.items() if not shape.has_access_lists)

    def probe(self) -> None:
        self.count()
        if self.library:
            self.library.count()

    def count(self) -> int:
        with self._service.translated_errors(self.name):
            return self._service.documents(self.name).get_document_count()

    def count_of(self, block_type: BlockType) -> int:
        if block_type == "document" and self.library:
            return self.library.count()
        filterable = self.shape.options.filterable
        if BLOCK not in filterable:
            return super().count_of(block_type)
        return count_kind(self._service, self.name, block_type, filterable)

    def _replace(self, articles: Mapping[str, Sequence[IndexEntry]]) -> None:
        raise self.read_only()

    def _set_readers(self, readers: Mapping[str, Sequence[str]]) -> None:
        raise self.read_only()

    def _search(self, query: Query) -> list[SearchHit]:
        kinds = query.filters.block_type
        if self.library is None or (kinds is not None and "document" not in kinds):
            return self._search_blocks(query)
        documents = self.library.search(query)
        others = None if kinds is None else tuple(kind for kind in kinds if kind != "document")
        if others == ():
            return documents
        of_blocks = query.filters.model_copy(update={"block_type": others})
        return _fused(self._search_blocks(replace(query, filters=of_blocks)), documents)[: query.top]

    def _search_blocks(self, query: Query) -> list[SearchHit]:
        query = replace(query, filters=self._within_documents(query.filters))
        filterable, kinds = self.shape.options.filterable, query.filters.block_type
        if BLOCK not in filterable and kinds is not None and "text" not in kinds:
            return []
        hits = Searcher(self._service, self.name, self.shape.options).search(query)
        admitted = [hit for hit in hits if admits(hit.chunk, query.filters, filterable)]
        named = self._named([hit.chunk for hit in admitted], query.filters)
        return [hit.model_copy(update={"chunk": chunk}) for hit, chunk in zip(admitted, named, strict=True)]

    def _documents(
        self, filters: SearchFilter, sort: DocumentSort, descending: bool, limit: int, offset: int
    ) -> DocumentPage:
        if self.library is None:
            return super()._documents(filters, sort, descending, limit, offset)
        return self.library.page(filters, sort, descending=descending, limit=limit, offset=offset)

    def _within_documents(self, filters: SearchFilter) -> SearchFilter:
        """Replace the facts by which blocks cannot be filtered by the ids of the documents that have them.

        Raises:
            SearchError: there is no index of documents to ask, or the pages of blocks are asked for.
        """
        pages = {"page_end": filters.page_start, "page_start": filters.page_end}
        facts = [*filters.facts, *(["upload_date"] if filters.upload_date is not None else [])]
        wanted = [*facts, *(name for name, limit in pages.items() if limit is not None)]
        lacking = [name for name in wanted if name not in self.shape.options.filterable]
        if not lacking:
            return filters
        if self.library is None or not set(lacking) <= set(facts):
            name = next(name for name in lacking if self.library is None or name in pages)
            raise SearchError(
                f"the index {self.name} cannot be filtered by {name}; name a filterable field for it in "
                "KB_SEARCH_FIELDS, or search without that filter"
            )
        # documents are asked for what blocks lack, and for nothing that only blocks have
        others = dict.fromkeys((*facts, "section_header", "key_topics", "page_start", "page_end"))
        sought = filters.model_copy(
            update={**others, **{name: getattr(filters, name) for name in lacking}, "block_type": None}
        )
        return filters.model_copy(update={**dict.fromkeys(lacking), "article_ids": self.library.ids(sought)})

    def _read(self, keys: Sequence[str]) -> Iterator[IndexedChunk]:
        """Read blocks by their keys: many at once, if the index can be filtered by them."""
        if KEY not in self.shape.options.filterable:
            rows = (read_by_key(self._service, self.name, key, self.shape) for key in keys)
            yield from (row for row in rows if row is not None)
            return
        legal = [key for key in keys if is_key(key)]
        for start in range(0, len(legal), _KEYS):
            condition = in_list(self.shape.options.filterable[KEY], legal[start : start + _KEYS])
            with self._service.translated_errors(self.name):
                results = self._service.documents(self.name).search(
                    search_text="*", filter=condition, select=selected(self._fields), top=_KEYS
                )
                yield from (as_readable(to_indexed_chunk(row, self._fields), self.shape) for row in results)

    def _named(self, blocks: Sequence[Chunk], filters: SearchFilter) -> list[Chunk]:
        """Give blocks the title and the file of their documents, where their index has no fields for them.

        Only those of documents that may be read according to the filter.
        """
        if self.library is None or {"title", "filename"} <= self._fields.names.keys() or not blocks:
            return list(blocks)
        documents = self.library.by_article((block.article_id for block in blocks), filters)
        return [_with_names(block, documents.get(block.article_id)) for block in blocks]

    def _checked_vector(self, vector: Vector | Sequence[float], owner: str) -> Vector:
        width = self.shape.dimensions or np.size(vector)
        right = f"vectors with {width} dimensions; set KB_EMBEDDER to the model that made them"
        return checked_vector(vector, owner, width, f"the index {self.name} holds {right}")

    @property
    def _fields(self) -> Fields:
        return self.shape.options.fields

    def read_only(self) -> SettingsError:
        """Make the error for an attempt to change the index."""
        return SettingsError(
            f"KB_SEARCH_INDEX is {self.name}, an index of another program that is only read; unset it to publish"
        )


def _with_names(block: Chunk, document: Chunk | None) -> Chunk:
    if document is None:
        return block
    facts: dict[str, object] = {} if block.filename else {"filename": document.filename}
    if not block.title:
        facts |= {"title": document.title, "section_header": block.section_header or document.title}
        facts |= {"heading_path": block.heading_path or (document.title,)}
    return block.model_copy(update=facts)


def _fused(*lists: Sequence[SearchHit]) -> list[SearchHit]:
    """Merge hits whose scores cannot be compared, by their ranks."""
    ranked = [
        hit.model_copy(update={"score": 1 / (_FUSION + rank)}) for hits in lists for rank, hit in enumerate(hits, 1)
    ]
    return sorted(ranked, key=lambda hit: -hit.score)


class ForeignCatalog(IndexCatalog):
    """A catalog of one index, which is always live."""

    def __init__(self, settings: Settings) -> None:
        self._index = ForeignIndex(SearchService(settings), settings.search_index or "")
        self._embedder = settings.embedder

    def open(self, generation: Generation) -> ForeignIndex:
        """Return the index to search it; there is no other generation to publish to.

        Raises:
            SettingsError: the generation is not the one of this index.
        """
        if generation.id != _ID:
            raise self._index.read_only()
        return self._index

    def live(self) -> LiveIndex:
        """Return the index; KB_EMBEDDER says which model made its vectors."""
        return LiveIndex(
            generation=Generation(
                id=_ID,
                embedder=self._embedder,
                embedding_model=self._embedder,
                dimensions=self._index.shape.dimensions or 1,  # unknown
                chunker=self._index.name,
                created_at="",
            ),
            switched_at="",
        )

    def switch(self, generation: Generation, *, held: str | None = None, at: str) -> LiveIndex:
        raise self._index.read_only()

    def generations(self) -> list[Generation]:
        return [self.live().generation]

    def contents(self) -> list[str]:
        """Nothing is ours here."""
        return []

    def clear(self) -> None:
        """Change nothing: the index belongs to another program."""

    def drop(self, generation_id: str) -> None:
        raise self._index.read_only()
