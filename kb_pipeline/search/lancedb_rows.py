"""Entries as rows of a LanceDB table: the schema ``kb-articles`` with its metadata, and the way there and back."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from pydantic import ValidationError

from kb_pipeline.records import Chunk
from kb_pipeline.search.base import IndexEntry
from kb_pipeline.search.catalog import Generation
from kb_pipeline.steps.chunk import embedding_text

VECTOR = "content_vector"
SEARCHED = "search_text"
GENERATION_KEY = b"kb_generation"

# Without it two writers that insert the same id at the same time leave two rows of it.
_PRIMARY_KEY = {"lance-schema:unenforced-primary-key:position": "1"}
_STRINGS = pa.list_(pa.string())
_CHUNK_FIELDS = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False, metadata=_PRIMARY_KEY),
        pa.field("article_id", pa.string(), nullable=False),
        pa.field("chunk_index", pa.int32()),
        pa.field("title", pa.string()),
        pa.field("section_header", pa.string()),
        pa.field("heading_path", _STRINGS),
        pa.field("content", pa.string()),
        pa.field("image_urls", _STRINGS),
        pa.field("source_url", pa.string()),
        pa.field("key_topics", _STRINGS),
        pa.field("access_control_list", _STRINGS),
        pa.field("content_hash", pa.string()),
        pa.field("converter", pa.string()),
        pa.field("run_id", pa.string()),
    ]
)
CHUNK_COLUMNS: list[str] = _CHUNK_FIELDS.names


def table_schema(generation: Generation) -> pa.Schema:
    """All columns of a generation's table, which says in its metadata how it was made."""
    own = [
        pa.field(SEARCHED, pa.string()),
        pa.field("embedding_model", pa.string()),
        pa.field(VECTOR, pa.list_(pa.float32(), generation.dimensions)),
    ]
    return pa.schema([*_CHUNK_FIELDS, *own], metadata={GENERATION_KEY: generation.model_dump_json().encode()})


def generation_of(schema: pa.Schema) -> Generation | None:
    """The generation that a table's metadata names; ``None`` for a table that is not of our making."""
    try:
        return Generation.model_validate_json((schema.metadata or {}).get(GENERATION_KEY, b""))
    except ValidationError:
        return None


def to_rows(entries: Iterable[IndexEntry], generation: Generation) -> pa.Table:
    """Entries as a table with all columns of that generation."""
    schema = table_schema(generation)
    entries = list(entries)
    chunks = [entry.chunk for entry in entries]
    columns = {name: [getattr(chunk, name) for chunk in chunks] for name in CHUNK_COLUMNS}
    columns[SEARCHED] = [embedding_text(chunk) for chunk in chunks]
    columns["embedding_model"] = [generation.embedding_model] * len(chunks)
    arrays = [pa.array(columns[field.name], field.type) for field in schema if field.name != VECTOR]
    return pa.Table.from_arrays([*arrays, _vectors(entries, schema.field(VECTOR).type)], schema=schema)


def _vectors(entries: list[IndexEntry], kind: pa.DataType) -> pa.Array:
    matrix = np.array([entry.vector for entry in entries], np.float32)
    return pa.FixedSizeListArray.from_arrays(pa.array(matrix.ravel(), pa.float32()), type=kind)


def to_chunk(row: Mapping[str, Any]) -> Chunk:
    """The chunk of a row that holds :data:`CHUNK_COLUMNS`, and maybe more."""
    return Chunk.model_validate({name: row[name] for name in CHUNK_COLUMNS})
