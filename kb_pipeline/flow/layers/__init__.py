"""The layers of the flow. Each is made from the layers before it, one article at a time.

staged_article -> converted_markdown -> image_descriptions -> document_summary
  -> serving_article -> chunks -> chunk_embeddings -> search_index
"""

from kb_pipeline.errors import SettingsError
from kb_pipeline.flow.layers.base import Layer, LayerOutput, Run
from kb_pipeline.flow.layers.chunk_embeddings import ChunkEmbeddingsLayer
from kb_pipeline.flow.layers.chunks import ChunksLayer
from kb_pipeline.flow.layers.converted_markdown import ConvertedMarkdownLayer
from kb_pipeline.flow.layers.document_summary import DocumentSummaryLayer
from kb_pipeline.flow.layers.image_descriptions import ImageDescriptionsLayer
from kb_pipeline.flow.layers.search_index import SearchIndexLayer
from kb_pipeline.flow.layers.serving_article import ServingArticleLayer
from kb_pipeline.flow.layers.staged_article import StagedArticleLayer

ARTICLE_LAYERS: tuple[type[Layer], ...] = (
    StagedArticleLayer,
    ConvertedMarkdownLayer,
    ImageDescriptionsLayer,
    DocumentSummaryLayer,
    ServingArticleLayer,
    ChunksLayer,
    ChunkEmbeddingsLayer,
)
"""The layers that workers make, article by article."""

LayerType = type[Layer] | type[SearchIndexLayer]

FLOW: tuple[LayerType, ...] = (*ARTICLE_LAYERS, SearchIndexLayer)
"""All layers. The index is written by the main process, many articles in one commit."""

LAYER_NAMES: tuple[str, ...] = tuple(layer.name for layer in FLOW)


def layers_between(first: str | None, last: str | None) -> tuple[LayerType, ...]:
    """Return the layers from ``first`` to ``last``, both included; None for the beginning or the end of the flow.

    Raises:
        SettingsError: there is no such layer, or the last one comes before the first.
    """
    for name in (first, last):
        if name is not None and name not in LAYER_NAMES:
            raise SettingsError(f"there is no layer {name!r}; the layers are, in order: {', '.join(LAYER_NAMES)}")
    start = LAYER_NAMES.index(first) if first else 0
    end = LAYER_NAMES.index(last) if last else len(LAYER_NAMES) - 1
    if end < start:
        raise SettingsError(f"{last} comes before {first}; the layers are, in order: {', '.join(LAYER_NAMES)}")
    return FLOW[start : end + 1]


__all__ = [
    "ARTICLE_LAYERS",
    "FLOW",
    "LAYER_NAMES",
    "Layer",
    "LayerOutput",
    "LayerType",
    "Run",
    "SearchIndexLayer",
    "layers_between",
]
