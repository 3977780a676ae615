"""Chunks as documents of Azure AI Search, and the way back: legal keys, terms of legal length, short vectors."""

import base64
import json
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from kb_pipeline.errors import SearchError
from kb_pipeline.records import Chunk
from kb_pipeline.search.azure_fields import ACCESS, CHUNK_FIELDS, KEY, OVERLONG, REVISION, SEARCHED, VECTOR, Fields
from kb_pipeline.search.azure_filters import term
from kb_pipeline.search.base import IndexedChunk, IndexEntry
from kb_pipeline.search.catalog import Generation
from kb_pipeline.steps.chunk import embedding_text

Document = dict[str, Any]

LONGEST_KEY = 1024
_LEGAL_KEY = re.compile(r"[A-Za-z0-9-][A-Za-z0-9_=-]*")
_ENCODED = "="
_LISTS = ("heading_path", "image_urls", "key_topics", ACCESS)
_FILTERED = ("section_header", "key_topics", ACCESS)
_DECIMALS = 7
"""Of a vector's components, which are at most 1: less than 32 bits hold, and half of what they take when written."""
_COMPONENT_BYTES = 13


def document_key(chunk_id: str) -> str | None:
    """The key of a chunk's document: its id, or that in other letters where a key may not have them.

    ``None`` for an id that no key can stand for, so that no document can have it.
    """
    if _LEGAL_KEY.fullmatch(chunk_id):
        return chunk_id if len(chunk_id) <= LONGEST_KEY else None
    # a surrogate is in no document, but may be asked for
    letters = base64.urlsafe_b64encode(chunk_id.encode("utf-8", "surrogatepass")).decode()
    key = f"{_ENCODED}{letters}"
    return key if chunk_id and len(key) <= LONGEST_KEY else None


def chunk_id_of(key: str) -> str:
    """The chunk's id for which a document has that key."""
    if not key.startswith(_ENCODED):
        return key
    return base64.urlsafe_b64decode(key.removeprefix(_ENCODED)).decode("utf-8", "surrogatepass")


def to_document(entry: IndexEntry, generation: Generation, revision: str) -> Document:
    """The document of an entry, as part of that revision of its article.

    Raises:
        SearchError: its id cannot be a key.
    """
    chunk = entry.chunk
    key = document_key(chunk.id)
    if key is None:
        raise SearchError(f"article {chunk.article_id!r} has a chunk id of {len(chunk.id)} characters; chunk it again")
    document: Document = chunk.model_dump(mode="json", include=set(CHUNK_FIELDS))
    overlong = {name: document[name] for name in _FILTERED if _terms(document[name]) != document[name]}
    document |= {name: _terms(document[name]) for name in overlong}
    return document | {
        KEY: key,
        OVERLONG: json.dumps(overlong) if overlong else None,
        SEARCHED: embedding_text(chunk),
        "embedding_model": generation.embedding_model,
        REVISION: revision,
        VECTOR: np.asarray(entry.vector, np.float64).round(_DECIMALS).tolist(),
    }


def size_of(document: Mapping[str, Any]) -> int:
    """About how many bytes it is when it is sent, rather too many than too few."""
    rest = {name: value for name, value in document.items() if name != VECTOR}
    return len(json.dumps(rest)) + _COMPONENT_BYTES * len(document.get(VECTOR, ()))


def to_chunk(document: Mapping[str, Any], fields: Fields) -> Chunk:
    """The chunk of a document; what the index has no field for is empty."""
    ours = fields.ours(document)
    known: dict[str, Any] = {name: _as_field(name, ours[name]) for name in CHUNK_FIELDS if ours.get(name) is not None}
    if REVISION in fields:  # written by us
        known |= json.loads(str(ours.get(OVERLONG) or "{}")) | {KEY: chunk_id_of(known[KEY])}
    return Chunk.model_validate(_derived(known) | known)


def to_indexed_chunk(document: Mapping[str, Any], fields: Fields) -> IndexedChunk:
    """The chunk of a document, and the model of its vector."""
    model = fields.ours(document).get("embedding_model")
    return IndexedChunk(chunk=to_chunk(document, fields), embedding_model=str(model or ""))


def _as_field(name: str, value: object) -> str | int | tuple[str, ...]:
    """A value as the chunk has it, where somebody else's index has a single one for a list, or a number for a text."""
    if name in _LISTS:
        return tuple(map(str, value)) if isinstance(value, list | tuple) else (str(value),)
    if name == "chunk_index":
        return value if isinstance(value, int) else 0
    return str(value)


def _derived(known: Mapping[str, Any]) -> dict[str, Any]:
    """What a chunk of somebody else's index is where that does not say it."""
    title = known.get("title", "")
    return {
        "article_id": known["id"],
        "chunk_index": 0,
        "title": title,
        "section_header": title,
        "heading_path": (title,) if title else (),
        "content": "",
        "content_hash": "",
    }


def _terms(value: str | list[str]) -> str | list[str]:
    return [term(each) for each in value] if isinstance(value, list) else term(value)
