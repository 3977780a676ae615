"""How vectors are searched in our indexes on Azure AI Search: HNSW, quantisation, embedding of questions."""

from typing import TYPE_CHECKING

from kb_pipeline.search.azure_settings import checked_vectorizer
from kb_pipeline.search.catalog import Generation
from kb_pipeline.settings import Settings

if TYPE_CHECKING:
    from azure.search.documents.indexes.models import AzureOpenAIVectorizer, VectorSearch

PROFILE = "kb-vector"
_ALGORITHM, _COMPRESSION, _VECTORIZER = "kb-hnsw", "kb-int8", "kb-openai"
_OVERSAMPLING = 4.0
"""Candidates that are looked at again with their full vectors, as a multiple of those asked for."""


def vector_search(generation: Generation, settings: Settings) -> "VectorSearch":
    """Approximate search by cosine, over 8-bit vectors and with a vectorizer if the settings want that.

    Raises:
        SettingsError: the service cannot embed questions with this generation's model.
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
