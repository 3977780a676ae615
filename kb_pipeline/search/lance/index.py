"""The index of one generation: a LanceDB table with vectors and BM25, in a local folder or on object storage.

Each call opens the table again (0.4 ms). So it sees what other processes wrote, and uses one version of the table from
start to end: both halves of a hybrid search see the same articles.
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import chain

import pyarrow as pa
import pyarrow.compute as pc

from kb_pipeline.errors import IndexDamagedError, IndexMissingError, SearchError
from kb_pipeline.records import BlockType, DocumentSort, SearchHit
from kb_pipeline.search.base import (
    DocumentPage,
    IndexedChunk,
    IndexEntry,
    Query,
    SearchFilter,
    SearchIndex,
    made_like,
)
from kb_pipeline.search.catalog import Generation
from kb_pipeline.search.lance.database import Database
from kb_pipeline.search.lance.query import TableSearch
from kb_pipeline.search.lance.table import (
    DEFERRED,
    STORED,
    TableStore,
    in_list,
    once_each,
    search_by_each_index,
    to_chunk,
    to_entries,
    to_rows,
    where,
    with_readers_of,
)
from kb_pipeline.steps.late_interaction import PACKING


class LanceDBIndex(SearchIndex):
    """The table of one generation as an index."""

    def __init__(self, database: Database, generation: Generation) -> None:
        super().__init__(generation.embedding_model, generation.dimensions)
        self._database = database
        self._store = TableStore(database, generation)

    def entries(self, article_ids: Collection[str] | None = None) -> dict[str, dict[str, str]]:
        condition = None if article_ids is None else in_list("article_id", article_ids)
        columns = self._columns(["article_id", "id", "content_hash"], condition, "list its entries")
        entries: dict[str, dict[str, str]] = {}
        for article_id, chunk_id, content_hash in zip(*columns.to_pydict().values(), strict=True):
            entries.setdefault(article_id, {})[chunk_id] = content_hash
        return entries

    def find(self, chunk_ids: Collection[str]) -> list[IndexedChunk]:
        table = self._store.open()
        if table is None:
            return []
        columns = [STORED, "embedding_model"]
        with self._database.translated_errors("look up chunks in"):
            rows = table.search().select(columns).where(in_list("id", chunk_ids)).to_arrow().to_pylist()
        found = [IndexedChunk(chunk=to_chunk(row), embedding_model=row["embedding_model"]) for row in rows]
        chunks = {each.chunk.id: each for each in found}
        return [chunks[chunk_id] for chunk_id in dict.fromkeys(chunk_ids) if chunk_id in chunks]

    def count(self) -> int:
        table = self._store.open()
        with self._database.translated_errors("count the entries of"):
            return table.count_rows() if table is not None else 0

    def count_of(self, block_type: BlockType) -> int:
        table = self._store.open()
        if table is None:
            return 0
        with self._database.translated_errors("count the entries of"):
            return int(table.count_rows(where(SearchFilter(block_type=(block_type,)), table.schema)))

    def doubled(self) -> set[str]:
        names = ["article_id", "id"]
        rows = self._columns(names, None, "look for doubled entries in").group_by(names).aggregate([([], "count_all")])
        return set(rows.filter(pc.field("count_all") > 1)["article_id"].to_pylist())

    def probe(self) -> None:
        """Search by every index, and look for changed files.

        This process may have read files before that are gone now, so nothing of that is used.
        """
        fresh = LanceDBIndex(Database(self._database.uri), self._store.generation)
        try:
            fresh.search_by_each_index()
        except IndexDamagedError:
            fresh.search_by_each_index()  # once more, because a writer may remove a file that is being read

    def search_by_each_index(self) -> None:
        """As :meth:`probe`, with what was read before.

        Raises:
            IndexDamagedError: a search fails, or a file is not as it was written.
        """
        try:
            table = self._store.open()
            if table is not None:
                with self._database.translated_errors("search"):
                    search_by_each_index(table)
        except SearchError as exc:
            # LanceDB reports damaged files in many ways, and does not name all of them.
            self._check_files("cannot be searched", exc, quickly=isinstance(exc, IndexDamagedError))
            raise
        self._check_files("can be searched, but not relied on", quickly=True)

    def inspect(self) -> None:
        self.probe()
        table = self._store.open()
        if table is None:
            return
        with self._database.translated_errors("read"):
            # In batches, because all vectors together may not fit into memory.
            for _ in table.search().to_batches():
                pass
        self._check_files("cannot be relied on", quickly=False)

    def _check_files(self, problem: str, cause: Exception | None = None, *, quickly: bool) -> None:
        if damaged := self._database.access_files(lambda: self._store.files.damaged(quickly=quickly)):
            raise self._database.damaged(
                f"{problem}: {len(damaged)} of its files are not as they were written ({damaged[0]})"
            ) from cause

    def stored(self, article_ids: Collection[str]) -> list[IndexEntry]:
        table = self._store.open()
        if table is None:
            return []
        condition = in_list("article_id", article_ids)
        with self._database.translated_errors("read the entries of"):
            rows = table.search().where(condition).to_arrow()
        return to_entries(rows)

    def mismatched(self, entries: Sequence[IndexEntry]) -> set[str]:
        """Compare all columns, including those that are only used to search and to filter."""
        table = self._store.open()
        if table is None or not entries:
            return {entry.chunk.id for entry in entries}
        condition = in_list("id", [entry.chunk.id for entry in entries])
        with self._database.translated_errors("read the entries of"):
            rows = table.search().where(condition).to_arrow().to_pylist()
        if DEFERRED.name in table.schema.names:  # rows that are older than the column have no value in it
            rows = [row | {DEFERRED.name: bool(row[DEFERRED.name])} for row in rows]
        stored = {row["id"]: row for row in rows}
        alike = [
            IndexEntry(made_like(entry.chunk, stored[entry.chunk.id]), entry.passages)
            for entry in entries
            if entry.chunk.id in stored
        ]
        expected = {row["id"]: row for row in to_rows(alike, table.schema, self.embedding_model).to_pylist()}
        return {entry.chunk.id for entry in entries} - {key for key, row in stored.items() if expected[key] == row}

    def optimise(self) -> None:
        self._database.retrying("optimize", self._store.optimise)
        self._database.access_files(self._store.files.remember)

    def index_new_rows(self) -> None:
        self._database.retrying("index the new rows of", self._store.index_new_rows)

    def _replace(self, articles: Mapping[str, Sequence[IndexEntry]]) -> None:
        entries = list(chain.from_iterable(articles.values()))
        if not entries and self._store.open() is None:
            return

        def commit() -> None:
            table = self._store.open_or_create(defers=any(entry.chunk.deferred for entry in entries))
            merge = table.merge_insert("id").when_matched_update_all()
            merge.when_not_matched_insert_all().when_not_matched_by_source_delete(in_list("article_id", articles))
            merge.execute(to_rows(entries, table.schema, self.embedding_model))

        self._database.retrying("publish to", commit)

    def _set_readers(self, readers: Mapping[str, Sequence[str]]) -> None:
        def commit() -> None:
            table = self._store.open()
            if table is None:
                return
            rows = table.search().where(in_list("article_id", readers)).to_arrow()
            changed = with_readers_of(once_each(rows.select(table.schema.names)), readers)
            if changed.num_rows:
                table.merge_insert("id").when_matched_update_all().execute(changed)

        self._database.retrying("change the access lists in", commit)

    def _documents(
        self, filters: SearchFilter, sort: DocumentSort, descending: bool, limit: int, offset: int
    ) -> DocumentPage:
        table = self._store.open()
        if table is None:
            return DocumentPage(total=0, documents=())
        column = "page_end" if sort == "page_count" else sort
        with self._database.translated_errors("list the documents of"):
            scan = table.search().where(where(filters, table.schema) or "true")
            rows = scan.select([*{column, "article_id"}]).with_row_id(True).to_arrow()
            if sort == "title":
                rows = rows.set_column(rows.schema.get_field_index(column), column, pc.utf8_lower(rows[column]))
            order = [(column, "descending" if descending else "ascending"), ("article_id", "ascending")]
            with_fact, without = rows.filter(pc.is_valid(rows[column])), rows.filter(pc.is_null(rows[column]))
            ordered = pa.concat_tables([with_fact.sort_by(order), without.sort_by("article_id")])
            keys = ordered["_rowid"].slice(offset, limit).to_pylist()
            if not keys:
                return DocumentPage(total=rows.num_rows, documents=())
            stored = table.take_row_ids(keys).select([STORED]).with_row_id().to_arrow().to_pylist()
        chunks = {row["_rowid"]: to_chunk(row) for row in stored}
        return DocumentPage(total=rows.num_rows, documents=tuple(chunks[key] for key in keys if key in chunks))

    def _columns(self, names: list[str], condition: str | None, action: str) -> pa.Table:
        """Read these columns of the rows that meet the condition, or of all rows."""
        table = self._store.open()
        if table is None:
            return pa.table({name: [] for name in names})
        scan = table.search().select(names)
        with self._database.translated_errors(action):
            return (scan.where(condition) if condition else scan).to_arrow()

    def _search(self, query: Query) -> list[SearchHit]:
        table = self._store.open()
        if table is None:
            raise IndexMissingError(
                f"there is no search index {self._store.name} at {self._database.uri}; run: kb ingest"
            )
        search = TableSearch(table, query, self._store.generation.word_vectors == PACKING)
        with self._database.translated_errors("search"):
            return search.hits()
