"""The index of one generation on Azure AI Search.

How articles are replaced is in ``publish``, what requests look like in ``query``.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeVar

from kb_pipeline.errors import IndexMissingError
from kb_pipeline.records import BlockType, DocumentSort, SearchHit
from kb_pipeline.search.azure.documents import (
    KEY,
    OUR_FIELDS,
    READ_FIELDS,
    TITLE_ORDER,
    chunk_id_of,
    document_key,
    to_indexed_chunk,
)
from kb_pipeline.search.azure.publish import Publisher
from kb_pipeline.search.azure.query import DocumentLister, Searcher, SearchOptions, count_kind, list_rows
from kb_pipeline.search.azure.schema import SEMANTIC, IndexStore
from kb_pipeline.search.azure.service import SearchService
from kb_pipeline.search.base import (
    DocumentPage,
    IndexedChunk,
    IndexEntry,
    Query,
    SearchFilter,
    SearchIndex,
)
from kb_pipeline.search.catalog import Generation

T = TypeVar("T")


class AzureSearchIndex(SearchIndex):
    """The index of one generation."""

    def __init__(self, service: SearchService, generation: Generation) -> None:
        super().__init__(generation.embedding_model, generation.dimensions)
        self._service = service
        self._store = IndexStore(service, generation)
        self._publisher = Publisher(service, self._store.name, generation)
        self._semantic = SEMANTIC if service.settings.search_semantic else None

    @property
    def embeds_questions(self) -> bool:
        """Whether the definition has a vectorizer and the settings want it used."""
        if not self._service.settings.search_vectorizer:
            return False
        definition = self._store.open()
        return bool(definition and definition.vector_search and definition.vector_search.vectorizers)

    def entries(self, article_ids: Collection[str] | None = None) -> dict[str, dict[str, str]]:
        fields = ["article_id", "content_hash"]

        def read() -> dict[str, dict[str, str]]:
            listing = self._listing
            rows = listing.all(fields) if article_ids is None else listing.where("article_id", article_ids, fields)
            entries: dict[str, dict[str, str]] = {}
            for row in rows:
                entries.setdefault(row["article_id"], {})[chunk_id_of(row[KEY])] = row["content_hash"]
            return entries

        return self._if_exists(read, {})

    def find(self, chunk_ids: Collection[str]) -> list[IndexedChunk]:
        keys = [key for chunk_id in chunk_ids if (key := document_key(chunk_id))]

        def read() -> list[IndexedChunk]:
            rows = self._listing.where(KEY, keys, READ_FIELDS)
            chunks = {row[KEY]: to_indexed_chunk(row, OUR_FIELDS) for row in rows}
            return [chunks[key] for key in dict.fromkeys(keys) if key in chunks]

        return self._if_exists(read, [])

    def count(self) -> int:
        def read() -> int:
            with self._service.translated_errors(self._store.name):
                return self._service.documents(self._store.name).get_document_count()

        return self._if_exists(read, 0)

    def count_of(self, block_type: BlockType) -> int:
        return self._if_exists(lambda: count_kind(self._service, self._store.name, block_type, OUR_FIELDS), 0)

    def optimise(self) -> None:
        """Only check that the index is the right one; the service optimises by itself."""
        self._store.open()

    def _replace(self, articles: Mapping[str, Sequence[IndexEntry]]) -> None:
        if any(articles.values()):
            self._store.open_or_create()
            self._publisher.replace(articles)
        else:
            self._if_exists(lambda: self._publisher.replace(articles), None)

    def _set_readers(self, readers: Mapping[str, Sequence[str]]) -> None:
        def commit() -> None:
            self._store.open_or_create()
            self._publisher.set_readers(readers)

        self._if_exists(commit, None)

    def _search(self, query: Query) -> list[SearchHit]:
        if self._store.open() is None:
            raise self._service.missing(self._store.name)
        options = SearchOptions(OUR_FIELDS, OUR_FIELDS, self._semantic)
        return Searcher(self._service, self._store.name, options).search(query)

    def _documents(
        self, filters: SearchFilter, sort: DocumentSort, descending: bool, limit: int, offset: int
    ) -> DocumentPage:
        def read() -> DocumentPage:
            field = {"title": TITLE_ORDER, "page_count": "page_end"}.get(sort, sort)
            return list_rows(
                self._service,
                self._store.name,
                filters,
                SearchOptions(OUR_FIELDS, OUR_FIELDS),
                order_by=[f"{field} {'desc' if descending else 'asc'}", f"{KEY} asc"],
                gap="" if field == TITLE_ORDER else field,
                limit=limit,
                offset=offset,
            )

        return self._if_exists(read, DocumentPage(total=0, documents=()))

    @property
    def _listing(self) -> DocumentLister:
        return DocumentLister(self._service, self._store.name, OUR_FIELDS)

    def _if_exists(self, work: Callable[[], T], default: T) -> T:
        """Return the result of ``work``, or ``default`` if the index does not exist."""
        if self._store.open() is None:
            return default
        try:
            return work()
        except IndexMissingError:
            self._store.forget()
            return default
