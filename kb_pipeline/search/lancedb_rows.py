"""Entries as rows of a LanceDB table: the schema ``kb-articles`` with its metadata, and the way there and back."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from pydantic import ValidationError

from kb_pipeline.records import Chunk
from kb_pipeline.search.base import IndexEntry
from kb_pipeline.search.catalog import Generation
from kb_pipeline.steps.chunk import embedding_text

VECTOR = "content_vector"
WORDS = "word_vectors"
ACCESS = "access_control_list"
RESTRICTED = "restricted"
"""Whether the access control list names anybody: an index finds that, but no empty lists."""
SEARCHED = "search_text"
STORED = "chunk"
"""The whole chunk as JSON: a hit is read from one column in a third of the time that those of its fields take."""
_ADDED = (RESTRICTED, STORED)
"""Columns that tables of older versions may lack."""
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
        pa.field(ACCESS, _STRINGS),
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
        pa.field(RESTRICTED, pa.bool_()),
        pa.field(STORED, pa.string()),
    ]
    words = [pa.field(WORDS, pa.binary())] if generation.word_vectors else []
    metadata = {GENERATION_KEY: generation.model_dump_json().encode()}
    return pa.schema([*_CHUNK_FIELDS, *own, *words], metadata=metadata)


def is_schema_of(generation: Generation, found: pa.Schema) -> bool:
    """Whether a table with that schema holds all that is needed of a generation, maybe as an older version made it."""
    wanted = table_schema(generation)
    for name in set(_ADDED) - set(found.names):
        wanted = wanted.remove(wanted.get_field_index(name))
    return bool(found.equals(wanted))


def generation_of(schema: pa.Schema) -> Generation | None:
    """The generation that a table's metadata names; ``None`` for a table that is not of our making."""
    try:
        return Generation.model_validate_json((schema.metadata or {}).get(GENERATION_KEY, b""))
    except ValidationError:
        return None


def to_rows(entries: Sequence[IndexEntry], schema: pa.Schema, embedding_model: str) -> pa.Table:
    """Entries as a table with all columns of the schema."""
    chunks = [entry.chunk for entry in entries]
    columns = {name: [getattr(chunk, name) for chunk in chunks] for name in CHUNK_COLUMNS}
    columns[SEARCHED] = [embedding_text(chunk) for chunk in chunks]
    columns["embedding_model"] = [embedding_model] * len(chunks)
    columns[STORED] = [chunk.model_dump_json() for chunk in chunks]
    columns[RESTRICTED] = [bool(chunk.access_control_list) for chunk in chunks]
    columns[WORDS] = [entry.words for entry in entries]
    arrays = {field.name: pa.array(columns[field.name], field.type) for field in schema if field.name != VECTOR}
    arrays[VECTOR] = _vectors(entries, schema.field(VECTOR).type)
    return pa.Table.from_arrays([arrays[name] for name in schema.names], schema=schema)


def _vectors(entries: Sequence[IndexEntry], kind: pa.DataType) -> pa.Array:
    matrix = np.array([entry.vector for entry in entries], np.float32)
    return pa.FixedSizeListArray.from_arrays(pa.array(matrix.ravel(), pa.float32()), type=kind)


def hit_columns(schema: pa.Schema) -> list[str]:
    """The columns of a table from which :func:`to_chunk` makes a chunk the fastest."""
    return [STORED] if STORED in schema.names else CHUNK_COLUMNS


def to_chunk(row: Mapping[str, Any]) -> Chunk:
    """The chunk of a row that holds :data:`STORED` or all of :data:`CHUNK_COLUMNS`, and maybe more."""
    if STORED in row:
        return Chunk.model_validate_json(row[STORED])
    return Chunk.model_validate({name: row[name] for name in CHUNK_COLUMNS})
