"""The index on Azure AI Search: one index of the service for each generation.

Not here: how articles are replaced (azure_publisher.py), what a query looks like (azure_queries.py).
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeVar

from kb_pipeline.errors import IndexMissingError
from kb_pipeline.records import SearchHit
from kb_pipeline.search.azure_documents import chunk_id_of, document_key, to_indexed_chunk
from kb_pipeline.search.azure_errors import missing
from kb_pipeline.search.azure_fields import KEY, OUR_FIELDS, READ_FIELDS
from kb_pipeline.search.azure_listing import Listing
from kb_pipeline.search.azure_publisher import Publisher
from kb_pipeline.search.azure_queries import Searching
from kb_pipeline.search.azure_schema import SEMANTIC
from kb_pipeline.search.azure_searcher import Searcher
from kb_pipeline.search.azure_service import SearchService
from kb_pipeline.search.azure_store import IndexStore
from kb_pipeline.search.base import IndexedChunk, IndexEntry, Query, SearchIndex
from kb_pipeline.search.catalog import Generation

T = TypeVar("T")


class AzureSearchIndex(SearchIndex):
    """The index of one generation."""

    def __init__(self, service: SearchService, generation: Generation) -> None:
        """Say which service, and how the entries are made; nothing is read or made yet."""
        super().__init__(generation.embedding_model, generation.dimensions)
        self._service = service
        self._store = IndexStore(service, generation)
        self._listing = Listing(service, self._store.name, OUR_FIELDS)
        self._publisher = Publisher(service, self._store.name, generation)
        semantic = SEMANTIC if service.settings.search_semantic else None
        self._searcher = Searcher(service, self._store.name, Searching(OUR_FIELDS, OUR_FIELDS, semantic))

    @property
    def embeds_questions(self) -> bool:
        """Whether its definition names a vectorizer, and the settings want it used."""
        if not self._service.settings.search_vectorizer:
            return False
        definition = self._store.open()
        return bool(definition and definition.vector_search and definition.vector_search.vectorizers)

    def entries(self, article_ids: Collection[str] | None = None) -> dict[str, dict[str, str]]:
        """What is indexed: article id -> chunk id -> content hash."""
        fields = ["article_id", "content_hash"]

        def read() -> dict[str, dict[str, str]]:
            listing = self._listing
            rows = listing.all(fields) if article_ids is None else listing.where("article_id", article_ids, fields)
            found: dict[str, dict[str, str]] = {}
            for row in rows:
                found.setdefault(row["article_id"], {})[chunk_id_of(row[KEY])] = row["content_hash"]
            return found

        return self._if_there(read, {})

    def find(self, chunk_ids: Collection[str]) -> list[IndexedChunk]:
        """The chunks with these ids, in the order they are asked for."""
        keys = [key for chunk_id in chunk_ids if (key := document_key(chunk_id))]

        def read() -> list[IndexedChunk]:
            rows = self._listing.where(KEY, keys, READ_FIELDS)
            found = {row[KEY]: to_indexed_chunk(row, OUR_FIELDS) for row in rows}
            return [found[key] for key in dict.fromkeys(keys) if key in found]

        return self._if_there(read, [])

    def count(self) -> int:
        """Number of documents."""

        def read() -> int:
            with self._service.explained(self._store.name):
                return self._service.documents(self._store.name).get_document_count()

        return self._if_there(read, 0)

    def doubled(self) -> set[str]:
        """Nothing ever: the service has one document for a key."""
        return set()

    def optimise(self) -> None:
        """Nothing to do but to see that the index is the right one: the service does it by itself."""
        self._store.open()

    def drop(self) -> None:
        """Remove the index; of one that readers use, which the service keeps while an alias names it, all documents."""
        if not self._service.delete_index(self._store.name):
            self._publisher.empty()
        self._store.forget()

    def _replace(self, articles: Mapping[str, Sequence[IndexEntry]]) -> None:
        if any(articles.values()):
            self._store.open_or_create()
            self._publisher.replace(articles)
        else:
            self._if_there(lambda: self._publisher.replace(articles), None)

    def _search(self, query: Query) -> list[SearchHit]:
        if self._store.open() is None:
            raise missing(self._store.name, self._service.place)
        return self._searcher.search(query)

    def _if_there(self, work: Callable[[], T], otherwise: T) -> T:
        """Do what needs the index, unless there is none."""
        if self._store.open() is None:
            return otherwise
        try:
            return work()
        except IndexMissingError:
            self._store.forget()
            return otherwise
