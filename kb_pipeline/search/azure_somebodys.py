"""An index on Azure AI Search that somebody else's program fills: searched, never written, with its own field names.

Conditions on fields that it cannot filter by are looked at in what was found; where it has no list of who may see
what, everybody sees everything.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property

import numpy as np

from kb_pipeline.errors import IndexMismatchError, SearchError, SettingsError
from kb_pipeline.records import Chunk, SearchHit
from kb_pipeline.search.azure_documents import to_chunk, to_indexed_chunk
from kb_pipeline.search.azure_fields import KEY, READ_FIELDS, Fields
from kb_pipeline.search.azure_filters import odata
from kb_pipeline.search.azure_searcher import Searcher
from kb_pipeline.search.azure_service import SearchService
from kb_pipeline.search.azure_shape import Shape, read_shape
from kb_pipeline.search.base import IndexedChunk, IndexEntry, Query, SearchFilter, SearchIndex, Vector
from kb_pipeline.search.catalog import Generation, IndexCatalog, LiveIndex
from kb_pipeline.settings import Settings

_ID = "somebodys"
_KEY = re.compile(r"[A-Za-z0-9_=-]{1,1024}")


class SomebodysIndex(SearchIndex):
    """The index of KB_SEARCH_INDEX."""

    def __init__(self, service: SearchService, name: str) -> None:
        """Name the index; nothing is read yet."""
        super().__init__(service.settings.embedder, 0)
        self.name = name
        self._service = service

    @cached_property
    def shape(self) -> Shape:
        """What it looks like, read once."""
        return read_shape(self._service, self.name)

    @property
    def embeds_questions(self) -> bool:
        """Whether it has a vectorizer, and the settings want it used."""
        return self.shape.embeds

    def entries(self, article_ids: Collection[str] | None = None) -> dict[str, dict[str, str]]:
        """What is indexed: article id -> chunk id -> content hash, ``""`` where it has none.

        All of it only up to 100,000 chunks: what cannot be sorted by key, the service lists no further.
        """
        fields = self._fields
        filters = SearchFilter(article_ids=None if article_ids is None else tuple(article_ids))
        found: dict[str, dict[str, str]] = {}
        with self._service.explained(self.name):
            documents = self._service.documents(self.name).search(
                search_text="*",
                filter=odata(filters, self.shape.searching.filterable),
                select=fields.present([KEY, "article_id", "content_hash"]),
            )
            for chunk in (to_chunk(document, fields) for document in documents):
                if article_ids is None or chunk.article_id in article_ids:
                    found.setdefault(chunk.article_id, {})[chunk.id] = chunk.content_hash
        return found

    def find(self, chunk_ids: Collection[str]) -> list[IndexedChunk]:
        """The chunks with these ids, in the order they are asked for."""
        found = [self._find(chunk_id) for chunk_id in dict.fromkeys(chunk_ids) if _KEY.fullmatch(chunk_id)]
        return [each for each in found if each is not None]

    def count(self) -> int:
        """Number of documents."""
        with self._service.explained(self.name):
            return self._service.documents(self.name).get_document_count()

    def doubled(self) -> set[str]:
        """Nothing ever: the service has one document for a key."""
        return set()

    def optimise(self) -> None:
        """Nothing: the service does it by itself."""

    def drop(self) -> None:
        """Refuse."""
        raise self.read_only()

    def _replace(self, articles: Mapping[str, Sequence[IndexEntry]]) -> None:
        raise self.read_only()

    def _search(self, query: Query) -> list[SearchHit]:
        found = Searcher(self._service, self.name, self.shape.searching).search(query)
        return [hit for hit in found if _admits(hit.chunk, query.filters, self.shape.searching.filterable)]

    def _find(self, key: str) -> IndexedChunk | None:
        select = self._fields.present(READ_FIELDS)
        document = self._service.read_document(self.name, key, select)
        return None if document is None else to_indexed_chunk(document, self._fields)

    def _checked_vector(self, vector: Vector | Sequence[float], owner: str) -> Vector:
        array = np.asarray(vector, np.float32)
        width = self.shape.dimensions or array.size
        if array.shape != (width,):
            raise IndexMismatchError(
                f"the vector of {owner} has shape {array.shape}, but the index {self.name} holds vectors with {width} "
                "dimensions; set KB_EMBEDDER to the model that made them"
            )
        if not np.isfinite(array).all():
            raise SearchError(f"the vector of {owner} holds values that are not finite; embed it again")
        return array

    @property
    def _fields(self) -> Fields:
        return self.shape.searching.fields

    def read_only(self) -> SettingsError:
        """The error for whoever wants to change it."""
        return SettingsError(
            f"KB_SEARCH_INDEX is {self.name}, an index of somebody else's that is only read; unset it to publish"
        )


class SomebodysCatalog(IndexCatalog):
    """One index, live for good."""

    def __init__(self, settings: Settings) -> None:
        """Check what is needed; nothing is sent yet.

        Raises:
            SettingsError: a setting is missing or cannot be right.
            MissingExtraError: the SDK is not installed.
        """
        self._index = SomebodysIndex(SearchService(settings), settings.search_index or "")
        self._embedder = settings.embedder

    def open(self, generation: Generation) -> SomebodysIndex:
        """The index, to search it; that of a generation to publish to there is none.

        Raises:
            SettingsError: it is to be published to.
        """
        if generation.id != _ID:
            raise self._index.read_only()
        return self._index

    def live(self) -> LiveIndex:
        """The index; which model made its vectors is what KB_EMBEDDER says."""
        return LiveIndex(
            generation=Generation(
                id=_ID,
                embedder=self._embedder,
                embedding_model=self._embedder,
                dimensions=self._index.shape.dimensions or 1,  # nobody told
                chunker=self._index.name,
                created_at="",
            ),
            switched_at="",
        )

    def switch(self, generation: Generation, *, held: str | None = None, at: str) -> LiveIndex:
        """Refuse."""
        raise self._index.read_only()

    def generations(self) -> list[Generation]:
        """The one that there is."""
        return [self.live().generation]

    def drop(self, generation_id: str) -> None:
        """Refuse."""
        raise self._index.read_only()


def _admits(chunk: Chunk, filters: SearchFilter, filterable: Fields) -> bool:
    """Whether a chunk meets the conditions that the index could not look at."""
    wanted = {
        "article_id": filters.article_ids is None or chunk.article_id in filters.article_ids,
        "section_header": filters.section_header is None or chunk.section_header == filters.section_header,
        "key_topics": filters.key_topics is None or not set(filters.key_topics).isdisjoint(chunk.key_topics),
    }
    return all(met or field in filterable for field, met in wanted.items())
