"""The definition of our indexes on Azure AI Search: the schema ``kb-articles``, and what its description says.

Not here: how vectors are searched (azure_vectors.py), how it is sent (azure_store.py).
"""

from typing import TYPE_CHECKING

from pydantic import ValidationError

from kb_pipeline.records import Record
from kb_pipeline.search.azure_fields import ACCESS, KEY, OVERLONG, REVISION, SEARCHED, VECTOR
from kb_pipeline.search.azure_vectors import PROFILE, vector_search
from kb_pipeline.search.catalog import Generation
from kb_pipeline.settings import Settings

if TYPE_CHECKING:
    from azure.search.documents.indexes.models import (
        CustomAnalyzer,
        SearchField,
        SearchIndex,
        SemanticSearch,
    )

SEMANTIC = "kb-semantic"
_ANALYZER = "kb-words"


class Notes(Record):
    """What an index's description says as JSON: how it was made, and what came before it when it last went live."""

    generation: Generation
    previous: Generation | None = None
    held: str | None = None
    switched_at: str | None = None


def notes_of(index: "SearchIndex") -> Notes | None:
    """What the description says; ``None`` for an index that is not of our making."""
    try:
        return Notes.model_validate_json(index.description or "")
    except ValidationError:
        return None


def index_definition(name: str, generation: Generation, settings: Settings) -> "SearchIndex":
    """The index of a generation.

    Raises:
        SettingsError: the service cannot embed questions with this generation's model.
    """
    from azure.search.documents.indexes.models import SearchIndex

    return SearchIndex(
        name=name,
        description=Notes(generation=generation).model_dump_json(),
        fields=_fields(generation.dimensions),
        analyzers=[_analyzer()],
        vector_search=vector_search(generation, settings),
        semantic_search=_semantic_search(),
    )


def _fields(dimensions: int) -> "list[SearchField]":
    return [
        _text(KEY, key=True, filterable=True, sortable=True),
        _text("article_id", filterable=True),
        _number("chunk_index"),
        _text("title", searchable=True),
        _text("section_header", filterable=True, searchable=True),
        _text("heading_path", many=True),
        _text("content", searchable=True),
        _text("image_urls", many=True),
        _text("source_url"),
        _text("key_topics", many=True, filterable=True, facetable=True),
        _text(ACCESS, many=True, filterable=True),
        *(_text(name) for name in ("content_hash", "converter", "run_id", "embedding_model", REVISION, OVERLONG)),
        _text(SEARCHED, searchable=True, shown=False),
        _vector(dimensions),
    ]


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


def _number(name: str) -> "SearchField":
    from azure.search.documents.indexes.models import SearchField

    return SearchField(
        name=name, type="Edm.Int32", filterable=True, sortable=True, facetable=False, searchable=False, retrievable=True
    )


def _vector(dimensions: int) -> "SearchField":
    from azure.search.documents.indexes.models import SearchField

    return SearchField(
        name=VECTOR,
        type="Collection(Edm.Single)",
        searchable=True,
        retrievable=False,
        stored=False,  # nobody reads vectors back, so no second copy of them is kept
        vector_search_dimensions=dimensions,
        vector_search_profile_name=PROFILE,
    )


def _analyzer() -> "CustomAnalyzer":
    """Words in any form and without accents, as in the embedded index."""
    from azure.search.documents.indexes.models import CustomAnalyzer

    return CustomAnalyzer(
        name=_ANALYZER,
        tokenizer_name="standard_v2",
        token_filters=["lowercase", "asciifolding", "stopwords", "porter_stem"],
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
