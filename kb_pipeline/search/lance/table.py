"""The LanceDB table of one generation: its schema, chunks as rows, its indexes, and filters as SQL conditions.

Queries are in ``query``; what to write and when is decided in ``index``.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import compress
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pydantic import ValidationError

from kb_pipeline.errors import IndexMismatchError
from kb_pipeline.languages import ENGLISH, NAMES, language_of, stems
from kb_pipeline.records import BlockType, Chunk
from kb_pipeline.search.base import (
    FACTS,
    IndexEntry,
    SearchFilter,
    Vector,
    filter_values,
    literal,
    pages_of,
    query_words,
)
from kb_pipeline.search.catalog import Generation, index_name
from kb_pipeline.search.lance.database import Database, TableFiles
from kb_pipeline.steps.chunk import embedding_text, with_readers
from kb_pipeline.steps.late_interaction import EmbeddedPassage

if TYPE_CHECKING:
    from lancedb.index import IvfFlat, IvfRq
    from lancedb.table import LanceTable


VECTOR = "content_vector"
"""The vectors of the passages of a chunk; a search compares the question with the nearest of them."""
WORDS = "word_vectors"
"""The packed word vectors of each passage."""
ACCESS = "access_control_list"
RESTRICTED = "restricted"
"""Whether the access control list names anybody: an index can find that, but not empty lists."""
SEARCHED = "search_text"
"""The words of sections, by which keyword search finds them; null in other rows."""
STEMS = "search_stems"
"""The same for sections that are not in English, as stems of their language: LanceDB stems a column in one language."""
BESIDE = "search_text_beside"
"""The words of the other rows: in a column of their own, they change no score of a section."""
STORED = "chunk"
"""The whole chunk as JSON: one column is read in a third of the time that the columns of all fields take."""
BLOCK = "block_type"
WORD_COLUMNS = frozenset({SEARCHED, BESIDE, STEMS})
_DOCUMENT_FIELDS = (
    pa.field(BLOCK, pa.string()),
    *(pa.field(name, pa.string()) for name in (*FACTS, "upload_date")),
    pa.field("page_start", pa.int32()),
    pa.field("page_end", pa.int32()),
    pa.field(BESIDE, pa.string()),
)
_STEMS = pa.field(STEMS, pa.string())
"""Tables of version 1.0 lack this column until something is published to them."""
DEFERRED = pa.field("deferred", pa.bool_())
"""Whether a section is left for later. Only tables with such a section have this column."""
GENERATION_KEY = b"kb_generation"

# Without it, two writers that insert the same id at the same time leave two rows.
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
    """Return all columns of the table of a generation; the metadata records how it was made."""
    own = [
        pa.field(SEARCHED, pa.string()),
        pa.field("embedding_model", pa.string()),
        pa.field(VECTOR, pa.list_(pa.list_(pa.float32(), generation.dimensions))),
        pa.field(RESTRICTED, pa.bool_()),
        pa.field(STORED, pa.string()),
    ]
    words = [pa.field(WORDS, pa.list_(pa.binary()))] if generation.word_vectors else []
    metadata = {GENERATION_KEY: generation.model_dump_json().encode()}
    return pa.schema([*_CHUNK_FIELDS, *own, *words, *_DOCUMENT_FIELDS, _STEMS], metadata=metadata)


def is_schema_of(generation: Generation, schema: pa.Schema) -> bool:
    """Whether a table with this schema has all that the generation needs; stems are added when it is written to."""
    return {*schema} - {DEFERRED, _STEMS} == {*table_schema(generation)} - {_STEMS}


def generation_of(schema: pa.Schema) -> Generation | None:
    """Return the generation in the metadata of a table; ``None`` for a table of another program."""
    try:
        return Generation.model_validate_json((schema.metadata or {}).get(GENERATION_KEY, b""))
    except ValidationError:
        return None


def to_rows(entries: Sequence[IndexEntry], schema: pa.Schema, embedding_model: str) -> pa.Table:
    """Turn entries into a table with all columns of the schema."""
    if not entries:
        return schema.empty_table()
    chunks = [entry.chunk for entry in entries]
    columns = {name: [getattr(chunk, name) for chunk in chunks] for name in CHUNK_COLUMNS}
    columns |= _searched(chunks, schema)
    columns[BLOCK] = [chunk.block_type for chunk in chunks]
    values = filter_values(entries)
    for name in (*FACTS, "upload_date"):
        columns[name] = [values.get(chunk.article_id, {}).get(name) or None for chunk in chunks]
    pages = [pages_of(chunk) for chunk in chunks]
    columns["page_start"] = [first for first, _ in pages]
    columns["page_end"] = [last for _, last in pages]
    columns["embedding_model"] = [embedding_model] * len(chunks)
    columns[STORED] = [chunk.model_dump_json() for chunk in chunks]
    columns[RESTRICTED] = [bool(chunk.access_control_list) for chunk in chunks]
    columns[DEFERRED.name] = [chunk.deferred for chunk in chunks]
    columns[WORDS] = [[passage.words for passage in entry.passages] for entry in entries]
    arrays = {field.name: pa.array(columns[field.name], field.type) for field in schema if field.name != VECTOR}
    matrix = np.array([passage.vector for entry in entries for passage in entry.passages], np.float32)
    lists = schema.field(VECTOR).type
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(matrix.ravel(), pa.float32()), type=lists.value_type)
    ends = np.cumsum([0, *(len(entry.passages) for entry in entries)], dtype=np.int32)
    arrays[VECTOR] = pa.ListArray.from_arrays(pa.array(ends), vectors, type=lists)
    return pa.Table.from_arrays([arrays[name] for name in schema.names], schema=schema)


def _searched(chunks: Sequence[Chunk], schema: pa.Schema) -> dict[str, list[str | None]]:
    """Return what keyword search finds chunks by, in the column that each kind has in a table with this schema."""
    languages = _languages(chunks) if STEMS in schema.names else {}
    searched: dict[str, list[str | None]] = {SEARCHED: [], BESIDE: [], STEMS: []}
    for chunk in chunks:
        text: str | None = embedding_text(chunk)
        column = SEARCHED if chunk.block_type == "text" else BESIDE
        language = languages.get(chunk.article_id, ENGLISH)
        if column == SEARCHED and language != ENGLISH:
            column, text = STEMS, " ".join(stems(text or "", language))
        for name, values in searched.items():
            values.append(text if name == column else None)
    return searched


def _languages(chunks: Iterable[Chunk]) -> dict[str, str]:
    """Map each article to the language of its sections; what an author declares counts only where they are short."""
    texts: dict[str, list[tuple[int, str]]] = {}
    declared: dict[str, str] = {}
    for chunk in chunks:
        if chunk.block_type == "text":
            texts.setdefault(chunk.article_id, []).append((chunk.chunk_index, chunk.content))
        elif chunk.document:
            declared[chunk.article_id] = chunk.document.language.lower().partition("-")[0]
    languages = {}
    for article_id, sections in texts.items():
        text = " ".join(content for _, content in sorted(sections))
        told = (language_of(text) if len(text) >= _TELLING else declared.get(article_id)) or ENGLISH
        languages[article_id] = told if told in NAMES else ENGLISH
    return languages


_TELLING = 200
"""Characters that tell the language of an article."""


@dataclass(frozen=True, slots=True)
class StoredPassages:
    """The passages of some rows: ``vectors``, shape (passages, d), and ``words`` of all, and where each row's begin.

    ``starts``, shape (rows,), are positions among the passages. ``words`` are packed; empty without word vectors.
    """

    vectors: Vector
    words: Sequence[bytes]
    starts: npt.NDArray[np.int64]

    @classmethod
    def of(cls, rows: pa.Table) -> "StoredPassages":
        """Read the passages of rows, none of which may be without any."""
        vectors = rows[VECTOR].combine_chunks()
        words = rows[WORDS].combine_chunks() if WORDS in rows.column_names else None
        starts = np.cumsum([0, *vectors.value_lengths().to_pylist()])[:-1]
        vectors, words = vectors.flatten(), words and words.flatten()
        matrix = vectors.flatten().to_numpy().reshape(len(vectors), vectors.type.list_size)
        return cls(matrix, words.to_pylist() if words is not None else [], starts)


def once_each(rows: pa.Table) -> pa.Table:
    """Keep the last row of each id, because LanceDB cannot match doubled rows with doubled ones."""
    positions = {chunk_id: position for position, chunk_id in enumerate(rows["id"].to_pylist())}
    return rows.take(list(positions.values())) if len(positions) < rows.num_rows else rows


def with_readers_of(rows: pa.Table, readers: Mapping[str, Sequence[str]]) -> pa.Table:
    """Return the rows whose readers differ from the given ones, all columns, with the new readers."""
    before = [to_chunk(row) for row in rows.select([STORED]).to_pylist()]
    after = [with_readers(chunk, readers[chunk.article_id]) for chunk in before]
    is_changed = [new is not old for new, old in zip(after, before, strict=True)]
    rows = rows.filter(pa.array(is_changed, pa.bool_()))
    changed = list(compress(after, is_changed))
    values = {
        ACCESS: [chunk.access_control_list for chunk in changed],
        RESTRICTED: [bool(chunk.access_control_list) for chunk in changed],
        "content_hash": [chunk.content_hash for chunk in changed],
        STORED: [chunk.model_dump_json() for chunk in changed],
    }
    for position, column in enumerate(rows.schema):
        if column.name in values:
            rows = rows.set_column(position, column, pa.array(values[column.name], column.type))
    return rows


def to_entries(rows: pa.Table) -> list[IndexEntry]:
    """Turn rows with all columns into entries."""
    if not rows.num_rows:
        return []
    stored = StoredPassages.of(rows)
    words = stored.words or [b""] * len(stored.vectors)
    passages = [EmbeddedPassage(vector, packed) for vector, packed in zip(stored.vectors, words, strict=True)]
    ends = [*stored.starts[1:].tolist(), len(passages)]
    chunks = map(to_chunk, rows.drop_columns([VECTOR]).to_pylist())
    spans = zip(stored.starts.tolist(), ends, strict=True)
    return [IndexEntry(chunk, tuple(passages[start:end])) for chunk, (start, end) in zip(chunks, spans, strict=True)]


def to_chunk(row: Mapping[str, Any]) -> Chunk:
    """Make a chunk of a row with the column :data:`STORED`."""
    return Chunk.model_validate_json(row[STORED])


LARGE = 2_000
"""Rows from which indexes of vectors and filters pay off: with 2,853 rows a search takes 27 ms of CPU time instead of
38, with equal results."""
UNINDEXED = 2_000
"""Rows that may stay out of the indexes; each thousand of them makes a search 20 ms slower."""
SEGMENTS = 4
"""Segments from which the vector index is rebuilt: adding rows makes one more, and every search reads all of them."""
KEEP_VERSIONS = timedelta(hours=1)
"""How long a reader may use an old version of the table."""


class TableStore:
    """Access to the table. Each :meth:`open` returns its newest version, which stays fixed for that handle."""

    def __init__(self, database: Database, generation: Generation) -> None:
        self.database = database
        self.generation = generation
        self.name = index_name(generation.id)
        self.files = TableFiles(database.uri, self.name)

    def open(self) -> "LanceTable | None":
        """Open the table; ``None`` if it does not exist.

        Raises:
            IndexMismatchError: it was made with other settings or by another program.
        """
        table = self.database.table(self.name)
        if table is not None:
            self._check(table)
        return table

    def open_or_create(self, *, defers: bool = False) -> "LanceTable":
        """Open the table to write to it, or create it; another process may be creating it at the same time.

        A table of version 1.0 gets the column of stems, and one to which deferred sections are written (``defers``)
        the column for them.
        """
        table = self.database.table_or(self.name, self._create)
        self._check(table)
        wanted = (_STEMS, DEFERRED) if defers else (_STEMS,)
        if missing := [field for field in wanted if field.name not in table.schema.names]:
            table.add_columns(missing)
            table = self.database.table_or(self.name, self._create)
            if _STEMS in missing:
                _stem_rows(table)
        _index_words(table)  # if the process that created or extended it was killed in between
        return table

    def optimise(self) -> None:
        """Build the indexes that pay off by now, add new rows to them, merge small files, and drop old versions."""
        table = self.open()
        if table is None:
            return
        _index_words(table)
        if table.count_rows() >= LARGE:
            _index_large(table)
        table.optimize(cleanup_older_than=KEEP_VERSIONS)

    def index_new_rows(self) -> None:
        """Add new rows to the existing indexes, if there are many."""
        table = self.open()
        if table is not None and any(index.num_unindexed_rows > UNINDEXED for index in table.list_indices()):
            table.optimize(cleanup_older_than=KEEP_VERSIONS)

    def _create(self) -> "LanceTable":
        self.files.forget()
        table = self.database.connection.create_table(self.name, schema=table_schema(self.generation))
        _index_words(table)
        return table

    def _check(self, table: "LanceTable") -> None:
        with self.database.translated_errors(f"read the columns of table {self.name} of"):
            schema = table.schema
        recorded = generation_of(schema)
        if recorded is None or not recorded.made_like(self.generation) or not is_schema_of(self.generation, schema):
            if self.database.access_files(self.files.damaged):
                raise self.database.damaged(f"holds files of its table {self.name} that are not as they were written")
            raise IndexMismatchError(
                f"the search index {self.name} at {self.database.uri} holds "
                f"{recorded or 'the data of another program'}, but {self.generation} is needed; "
                "choose another KB_INDEX_URI, or remove that table"
            )


def search_by_each_index(table: "LanceTable") -> None:
    """Search a table by words, by a vector and by each condition that has an index, and read a column of all rows.

    The words, the vector and the values are those of rows of the table.

    Raises:
        ValueError: LanceDB finds nothing by the vector. It has many kinds of errors for files that are damaged.
    """
    from lancedb.query import MatchQuery

    first = table.search().limit(1).to_arrow()
    if not first.num_rows:
        return
    for column in WORD_COLUMNS:
        if column in table.schema.names:
            rows = table.search().select([column]).where(f"{column} IS NOT NULL").limit(1).to_arrow()
            words = query_words(rows[column][0].as_py()) if rows.num_rows else ""
            # All words may be stop words, so that nothing is found.
            table.search(MatchQuery(words or "word", column), query_type="fts").select(["id", "_score"]).limit(
                1
            ).to_arrow()
    vector = StoredPassages.of(first).vectors[0]
    nearest = table.search(vector, VECTOR, query_type="vector").distance_type("cosine")
    if not nearest.select(["id", "_distance"]).limit(1).to_arrow().num_rows:
        raise ValueError("its vector is not found: the index is corrupt")
    for column in sorted(_indexed(table) - {*WORD_COLUMNS, VECTOR}):
        table.count_rows(_condition(column, first[column][0].as_py()))
    for _ in table.search().select(["article_id"]).to_batches():
        pass


def _condition(column: str, value: object) -> str:
    """A condition on a column that uses its index."""
    if isinstance(value, bool):
        return f"{column} IS {value}"
    return _overlaps(column, value or ["nobody"]) if isinstance(value, list) else in_list(column, [str(value)])


def _indexed(table: "LanceTable") -> set[str]:
    return {column for index in table.list_indices() for column in index.columns}


def _index_words(table: "LanceTable") -> None:
    from lancedb.index import FTS

    for column in (WORD_COLUMNS & set(table.schema.names)) - _indexed(table):
        as_written = column != STEMS
        table.create_index(column, config=FTS(stem=as_written, remove_stop_words=as_written, ascii_folding=True))


def _stem_rows(table: "LanceTable") -> None:
    """Stem the sections of a table of version 1.0 that are not in English."""
    names = table.schema.names
    article_ids = sorted(set(table.search().select(["article_id"]).to_arrow()["article_id"].to_pylist()))
    for start in range(0, len(article_ids), _STEMMED_AT_ONCE):
        condition = in_list("article_id", article_ids[start : start + _STEMMED_AT_ONCE])
        rows = once_each(table.search().where(condition).to_arrow().select(names))
        searched = _searched([to_chunk(row) for row in rows.select([STORED]).to_pylist()], rows.schema)
        for position, column in enumerate(rows.schema):
            if column.name in (SEARCHED, STEMS):
                rows = rows.set_column(position, column, pa.array(searched[column.name], column.type))
        rows = rows.filter(pa.array([text is not None for text in searched[STEMS]], pa.bool_()))
        if rows.num_rows:
            table.merge_insert("id").when_matched_update_all().execute(rows)


_STEMMED_AT_ONCE = 200
"""Articles whose stems are written at a time: keeps memory flat."""


def _index_large(table: "LanceTable") -> None:
    from lancedb.index import Bitmap, BTree, LabelList

    configs = {"article_id": BTree(), ACCESS: LabelList(), RESTRICTED: Bitmap()}
    configs |= {name: Bitmap() for name in (BLOCK, "document_type", "department")}  # for lists of many documents
    for column in configs.keys() & set(table.schema.names) - _indexed(table):
        table.create_index(column, config=configs[column])
    vectors = _vector_index(table.schema.field(VECTOR).type.value_type.list_size)
    existing = [index for index in table.list_indices() if index.columns == [VECTOR]]
    if not any(index.index_type == type(vectors).__name__ and index.num_segments < SEGMENTS for index in existing):
        table.create_index(VECTOR, config=vectors)


def _vector_index(dimensions: int) -> "IvfFlat | IvfRq":
    """Short codes, so that a search can scan all of them; the full vectors decide which hits are nearest.

    Gao et al.: Practical and Asymptotically Optimal Quantization of High-Dimensional Vectors (extended RaBitQ), SIGMOD
    2025. LanceDB keeps partitions near 4,096 rows and joins smaller ones whenever it adds rows.
    """
    from lancedb.index import IvfFlat, IvfRq

    if dimensions % 8:  # LanceDB cannot make codes of such vectors
        return IvfFlat(distance_type="cosine")
    return IvfRq(distance_type="cosine", num_bits=6)


def where(filters: SearchFilter, schema: pa.Schema) -> str | None:
    """Return the SQL condition that a row of a table with this schema must meet, or ``None`` if every row does."""
    conditions = _document_conditions(filters)
    if filters.deferred is not None and DEFERRED.name in schema.names:
        conditions.append("deferred IS TRUE" if filters.deferred else "deferred IS NOT TRUE")
    elif filters.deferred:
        conditions.append("false")
    if filters.article_ids is not None:
        conditions.append(in_list("article_id", filters.article_ids))
    if filters.section_header is not None:
        conditions.append(in_list("section_header", [filters.section_header]))
    if filters.key_topics is not None:
        conditions.append(_overlaps("key_topics", filters.key_topics))
    if filters.principals is not None:
        # With "= false", Lance lists the rows to exclude, which takes three times as long if the vector index has more
        # than one segment.
        public = "restricted IS FALSE"
        named = _overlaps("access_control_list", filters.principals)
        allowed = f"({public} OR {named})" if filters.principals else public
        if filters.denied_articles:
            allowed = f"({allowed} AND NOT {in_list('article_id', filters.denied_articles)})"
        if filters.granted_articles:
            allowed = f"({allowed} OR {in_list('article_id', filters.granted_articles)})"
        conditions.append(allowed)
    return " AND ".join(conditions) or None


def _document_conditions(filters: SearchFilter) -> list[str]:
    conditions = []
    if filters.block_type is not None and set(filters.block_type) != set(get_args(BlockType)):
        conditions.append(in_list(BLOCK, filters.block_type))
    conditions += [in_list(name, values) for name, values in filters.facts.items()]
    if filters.upload_date is not None:
        first, last = filters.upload_date
        conditions += [
            f"upload_date >= {literal(first or '0')}",
            *([f"upload_date <= {literal(last)}"] if last else []),
        ]
    if filters.page_start is not None:
        conditions.append(f"page_end >= {filters.page_start}")
    if filters.page_end is not None:
        conditions.append(f"page_start <= {filters.page_end}")
    return conditions


def in_list(column: str, values: Iterable[str]) -> str:
    """Test whether the column is one of ``values``; "false" if there are none."""
    literals = ", ".join(map(literal, values))
    return f"{column} IN ({literals})" if literals else "false"


def _overlaps(column: str, values: Iterable[str]) -> str:
    literals = ", ".join(map(literal, values))
    return f"array_has_any({column}, make_array({literals}))" if literals else "false"
