"""One search in one version of a LanceDB table: candidates by words and by vector, their order, and their rows.

Not here: what scores become together (fusion.py, late_interaction.py), what the columns mean (lancedb_rows.py).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

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
        compared = self._compared(dict.fromkeys([*vectors, *keywords]))
        cosines = compared.cosines or vectors
        best = dict(islice(_fused(keywords, vectors, compared).items(), self.query.top))
        rows = self._rows(list(best))
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
    def _word_vectors(self) -> Vector | None:
        return self.query.word_vectors if self.interacts else None

    def _by_keywords(self) -> Scores:
        from lancedb.query import MatchQuery

        # A MatchQuery takes words as they are; a plain string may be read as query syntax.
        words = MatchQuery(self.query.words, SEARCHED)
        return self._candidates(self.table.search(words, query_type="fts"), "_score")

    def _by_vector(self, vector: Vector) -> Scores:
        # The distance is said each time: without an index the default is Euclidean.
        search = self.table.search(vector, VECTOR, query_type="vector").distance_type("cosine").nprobes(PROBES)
        if self._word_vectors is None:  # else all candidates' cosines are computed anyway
            search = search.refine_factor(REFINED)
        distances = self._candidates(search, "_distance")
        return {key: 1 - distance for key, distance in distances.items()}

    def _candidates(self, search: "LanceQueryBuilder", score: str) -> Scores:
        """Scores, best first; the rows themselves are read once it is known which are wanted."""
        if self._condition:
            search = search.where(self._condition)
        limit = max(self.query.top, FUSED if self._word_vectors is None else INTERACTING)
        found = search.with_row_id(True).select([score]).limit(limit).to_arrow()
        return dict(zip(found["_rowid"].to_pylist(), found[score].to_pylist(), strict=True))

    @cached_property
    def _condition(self) -> str | None:
        return where(self.query.filters, marked=RESTRICTED in self.table.schema.names)

    def _compared(self, keys: Iterable[int]) -> Compared:
        """The candidates' vectors held against the question's; nothing where it has no word vectors."""
        keys, words, vector = list(keys), self._word_vectors, self.query.vector
        if not keys or words is None or vector is None:
            return Compared()
        rows = self._take(keys, [VECTOR, WORDS])
        ids = rows["_rowid"].to_pylist()
        vectors = rows[VECTOR].combine_chunks().flatten().to_numpy().reshape(len(ids), -1)
        cosines = vectors @ vector / np.linalg.norm(vectors, axis=1) / np.linalg.norm(vector)
        covered = max_sim(words, rows[WORDS].to_pylist())
        return Compared(*(dict(zip(ids, x.tolist(), strict=True)) for x in (cosines, covered.scores, covered.weakest)))

    def _rows(self, keys: list[int]) -> dict[int, dict[str, Any]]:
        rows = self._take(keys, [*hit_columns(self.table.schema), "embedding_model"]).to_pylist() if keys else []
        return {row["_rowid"]: row for row in rows}

    def _take(self, keys: list[int], columns: list[str]) -> pa.Table:
        return self.table.take_row_ids(keys).select(columns).with_row_id().to_arrow()


def _fused(keywords: Scores, vectors: Scores, compared: Compared) -> Scores:
    """One score of each row, best first."""
    if compared.words:
        return by_interaction(compared.words, compared.cosines, keywords)
    if keywords and vectors:
        return reciprocal_rank_fusion([list(vectors), list(keywords)])
    return keywords or vectors
