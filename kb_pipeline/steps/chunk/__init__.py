"""Turn an article's markdown into chunks to embed, retrieve and cite.

Here: where to cut, ids and titles of chunks, and the passages that are embedded. Not here: vectors, the index.
"""

from kb_pipeline.steps.chunk.article import CHUNKER_VERSION, chunk_article, seen_hash, with_readers
from kb_pipeline.steps.chunk.cutting import passages_of
from kb_pipeline.steps.chunk.deferred import (
    Titles,
    backlog_items,
    deferring_titles,
    is_deferred,
    titles_of,
    without_deferred,
)
from kb_pipeline.steps.chunk.plain import embedding_text, plain_text
from kb_pipeline.steps.chunk.rows import ROWS_VERSION, rows_beside

__all__ = [
    "CHUNKER_VERSION",
    "ROWS_VERSION",
    "Titles",
    "backlog_items",
    "chunk_article",
    "deferring_titles",
    "embedding_text",
    "is_deferred",
    "passages_of",
    "plain_text",
    "rows_beside",
    "seen_hash",
    "titles_of",
    "with_readers",
    "without_deferred",
]
