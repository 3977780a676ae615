"""One search in one version of a LanceDB table: candidates by words and by vector, their order, and their rows.

Not here: what scores become together (fusion.py, late_interaction.py), what the columns mean (lancedb_rows.py).
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kb_pipeline.records import SearchHit
from kb_pipeline.search.base import Query, Vector
from kb_pipeline.search.fusion import by_interaction, reciprocal_rank_fusion
from kb_pipeline.search.lancedb_rows import RESTRICTED, SEARCHED, VECTOR, WORDS, hit_columns, to_chunk
from kb_pipeline.search.sql import where
from kb_pipeline.steps.late_interaction import max_sim

if TYPE_CHECKING:
    from lancedb.query import LanceQueryBuilder
    from lancedb.table import LanceTable

INTERACTING = 30
"""Candidates of each half that words' vectors order anew; more of them do not change the first places."""
FUSED = 50
"""Candidates of each half where only their ranks tell the order."""
PROBES = 64
"""Partitions of the vector index that a search looks into: of some 4,096 rows each, so up to 250,000 rows all."""
REFINED = 2
"""Candidates of the vector index that are compared exactly for each that is wanted: its own distances are rough."""

Scores = dict[int, float]
"""By row id."""


@dataclass(frozen=True)
class Compared:
    """What the vectors of candidates say: cosine, MaxSim, and the cosine of the word that is covered least."""

    cosines: Scores = field(default_factory=dict)
    words: Scores = field(default_factory=dict)
    weakest: Scores = field(default_factory=dict)


@dataclass(frozen=True)
class TableSearch:
    """A query to a table; ``interacts`` says whether its words' vectors are packed as this version reads them."""

    table: "LanceTable"
    query: Query
    interacts: bool

    def hits(self) -> list[SearchHit]:
        """The best chunks, best first."""
        keywords = self._by_keywords() if self.query.words else {}
        vectors = self._by_vector(self.query.vector) if self.query.vector is not None else {}
        if not keywords and not vectors:
            return []
        candidates = self._read([*dict.fromkeys([*vectors, *keywords])]) if self._interacting else None
        compared = self._compared(candidates) if candidates is not None else Compared()
        cosines = compared.cosines or vectors
        best = dict(islice(_fused(keywords, vectors, compared).items(), self.query.top))
        rows = _by_id(self._read([*best]) if candidates is None else candidates, best)
        return [
            SearchHit(
                chunk=to_chunk(rows[key]),
                score=score,
                keyword_score=keywords.get(key),
                vector_score=cosines.get(key),
                word_score=compared.words.get(key),
                weakest_word=compared.weakest.get(key),
                embedding_model=rows[key]["embedding_model"],
            )
            for key, score in best.items()
        ]

    @property
    def _interacting(self) -> bool:
        return self.interacts and self.query.word_vectors is not None and self.query.vector is not None

    def _by_keywords(self) -> Scores:
        from lancedb.query import MatchQuery

        # A MatchQuery takes words as they are; a plain string may be read as query syntax.
        words = MatchQuery(self.query.words, SEARCHED)
        return self._candidates(self.table.search(words, query_type="fts"), "_score")

    def _by_vector(self, vector: Vector) -> Scores:
        # The distance is said each time: without an index the default is Euclidean.
        search = self.table.search(vector, VECTOR, query_type="vector").distance_type("cosine").nprobes(PROBES)
        if not self._interacting:  # else all candidates' cosines are computed anyway
            search = search.refine_factor(REFINED)
        distances = self._candidates(search, "_distance")
        return {key: 1 - distance for key, distance in distances.items()}

    def _candidates(self, search: "LanceQueryBuilder", score: str) -> Scores:
        """Scores, best first; the rows themselves are read once it is known which are wanted."""
        if self._condition:
            search = search.where(self._condition)
        limit = max(self.query.top, INTERACTING if self._interacting else FUSED)
        found = search.with_row_id(True).select([score]).limit(limit).to_arrow()
        return dict(zip(found["_rowid"].to_pylist(), found[score].to_pylist(), strict=True))

    @cached_property
    def _condition(self) -> str | None:
        return where(self.query.filters, marked=RESTRICTED in self._schema.names)

    @cached_property
    def _schema(self) -> pa.Schema:
        return self.table.schema

    def _read(self, keys: list[int]) -> pa.Table:
        """All that is needed of these rows, at once: a second look costs more than what is read in vain."""
        vectors = [VECTOR, WORDS] if self._interacting else []
        columns = [*vectors, *hit_columns(self._schema), "embedding_model"]
        return self.table.take_row_ids(keys).select(columns).with_row_id().to_arrow()

    def _compared(self, rows: pa.Table) -> Compared:
        """The candidates' vectors held against the question's."""
        vector, words = self.query.vector, self.query.word_vectors
        assert vector is not None
        assert words is not None
        ids = rows["_rowid"].to_pylist()
        vectors = rows[VECTOR].combine_chunks().flatten().to_numpy().reshape(len(ids), -1)
        cosines = vectors @ vector / np.linalg.norm(vectors, axis=1) / np.linalg.norm(vector)
        covered = max_sim(words, rows[WORDS].to_pylist())
        return Compared(*(dict(zip(ids, x.tolist(), strict=True)) for x in (cosines, covered.scores, covered.weakest)))


def _by_id(rows: pa.Table, wanted: Collection[int]) -> dict[int, dict[str, Any]]:
    told = rows.drop_columns([name for name in (VECTOR, WORDS) if name in rows.column_names])
    chosen = told.filter(pc.is_in(told["_rowid"], pa.array(wanted, pa.uint64())))
    return {row["_rowid"]: row for row in chosen.to_pylist()}


def _fused(keywords: Scores, vectors: Scores, compared: Compared) -> Scores:
    """One score of each row, best first."""
    if compared.words:
        return by_interaction(compared.words, compared.cosines, keywords)
    if keywords and vectors:
        return reciprocal_rank_fusion([list(vectors), list(keywords)])
    return keywords or vectors
