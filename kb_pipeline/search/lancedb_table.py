"""The LanceDB table behind one index: opening, making, checking and indexing it.

Not here: what the rows mean (lancedb_rows.py), what is asked of them (lancedb.py).
"""

from datetime import timedelta
from typing import TYPE_CHECKING

import pyarrow as pa

from kb_pipeline.errors import IndexMismatchError
from kb_pipeline.search.catalog import Generation, index_name
from kb_pipeline.search.lancedb_database import Database
from kb_pipeline.search.lancedb_rows import (
    ACCESS,
    RESTRICTED,
    SEARCHED,
    VECTOR,
    generation_of,
    is_schema_of,
    table_schema,
)

if TYPE_CHECKING:
    from lancedb.index import IvfFlat, IvfRq
    from lancedb.table import LanceTable

LARGE = 5_000
"""Rows from which indexes of vectors and of what is filtered by pay: at 7,400 3 ms instead of 8, and equal scores."""
UNINDEXED = 2_000
"""Rows that are in no index yet, up to which that is left so: each thousand of them makes a search 20 ms slower."""
SEGMENTS = 4
"""Parts of the vector index from which it is made anew: adding rows makes one more, and every search looks into all."""
KEEP_VERSIONS = timedelta(hours=1)
"""How long a reader may go on with an old version of the table."""


class TableStore:
    """Where the table is. Each :meth:`open` gives its newest version, fixed for as long as the handle is used."""

    def __init__(self, database: Database, generation: Generation) -> None:
        """Name the table and what it must hold; nothing is read or made yet."""
        self.database = database
        self.generation = generation
        self.name = index_name(generation.id)

    def open(self) -> "LanceTable | None":
        """The table as it is now, ``None`` if there is none.

        Raises:
            IndexMismatchError: it was made in another way or by another program.
        """
        table = self.database.table(self.name)
        if table is not None:
            self._check(table.schema)
        return table

    def open_or_create(self) -> "LanceTable":
        """The table, made if it is missing; someone else may be making it at the same time."""
        table = self.database.table_or(self.name, self._create)
        self._check(table.schema)
        if SEARCHED not in _indexed(table):  # its maker was killed in between
            _index_words(table)
        return table

    def optimise(self) -> None:
        """Build the indexes that pay by now, add new rows to them, merge small files, drop old versions."""
        table = self.open()
        if table is None:
            return
        if SEARCHED not in _indexed(table):
            _index_words(table)
        if table.count_rows() >= LARGE:
            _index_large(table)
        table.optimize(cleanup_older_than=KEEP_VERSIONS)

    def keep_up(self) -> None:
        """Add new rows to the indexes there are, when they are many."""
        table = self.open()
        if table is not None and any(index.num_unindexed_rows > UNINDEXED for index in table.list_indices()):
            table.optimize(cleanup_older_than=KEEP_VERSIONS)

    def drop(self) -> None:
        """Remove the table, whoever built it."""
        self.database.drop(self.name)

    def _create(self) -> "LanceTable":
        table = self.database.connection.create_table(self.name, schema=table_schema(self.generation))
        _index_words(table)
        return table

    def _check(self, found: pa.Schema) -> None:
        made = generation_of(found)
        if made is None or not made.made_like(self.generation) or not is_schema_of(self.generation, found):
            raise IndexMismatchError(
                f"the search index {self.name} at {self.database.uri} holds {made or 'the data of another program'}, "
                f"but what is asked for is {self.generation}; choose another KB_INDEX_URI, or remove that table"
            )


def _indexed(table: "LanceTable") -> set[str]:
    return {column for index in table.list_indices() for column in index.columns}


def _index_words(table: "LanceTable") -> None:
    from lancedb.index import FTS

    table.create_index(SEARCHED, config=FTS(stem=True, remove_stop_words=True, ascii_folding=True))


def _index_large(table: "LanceTable") -> None:
    from lancedb.index import Bitmap, BTree, LabelList

    configs = {"article_id": BTree(), ACCESS: LabelList(), RESTRICTED: Bitmap()}
    for column in configs.keys() & set(table.schema.names) - _indexed(table):
        table.create_index(column, config=configs[column])
    vectors = _vector_index(table.schema.field(VECTOR).type.list_size)
    made = [index for index in table.list_indices() if index.columns == [VECTOR]]
    if not any(index.index_type == type(vectors).__name__ and index.num_segments < SEGMENTS for index in made):
        table.create_index(VECTOR, config=vectors)


def _vector_index(dimensions: int) -> "IvfFlat | IvfRq":
    """Short codes, so that a search can look at all of them; which hits are nearest, the vectors themselves tell.

    Gao et al.: Practical and Asymptotically Optimal Quantization of High-Dimensional Vectors (extended RaBitQ),
    SIGMOD 2025. LanceDB keeps partitions near 4,096 rows and joins smaller ones whenever it adds rows.
    """
    from lancedb.index import IvfFlat, IvfRq

    if dimensions % 8:  # which codes of LanceDB cannot have
        return IvfFlat(distance_type="cosine")
    return IvfRq(distance_type="cosine", num_bits=6)
