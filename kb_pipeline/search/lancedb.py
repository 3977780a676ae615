"""The embedded index: a LanceDB table in a local folder or on object storage, vectors and BM25 in one place.

Each call opens the table anew (0.4 ms): so it sees what other processes wrote, and works on one version of the
table from beginning to end, so that both halves of a hybrid search see the same articles.
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, ClassVar

from kb_pipeline.errors import IndexMissingError
from kb_pipeline.records import SearchHit
from kb_pipeline.search.base import IndexEntry, Query, SearchIndex
from kb_pipeline.search.fusion import reciprocal_rank_fusion
from kb_pipeline.search.lancedb_rows import CHUNK_COLUMNS, SEARCHED, VECTOR, table_schema, to_chunk, to_rows
from kb_pipeline.search.lancedb_table import TableStore
from kb_pipeline.search.sql import in_list, where

if TYPE_CHECKING:
    from lancedb.query import LanceQueryBuilder
    from lancedb.table import LanceTable

Row = dict[str, Any]


class LanceDBIndex(SearchIndex):
    """An index at ``uri``: a folder, or ``az://container/path`` with its ``storage_options``."""

    candidates: ClassVar[int] = 50
    """Hits of each half that a hybrid search fuses."""
    probes: ClassVar[int] = 20
    """Partitions of the vector index that a search looks into."""

    def __init__(
        self, uri: str, embedding_model: str, dimensions: int, storage_options: Mapping[str, str] | None = None
    ) -> None:
        """Name the place and its vectors; nothing is read or made yet."""
        super().__init__(embedding_model, dimensions)
        self._store = TableStore(uri, storage_options, table_schema(embedding_model, dimensions))

    def entries(self, article_ids: Collection[str] | None = None) -> dict[str, dict[str, str]]:
        """What is indexed: article id -> chunk id -> content hash."""
        table = self._store.open()
        if table is None:
            return {}
        scan = table.search().select(["article_id", "id", "content_hash"])
        if article_ids is not None:
            scan = scan.where(in_list("article_id", article_ids))
        found: dict[str, dict[str, str]] = {}
        with self._store.explaining("list its entries"):
            for row in scan.to_list():
                found.setdefault(row["article_id"], {})[row["id"]] = row["content_hash"]
        return found

    def count(self) -> int:
        """Number of rows."""
        table = self._store.open()
        with self._store.explaining("count its entries"):
            return table.count_rows() if table is not None else 0

    def optimise(self) -> None:
        """Bring the full-text and vector indexes up to date, merge small files, drop old versions."""
        self._store.retrying("be optimised", self._store.optimise)

    def drop(self) -> None:
        """Remove the table."""
        self._store.drop()

    def _replace(self, articles: Mapping[str, Sequence[IndexEntry]]) -> None:
        rows = to_rows(chain.from_iterable(articles.values()), self._store.schema)
        if not rows.num_rows and self._store.open() is None:
            return

        def commit() -> None:
            merge = self._store.open_or_create().merge_insert("id").when_matched_update_all()
            merge.when_not_matched_insert_all().when_not_matched_by_source_delete(in_list("article_id", articles))
            merge.execute(rows)

        self._store.retrying("be published to", commit)

    def _search(self, query: Query) -> list[SearchHit]:
        table = self._store.open()
        if table is None:
            raise IndexMissingError(f"there is no search index at {self._store.uri} yet; run: kb ingest")
        with self._store.explaining("be searched"):
            by_words = self._by_words(table, query) if query.words else {}
            by_vector = self._by_vector(table, query) if query.vector is not None else {}
        ranked = _scores(by_words, by_vector).items()
        return [_hit(score, by_words.get(key), by_vector.get(key)) for key, score in islice(ranked, query.top)]

    def _by_words(self, table: "LanceTable", query: Query) -> dict[str, Row]:
        from lancedb.query import MatchQuery

        # A MatchQuery takes words as they are; a plain string may be read as query syntax.
        words = MatchQuery(query.words, SEARCHED)
        return self._rows(table.search(words, query_type="fts"), "_score", query)

    def _by_vector(self, table: "LanceTable", query: Query) -> dict[str, Row]:
        # The distance is said each time: without an index the default is Euclidean.
        search = table.search(query.vector, VECTOR, query_type="vector").distance_type("cosine")
        return self._rows(search.nprobes(self.probes), "_distance", query)

    def _rows(self, search: "LanceQueryBuilder", score: str, query: Query) -> dict[str, Row]:
        condition = where(query.filters)
        search = search.where(condition) if condition else search
        found = search.select([*CHUNK_COLUMNS, "embedding_model", score]).limit(max(query.top, self.candidates))
        return {row["id"]: row for row in found.to_list()}


def _scores(by_words: Mapping[str, Row], by_vector: Mapping[str, Row]) -> dict[str, float]:
    if by_words and by_vector:
        return reciprocal_rank_fusion([list(by_vector), list(by_words)])
    words = {key: row["_score"] for key, row in by_words.items()}
    return words or {key: 1 - row["_distance"] for key, row in by_vector.items()}


def _hit(score: float, by_words: Row | None, by_vector: Row | None) -> SearchHit:
    row: Row = (by_words or {}) | (by_vector or {})
    return SearchHit(
        chunk=to_chunk(row),
        score=score,
        keyword_score=row.get("_score"),
        vector_score=1 - row["_distance"] if by_vector else None,
        embedding_model=row["embedding_model"],
    )
