"""An index on Azure AI Search that another program fills: it is searched with its own field names, never written.

Conditions on fields that the index cannot filter by are checked on the hits. If it has no access control lists,
everybody sees everything.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kb_pipeline.errors import SearchError, SettingsError
from kb_pipeline.records import BlockType, Chunk, SearchHit
from kb_pipeline.search.azure.documents import (
    ACCESS,
    BESIDE,
    BLOCK,
    CHUNK_FIELDS,
    KEY,
    OVERLONG,
    REST,
    REVISION,
    SEARCHED,
    VECTOR,
    Fields,
    odata,
    selected,
    to_chunk,
    to_indexed_chunk,
)
from kb_pipeline.search.azure.query import Searcher, SearchOptions, count_kind
from kb_pipeline.search.azure.schema import notes_of
from kb_pipeline.search.azure.service import SearchRefusedError, SearchService
from kb_pipeline.search.base import (
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

if TYPE_CHECKING:
    from azure.search.documents.indexes.models import SearchField
    from azure.search.documents.indexes.models import SearchIndex as IndexDefinition


_FACTS = ("filename", "document_type", "department", "author", "language", "page_start", "page_end")
_KNOWN = (*CHUNK_FIELDS, "embedding_model", SEARCHED, VECTOR, BLOCK, *_FACTS)
_OF_OURS = (REVISION, OVERLONG, REST, BESIDE, "upload_date")
"""In an index of another program, fields with these names mean something else."""
_NO_ACCESS = "the field {} of {} must say who may read a document, but it is not a filterable collection of strings"


@dataclass(frozen=True)
class Shape:
    """How to search an index. ``dimensions`` of its vectors is 0 if unknown; ``embeds``: it embeds questions itself."""

    options: SearchOptions
    dimensions: int
    embeds: bool


def read_shape(service: SearchService, index: str) -> Shape:
    """Read the shape of the index.

    Raises:
        IndexNotThereError: the index does not exist.
        SearchRefusedError: the key is wrong, or the identity may not search the index.
        SettingsError: KB_SEARCH_FIELDS maps to fields that the index lacks or that are unsuitable.
    """
    settings = service.settings
    mapping = dict(settings.search_fields)
    if unknown := sorted(mapping.keys() - set(_KNOWN)):
        raise SettingsError(f"KB_SEARCH_FIELDS maps {unknown[0]!r}; our fields are: {', '.join(_KNOWN)}")
    try:
        definition = service.read_index(index)
    except SearchRefusedError:
        return _assumed_shape(service, index, mapping)
    if definition is None:
        raise service.missing(index)
    return _defined_shape(definition, mapping, settings.search_semantic, settings.search_vectorizer)


def _assumed_shape(service: SearchService, index: str, mapping: Mapping[str, str]) -> Shape:
    """The shape according to the mapping alone, because the definition cannot be read."""
    if not {KEY, "content"} <= mapping.keys():
        with service.translated_errors(index):  # credentials that may not even search it are the first thing to change
            service.documents(index).get_document_count()
    _require(mapping, "its definition cannot be read with these credentials")
    access = mapping.get(ACCESS, ACCESS)
    enforced = service.takes_filter(index, odata(SearchFilter(principals=()), Fields({ACCESS: access})) or "")
    if ACCESS in mapping and not enforced:
        raise SettingsError(_NO_ACCESS.format(access, index))
    fields = Fields({ours: name for ours, name in mapping.items() if ours != ACCESS})  # the list may not be readable
    filterable = Fields({**mapping, ACCESS: access}) if enforced else fields
    semantic = "" if service.settings.search_semantic else None
    return Shape(SearchOptions(fields, filterable, semantic), 0, service.settings.search_vectorizer)


def _defined_shape(definition: "IndexDefinition", mapping: Mapping[str, str], semantic: bool, embeds: bool) -> Shape:
    """The shape according to the definition of the index and the mapping."""
    defined = {field.name: field for field in definition.fields}
    if missing := [f"{ours} as {name}" for ours, name in mapping.items() if name not in defined]:
        raise SettingsError(f"KB_SEARCH_FIELDS maps {missing[0]}, and the index {definition.name} has no such field")
    candidates = (*_KNOWN, *_OF_OURS) if notes_of(definition) else _KNOWN
    mapped = {ours: mapping.get(ours, ours) for ours in candidates if mapping.get(ours, ours) in defined}
    if not notes_of(definition) and BLOCK not in mapping:
        mapped.pop(BLOCK, None)  # whatever a field of this name means, not our kinds of rows
    names = {
        ours: name
        for ours, name in mapped.items()
        if ours in (SEARCHED, BESIDE, VECTOR) or defined[name].retrievable is not False
    }
    names[KEY] = next((field.name for field in definition.fields if field.key), "")
    _require(names, "it has no field of that name")
    access = defined[mapped[ACCESS]] if ACCESS in mapped else None
    if access and not (access.filterable and str(access.type).startswith("Coll")):
        raise SettingsError(_NO_ACCESS.format(access.name, definition.name))
    filterable = {ours: name for ours, name in mapped.items() if defined[name].filterable}
    vector = defined.get(names.get(VECTOR, ""))
    options = SearchOptions(Fields(names), Fields(filterable), _semantic(definition) if semantic else None)
    return Shape(options, (vector and vector.vector_search_dimensions) or 0, embeds and _embeds(definition, vector))


def _require(names: Mapping[str, str], why: str) -> None:
    for field in (KEY, "content"):
        if field not in names:
            raise SettingsError(f"KB_SEARCH_FIELDS must say which field of KB_SEARCH_INDEX is {field}: {why}")


def _semantic(definition: "IndexDefinition") -> str:
    semantic = definition.semantic_search
    if semantic is None or not semantic.configurations:
        raise SettingsError(f"KB_SEARCH_SEMANTIC is set, and the index {definition.name} has no semantic configuration")
    return semantic.default_configuration_name or semantic.configurations[0].name


def _embeds(definition: "IndexDefinition", vector: "SearchField | None") -> bool:
    profiles = (definition.vector_search and definition.vector_search.profiles) or []
    return any(
        vector is not None and profile.name == vector.vector_search_profile_name and bool(profile.vectorizer_name)
        for profile in profiles
    )


_ID = "somebodys"
_KEY = re.compile(r"[A-Za-z0-9_=-]{1,1024}")


class ForeignIndex(SearchIndex):
    """The index of KB_SEARCH_INDEX."""

    def __init__(self, service: SearchService, name: str) -> None:
        super().__init__(service.settings.embedder, 0)
        self.name = name
        self._service = service

    @cached_property
    def shape(self) -> Shape:
        return read_shape(self._service, self.name)

    @property
    def embeds_questions(self) -> bool:
        return self.shape.embeds

    def entries(self, article_ids: Collection[str] | None = None) -> dict[str, dict[str, str]]:
        """Map article id -> chunk id -> content hash, "" if it has none.

        Only the first 100,000 chunks: the service lists no more of an index that cannot be sorted by key.
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
        chunks = [self._find(chunk_id) for chunk_id in dict.fromkeys(chunk_ids) if _KEY.fullmatch(chunk_id)]
        return [chunk for chunk in chunks if chunk is not None]

    def count(self) -> int:
        with self._service.translated_errors(self.name):
            return self._service.documents(self.name).get_document_count()

    def count_of(self, block_type: BlockType) -> int:
        filterable = self.shape.options.filterable
        if BLOCK not in filterable:
            return super().count_of(block_type)
        return count_kind(self._service, self.name, block_type, filterable)

    def _replace(self, articles: Mapping[str, Sequence[IndexEntry]]) -> None:
        raise self.read_only()

    def _set_readers(self, readers: Mapping[str, Sequence[str]]) -> None:
        raise self.read_only()

    def _search(self, query: Query) -> list[SearchHit]:
        self._check_filterable(query.filters)
        kinds = query.filters.block_type
        if BLOCK not in self.shape.options.filterable and kinds is not None and "text" not in kinds:
            return []
        hits = Searcher(self._service, self.name, self.shape.options).search(query)
        return [hit for hit in hits if _admits(hit.chunk, query.filters, self.shape.options.filterable)]

    def _check_filterable(self, filters: SearchFilter) -> None:
        limits = {"upload_date": filters.upload_date, "page_end": filters.page_start, "page_start": filters.page_end}
        wanted = [*filters.facts, *(name for name, limit in limits.items() if limit is not None)]
        if lacking := [name for name in wanted if name not in self.shape.options.filterable]:
            raise SearchError(
                f"the index {self.name} cannot be filtered by {lacking[0]}; name a filterable field for it in "
                "KB_SEARCH_FIELDS, or search without that filter"
            )

    def _find(self, key: str) -> IndexedChunk | None:
        select = selected(self._fields)
        document = self._service.read_document(self.name, key, select)
        return None if document is None else to_indexed_chunk(document, self._fields)

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

    def drop(self, generation_id: str) -> None:
        raise self._index.read_only()


def _admits(chunk: Chunk, filters: SearchFilter, filterable: Fields) -> bool:
    """Whether the chunk meets the conditions that the index cannot filter by."""
    is_met = {
        "article_id": filters.article_ids is None or chunk.article_id in filters.article_ids,
        "section_header": filters.section_header is None or chunk.section_header == filters.section_header,
        "key_topics": filters.key_topics is None or not set(filters.key_topics).isdisjoint(chunk.key_topics),
    }
    return all(met or field in filterable for field, met in is_met.items())
