"""The embedded index: a LanceDB table in a local folder or on object storage, vectors and BM25 in one place.

Each call opens the table anew (0.4 ms): so it sees what other processes wrote, and works on one version of the
table from beginning to end, so that both halves of a hybrid search see the same articles.
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import chain

import pyarrow as pa
import pyarrow.compute as pc

from kb_pipeline.errors import IndexMissingError
from kb_pipeline.records import SearchHit
from kb_pipeline.search.base import IndexedChunk, IndexEntry, Query, SearchIndex
from kb_pipeline.search.catalog import Generation
from kb_pipeline.search.lancedb_database import Database
from kb_pipeline.search.lancedb_rows import CHUNK_COLUMNS, to_chunk, to_rows
from kb_pipeline.search.lancedb_search import TableSearch
from kb_pipeline.search.lancedb_table import TableStore
from kb_pipeline.search.sql import in_list
from kb_pipeline.steps.late_interaction import PACKING


class LanceDBIndex(SearchIndex):
    """The table of one generation as an index."""

    def __init__(self, database: Database, generation: Generation) -> None:
        """Say where the table is and how its entries are made; nothing is read or made yet."""
        super().__init__(generation.embedding_model, generation.dimensions)
        self._database = database
        self._store = TableStore(database, generation)

    def entries(self, article_ids: Collection[str] | None = None) -> dict[str, dict[str, str]]:
        """What is indexed: article id -> chunk id -> content hash."""
        condition = None if article_ids is None else in_list("article_id", article_ids)
        columns = self._columns(["article_id", "id", "content_hash"], condition, "list its entries")
        found: dict[str, dict[str, str]] = {}
        for article_id, chunk_id, content_hash in zip(*columns.to_pydict().values(), strict=True):
            found.setdefault(article_id, {})[chunk_id] = content_hash
        return found

    def find(self, chunk_ids: Collection[str]) -> list[IndexedChunk]:
        """The chunks with these ids, in the order they are asked for."""
        columns = [*CHUNK_COLUMNS, "embedding_model"]
        rows = self._columns(columns, in_list("id", chunk_ids), "look up chunks").to_pylist()
        found = {row["id"]: IndexedChunk(chunk=to_chunk(row), embedding_model=row["embedding_model"]) for row in rows}
        return [found[chunk_id] for chunk_id in dict.fromkeys(chunk_ids) if chunk_id in found]

    def count(self) -> int:
        """Number of rows."""
        table = self._store.open()
        with self._database.explaining("count its entries"):
            return table.count_rows() if table is not None else 0

    def doubled(self) -> set[str]:
        """Articles of which two rows have the same id."""
        names = ["article_id", "id"]
        rows = self._columns(names, None, "look for doubled entries").group_by(names).aggregate([([], "count_all")])
        return set(rows.filter(pc.field("count_all") > 1)["article_id"].to_pylist())

    def optimise(self) -> None:
        """Bring the full-text and vector indexes up to date, merge small files, drop old versions."""
        self._database.retrying("be optimised", self._store.optimise)

    def keep_up(self) -> None:
        """Bring both indexes up to date when some thousand rows are in neither."""
        self._database.retrying("be brought up to date", self._store.keep_up)

    def drop(self) -> None:
        """Remove the table."""
        self._store.drop()

    def _replace(self, articles: Mapping[str, Sequence[IndexEntry]]) -> None:
        entries = list(chain.from_iterable(articles.values()))
        if not entries and self._store.open() is None:
            return

        def commit() -> None:
            table = self._store.open_or_create()
            merge = table.merge_insert("id").when_matched_update_all()
            merge.when_not_matched_insert_all().when_not_matched_by_source_delete(in_list("article_id", articles))
            merge.execute(to_rows(entries, table.schema, self.embedding_model))

        self._database.retrying("be published to", commit)

    def _columns(self, names: list[str], condition: str | None, action: str) -> pa.Table:
        """These columns of the rows that meet the condition; of all rows if there is none."""
        table = self._store.open()
        if table is None:
            return pa.table({name: [] for name in names})
        scan = table.search().select(names)
        with self._database.explaining(action):
            return (scan.where(condition) if condition else scan).to_arrow()

    def _search(self, query: Query) -> list[SearchHit]:
        table = self._store.open()
        if table is None:
            raise IndexMissingError(
                f"there is no search index {self._store.name} at {self._database.uri}; run: kb ingest"
            )
        search = TableSearch(table, query, self._store.generation.word_vectors == PACKING)
        with self._database.explaining("be searched"):
            return search.hits()
