"""The layers of the flow. Each is made from the layers before it, one article at a time.

staged_article -> converted_markdown -> image_descriptions -> document_summary
  -> serving_article -> chunks -> chunk_embeddings -> search_index
"""

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

__all__ = ["ARTICLE_LAYERS", "FLOW", "LAYER_NAMES", "Layer", "LayerOutput", "LayerType", "Run", "SearchIndexLayer"]
