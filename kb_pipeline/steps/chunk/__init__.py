"""An article's markdown becomes the chunks that are embedded, found and cited.

Here: where to cut, what to call the pieces, and what of them is embedded. Not here: vectors, the index.
"""

from kb_pipeline.steps.chunk.article import CHUNKER_VERSION, chunk_article
from kb_pipeline.steps.chunk.plain import embedding_text, plain_text

__all__ = ["CHUNKER_VERSION", "chunk_article", "embedding_text", "plain_text"]
