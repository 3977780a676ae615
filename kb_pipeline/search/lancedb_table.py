"""The LanceDB table behind the index: opening, making, indexing it, and living with other writers.

Not here: what the rows mean (lancedb_rows.py), what is asked of them (lancedb.py).
"""

import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar, cast

import pyarrow as pa

from kb_pipeline.errors import IndexMismatchError, SearchError
from kb_pipeline.search.base import INDEX_NAME
from kb_pipeline.search.lancedb_rows import MODEL_KEY, SEARCHED, VECTOR

if TYPE_CHECKING:
    from lancedb.db import LanceDBConnection
    from lancedb.table import LanceTable

LARGE = 20_000
"""Rows from which a vector index and an index on ``article_id`` pay; below, a scan is as fast, and exact."""
KEEP_VERSIONS = timedelta(hours=1)
"""How long a reader may go on with an old version of the table."""

_ATTEMPTS = 12
_LONGEST_PAUSE = 2.0
_SDK_ERRORS = (RuntimeError, OSError, ValueError)
_CONFLICTS = ("conflict", "concurrent", "already exists")

T = TypeVar("T")


class TableStore:
    """Where the table is. Each :meth:`open` gives its newest version, fixed for as long as the handle is used."""

    def __init__(self, uri: str, storage_options: Mapping[str, str] | None, schema: pa.Schema) -> None:
        """Name the place and what it must hold; nothing is read or made yet."""
        self.uri = uri
        self.storage_options = dict(storage_options or {})
        self.schema = schema

    def open(self) -> "LanceTable | None":
        """The table as it is now, ``None`` if there is none.

        Raises:
            IndexMismatchError: it was built with another embedding model or by another program.
        """
        with self.explaining("be opened"):
            try:
                table = self._database.open_table(INDEX_NAME)
            except ValueError as exc:  # LanceDB has no exception of its own for this
                if "not found" not in str(exc):
                    raise
                return None
            self._check(table.schema)
            return table

    def open_or_create(self) -> "LanceTable":
        """The table, made if it is missing; someone else may be making it at the same time."""
        table = self.open()
        if table is None:
            table = self._database.create_table(INDEX_NAME, schema=self.schema, exist_ok=True)
            _index_words(table)
        return table

    def optimise(self) -> None:
        """Build the indexes that pay by now, add new rows to them, merge small files, drop old versions."""
        table = self.open()
        if table is None:
            return
        indexed = {column for index in table.list_indices() for column in index.columns}
        if SEARCHED not in indexed:
            _index_words(table)
        if table.count_rows() >= LARGE:
            _index_large(table, indexed)
        table.optimize(cleanup_older_than=KEEP_VERSIONS)

    def drop(self) -> None:
        """Remove the table, whoever built it."""
        with self.explaining("be dropped"):
            self._database.drop_table(INDEX_NAME, ignore_missing=True)

    def retrying(self, action: str, work: Callable[[], T]) -> T:
        """Do the work; again, after random pauses of growing length, while another writer was faster."""
        with self.explaining(action):
            for attempt in range(_ATTEMPTS - 1):
                try:
                    return work()
                except _SDK_ERRORS as exc:
                    if not any(word in str(exc).lower() for word in _CONFLICTS):
                        raise
                time.sleep(random.uniform(0, min(_LONGEST_PAUSE, 0.05 * 2**attempt)))  # noqa: S311
            return work()

    @contextmanager
    def explaining(self, action: str) -> Iterator[None]:
        """Wrap LanceDB's errors in ours."""
        try:
            yield
        except _SDK_ERRORS as exc:
            raise SearchError(f"the search index at {self.uri} could not {action}: {exc}") from exc

    @cached_property
    def _database(self) -> "LanceDBConnection":
        import lancedb

        return cast("LanceDBConnection", lancedb.connect(self.uri, storage_options=self.storage_options or None))

    def _check(self, found: pa.Schema) -> None:
        if _vectors_of(found) != _vectors_of(self.schema) or not found.equals(self.schema):
            raise IndexMismatchError(
                f"the search index at {self.uri} holds {_vectors_of(found)}, but the settings ask for "
                f"{_vectors_of(self.schema)}; set KB_EMBEDDER back, or choose another KB_INDEX_URI (or delete "
                "that folder) and run: kb ingest"
            )


def _vectors_of(schema: pa.Schema) -> str:
    model = (schema.metadata or {}).get(MODEL_KEY)
    if model is None or VECTOR not in schema.names:
        return "the data of another program"
    return f"vectors of {model.decode()} with {schema.field(VECTOR).type.list_size} dimensions"


def _index_words(table: "LanceTable") -> None:
    from lancedb.index import FTS

    table.create_index(SEARCHED, config=FTS(stem=True, remove_stop_words=True, ascii_folding=True))


def _index_large(table: "LanceTable", indexed: set[str]) -> None:
    from lancedb.index import BTree, IvfFlat

    if VECTOR not in indexed:
        table.create_index(VECTOR, config=IvfFlat(distance_type="cosine"))
    if "article_id" not in indexed:
        table.create_index("article_id", config=BTree())
