"""Turn an article's markdown into chunks to embed, retrieve and cite.

Here: where to cut, ids and titles of chunks, and the passages that are embedded. Not here: vectors, the index.
"""

from kb_pipeline.steps.chunk.article import CHUNKER_VERSION, chunk_article, seen_hash, with_readers
from kb_pipeline.steps.chunk.passages import passages_of
from kb_pipeline.steps.chunk.plain import embedding_text, plain_text
from kb_pipeline.steps.chunk.rows import ROWS_VERSION, rows_beside

__all__ = [
    "CHUNKER_VERSION",
    "ROWS_VERSION",
    "chunk_article",
    "embedding_text",
    "passages_of",
    "plain_text",
    "rows_beside",
    "seen_hash",
    "with_readers",
]
