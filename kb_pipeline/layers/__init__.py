"""The flow, left to right: each layer is made from the ones before it, for one article at a time.

staged_article -> converted_markdown -> image_descriptions -> serving_article
  -> chunks -> chunk_embeddings -> search_index
"""

from kb_pipeline.layers.base import Layer, Made, Run
from kb_pipeline.layers.chunk_embeddings import ChunkEmbeddingsLayer
from kb_pipeline.layers.chunks import ChunksLayer
from kb_pipeline.layers.converted_markdown import ConvertedMarkdownLayer
from kb_pipeline.layers.image_descriptions import ImageDescriptionsLayer
from kb_pipeline.layers.search_index import SearchIndexLayer
from kb_pipeline.layers.serving_article import ServingArticleLayer
from kb_pipeline.layers.staged_article import StagedArticleLayer

ARTICLE_LAYERS: tuple[type[Layer], ...] = (
    StagedArticleLayer,
    ConvertedMarkdownLayer,
    ImageDescriptionsLayer,
    ServingArticleLayer,
    ChunksLayer,
    ChunkEmbeddingsLayer,
)
"""Made article by article, on all cores."""

FLOW: tuple[type[Layer] | type[SearchIndexLayer], ...] = (*ARTICLE_LAYERS, SearchIndexLayer)
"""All layers; the index is written in commits of many articles."""

LAYER_NAMES: tuple[str, ...] = tuple(layer.name for layer in FLOW)

__all__ = ["ARTICLE_LAYERS", "FLOW", "LAYER_NAMES", "Layer", "Made", "Run", "SearchIndexLayer"]
