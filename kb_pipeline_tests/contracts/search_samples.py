"""Generations, chunks and vectors for index tests.

A text's vector is the sum of its words' own random directions.
"""

import hashlib

import numpy as np

from kb_pipeline.records import Chunk
from kb_pipeline.search.base import IndexEntry, Vector
from kb_pipeline.search.catalog import Generation
from kb_pipeline.steps.late_interaction import EmbeddedPassage, pack_words

DIMENSIONS = 64


def generation(generation_id: str = "g1", **fields: object) -> Generation:
    made = {
        "id": generation_id,
        "embedder": "hashed",
        "embedding_model": "hashed/1",
        "dimensions": DIMENSIONS,
        "chunker": "1/24-220",
        "created_at": "2026-01-01T00:00:00+00:00",
        **fields,
    }
    return Generation.model_validate(made)


def embed(text: str) -> Vector:
    seeds = [int.from_bytes(hashlib.sha256(word.encode()).digest()[:8]) for word in text.lower().split() or [""]]
    total = sum(np.random.default_rng(seed).normal(size=DIMENSIONS) for seed in seeds)
    return np.asarray(total / np.linalg.norm(total), np.float32)


def words_of(text: str) -> Vector:
    """The directions of its distinct words: shape (words, dimensions)."""
    words = list(dict.fromkeys(text.lower().split()))
    return np.stack([embed(word) for word in words]) if words else np.zeros((0, DIMENSIONS), np.float32)


def with_words(articles: dict[str, list[IndexEntry]]) -> dict[str, list[IndexEntry]]:
    """The same with the vectors of their words."""
    return {
        key: [
            embedded(each.chunk, each.passages[0].vector, pack_words(words_of(each.chunk.content))) for each in entries
        ]
        for key, entries in articles.items()
    }


def entry(article_id: str, content: str, number: int = 0, **fields: object) -> IndexEntry:
    chunk = {
        "id": f"{hashlib.sha256(article_id.encode()).hexdigest()[:16]}-{number}",
        "article_id": article_id,
        "chunk_index": number,
        "title": "Guide",
        "section_header": f"Part {number}",
        "heading_path": ("Guide", f"Part {number}"),
        "content": content,
        "content_hash": hashlib.sha256(content.encode()).hexdigest(),
        **fields,
    }
    return embedded(Chunk.model_validate(chunk), embed(content))


def embedded(chunk: Chunk, vector: Vector, words: bytes = b"") -> IndexEntry:
    """A chunk that is one passage."""
    return IndexEntry(chunk, (EmbeddedPassage(vector, words),))


def article(article_id: str, *contents: str, **fields: object) -> dict[str, list[IndexEntry]]:
    """One article to publish, with a chunk for each content."""
    return {article_id: [entry(article_id, content, number, **fields) for number, content in enumerate(contents)]}


def hashes(entries: list[IndexEntry]) -> dict[str, str]:
    return {item.chunk.id: item.chunk.content_hash for item in entries}
