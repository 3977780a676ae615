"""The definition of our indexes on Azure AI Search: fields, vector and semantic search, and notes in the description.

``IndexStore`` creates and checks the index of one generation. Documents do not belong here.
"""

from typing import TYPE_CHECKING

from pydantic import ValidationError

from kb_pipeline.errors import IndexMismatchError
from kb_pipeline.records import Record
from kb_pipeline.search.azure.documents import (
    ACCESS,
    ADDRESSES,
    BESIDE,
    BLOCK,
    DEFERRED,
    KEY,
    OVERLONG,
    REST,
    REVISION,
    SEARCHED,
    TITLE_ORDER,
    VECTOR,
)
from kb_pipeline.search.azure.service import ContestedError, SearchService, checked_vectorizer, until_uncontested
from kb_pipeline.search.base import FACTS
from kb_pipeline.search.catalog import Generation, index_name
from kb_pipeline.settings import Settings

if TYPE_CHECKING:
    from azure.search.documents.indexes.models import (
        AzureOpenAIVectorizer,
        SearchField,
        SearchIndex,
        SemanticSearch,
        VectorSearch,
    )


PROFILE = "kb-vector"
_ALGORITHM, _COMPRESSION, _VECTORIZER = "kb-hnsw", "kb-int8", "kb-openai"
_OVERSAMPLING = 4.0
"""Candidates to compare again with their full vectors, as a multiple of the requested hits."""


def vector_search(generation: Generation, settings: Settings) -> "VectorSearch":
    """Approximate search by cosine; the settings decide about 8-bit vectors and a vectorizer.

    Raises:
        SettingsError: the service cannot embed questions with the model of this generation.
    """
    from azure.search.documents.indexes.models import (
        HnswAlgorithmConfiguration,
        HnswParameters,
        RescoringOptions,
        ScalarQuantizationCompression,
        ScalarQuantizationParameters,
        VectorSearch,
        VectorSearchProfile,
    )

    rescoring = RescoringOptions(
        enable_rescoring=True, default_oversampling=_OVERSAMPLING, rescore_storage_method="preserveOriginals"
    )
    int8 = ScalarQuantizationCompression(
        compression_name=_COMPRESSION,
        rescoring_options=rescoring,
        parameters=ScalarQuantizationParameters(quantized_data_type="int8"),
    )
    vectorizer = _vectorizer(generation, settings) if settings.search_vectorizer else None
    profile = VectorSearchProfile(
        name=PROFILE,
        algorithm_configuration_name=_ALGORITHM,
        compression_name=_COMPRESSION if settings.search_quantization else None,
        vectorizer_name=_VECTORIZER if vectorizer else None,
    )
    return VectorSearch(
        profiles=[profile],
        algorithms=[HnswAlgorithmConfiguration(name=_ALGORITHM, parameters=HnswParameters(metric="cosine"))],
        compressions=[int8] if settings.search_quantization else None,
        vectorizers=[vectorizer] if vectorizer else None,
    )


def _vectorizer(generation: Generation, settings: Settings) -> "AzureOpenAIVectorizer":
    from azure.search.documents.indexes.models import AzureOpenAIVectorizer, AzureOpenAIVectorizerParameters

    endpoint, model = checked_vectorizer(settings, generation.embedder)
    parameters = AzureOpenAIVectorizerParameters(
        resource_url=endpoint,
        deployment_name=dict(settings.openai_deployments).get(model, model),
        model_name=model,
    )
    return AzureOpenAIVectorizer(vectorizer_name=_VECTORIZER, parameters=parameters)


SEMANTIC = "kb-semantic"
_ANALYZER = "kb-words"


class Notes(Record):
    """The JSON in the description of an index: how it was made, and what preceded it when it last went live."""

    generation: Generation
    previous: Generation | None = None
    held: str | None = None
    switched_at: str | None = None


def notes_of(index: "SearchIndex") -> Notes | None:
    """Read the notes in the description; ``None`` if another program made the index."""
    try:
        return Notes.model_validate_json(index.description or "")
    except ValidationError:
        return None


def index_definition(name: str, generation: Generation, settings: Settings) -> "SearchIndex":
    """Define the index of a generation.

    Raises:
        SettingsError: the service cannot embed questions with the model of this generation.
    """
    from azure.search.documents.indexes.models import CustomAnalyzer, SearchIndex

    # Words are stemmed and stripped of accents, as in the embedded index.
    analyzer = CustomAnalyzer(
        name=_ANALYZER,
        tokenizer_name="standard_v2",
        token_filters=["lowercase", "asciifolding", "stopwords", "porter_stem"],
    )
    return SearchIndex(
        name=name,
        description=Notes(generation=generation).model_dump_json(),
        fields=_fields(generation.dimensions),
        analyzers=[analyzer],
        vector_search=vector_search(generation, settings),
        semantic_search=_semantic_search(),
    )


def _fields(dimensions: int) -> "list[SearchField]":
    from azure.search.documents.indexes.models import SearchField

    vector = SearchField(
        name=VECTOR,
        type="Collection(Edm.Single)",
        searchable=True,
        retrievable=False,
        stored=False,  # vectors are never read back, so the service need not keep a second copy
        vector_search_dimensions=dimensions,
        vector_search_profile_name=PROFILE,
    )
    return [
        _text(KEY, key=True, filterable=True, sortable=True),
        _text("article_id", filterable=True),
        _number("chunk_index"),
        _text("title", searchable=True),
        _text("section_header", filterable=True, searchable=True),
        _text("heading_path", many=True),
        _text("content", searchable=True),
        _text("image_urls", many=True),
        _text(ADDRESSES, many=True),
        _text("source_url"),
        _text("key_topics", many=True, filterable=True, facetable=True),
        _text(ACCESS, many=True, filterable=True),
        *(_text(name) for name in ("content_hash", "converter", "run_id", "embedding_model", REVISION, OVERLONG)),
        _text(SEARCHED, searchable=True, shown=False),
        vector,
        *(_text(name, filterable=True, sortable=True, facetable=True) for name in (BLOCK, *FACTS, "upload_date")),
        *(_number(name) for name in ("page_start", "page_end")),
        _text(TITLE_ORDER, sortable=True, shown=False),
        _text(BESIDE, searchable=True, shown=False),
        _text(REST),
        SearchField(name=DEFERRED, type="Edm.Boolean", filterable=True),
    ]


def _number(name: str) -> "SearchField":
    from azure.search.documents.indexes.models import SearchField

    return SearchField(
        name=name,
        type="Edm.Int32",
        filterable=True,
        sortable=True,
        facetable=False,
        searchable=False,
        retrievable=True,
    )


def _text(
    name: str,
    *,
    many: bool = False,
    key: bool = False,
    searchable: bool = False,
    filterable: bool = False,
    sortable: bool = False,
    facetable: bool = False,
    shown: bool = True,
) -> "SearchField":
    from azure.search.documents.indexes.models import SearchField

    return SearchField(
        name=name,
        type="Collection(Edm.String)" if many else "Edm.String",
        key=key,
        searchable=searchable,
        filterable=filterable,
        sortable=sortable,
        facetable=facetable,
        retrievable=shown,
        analyzer_name=_ANALYZER if searchable else None,
    )


def _semantic_search() -> "SemanticSearch":
    from azure.search.documents.indexes.models import (
        SemanticConfiguration,
        SemanticField,
        SemanticPrioritizedFields,
        SemanticSearch,
    )

    fields = SemanticPrioritizedFields(
        title_field=SemanticField(field_name="title"),
        content_fields=[SemanticField(field_name="content")],
        keywords_fields=[SemanticField(field_name="section_header")],
    )
    return SemanticSearch(
        default_configuration_name=SEMANTIC,
        configurations=[SemanticConfiguration(name=SEMANTIC, prioritized_fields=fields)],
    )


class IndexStore:
    """The index of one generation in the service.

    The definition is checked once: an index with the same id was made from the same settings.
    """

    def __init__(self, service: SearchService, generation: Generation) -> None:
        self.service = service
        self.generation = generation
        self.name = index_name(generation.id, service.settings.search_alias)
        self._definition: SearchIndex | None = None

    def open(self) -> "SearchIndex | None":
        """Return the definition as it was at the first call; ``None`` if the index does not exist.

        Raises:
            IndexMismatchError: it was made with other settings or by another program.
        """
        if self._definition is None:
            self._definition = self._checked(self.read())
        return self._definition

    def open_or_create(self) -> "SearchIndex":
        """Return the definition; create the index if it is missing, and update it if the settings need more of it.

        Raises:
            SearchError: other processes change it all the time.
        """
        return until_uncontested(self._try_open_or_create)

    def _try_open_or_create(self) -> "SearchIndex":
        target = index_definition(self.name, self.generation, self.service.settings)
        definition = self.open()
        if definition is not None:
            names = {field.name for field in definition.fields}
            new_fields = [field for field in target.fields if field.name not in names]
            if not new_fields and _vectorizers(definition) == _vectorizers(target):
                return definition
            target = _updated(definition, target, new_fields)
        # Other processes may do the same at the same time: the first one wins, and all read the definition again.
        is_written = self.service.put_index(target)
        self._definition = self._checked(self.read())
        if is_written and self._definition is not None:
            return self._definition
        raise ContestedError(f"the search index {self.name} in {self.service.place} is being changed by others")

    def read(self) -> "SearchIndex | None":
        """Read the current definition, whichever program made it."""
        return self.service.read_index(self.name)

    def forget(self) -> None:
        """Read the definition again next time, because the index is gone."""
        self._definition = None

    def _checked(self, definition: "SearchIndex | None") -> "SearchIndex | None":
        if definition is None:
            return None
        notes = notes_of(definition)
        if notes is None or not notes.generation.made_like(self.generation):
            raise IndexMismatchError(
                f"the search index {self.name} in {self.service.place} holds "
                f"{notes.generation if notes else 'the data of another program'}, but "
                f"{self.generation} is needed; choose another KB_SEARCH_ALIAS, or remove that index"
            )
        return definition


def _updated(current: "SearchIndex", wanted: "SearchIndex", new_fields: "list[SearchField]") -> "SearchIndex":
    """Add what can be added without rebuilding the index; compression, for one, cannot."""
    current.fields = [*current.fields, *new_fields]
    current_vectors, wanted_vectors = _vectors_of(current), _vectors_of(wanted)
    current_vectors.vectorizers = wanted_vectors.vectorizers
    for profile, wanted_profile in zip(current_vectors.profiles or [], wanted_vectors.profiles or [], strict=True):
        profile.vectorizer_name = wanted_profile.vectorizer_name
    return current


def _vectorizers(index: "SearchIndex") -> list[tuple[object, ...]]:
    """Return the parameters to compare, because the service adds defaults to a definition."""
    all_parameters = [getattr(vectorizer, "parameters", None) for vectorizer in _vectors_of(index).vectorizers or []]
    return [
        ((parameters.resource_url or "").rstrip("/"), parameters.deployment_name, parameters.model_name)
        for parameters in all_parameters
        if parameters
    ]


def _vectors_of(index: "SearchIndex") -> "VectorSearch":
    assert index.vector_search is not None  # all our indexes have vectors
    return index.vector_search
