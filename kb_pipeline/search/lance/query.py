"""One search in one version of a LanceDB table: finds candidates by words and by vector, then ranks and reads them.

MaxSim itself is computed in ``steps.late_interaction``; the columns are defined in ``table``.
"""

from collections.abc import Container, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from kb_pipeline.languages import ENGLISH, NAMES, language_of, stems
from kb_pipeline.records import SearchHit
from kb_pipeline.search.base import Query, Vector
from kb_pipeline.search.lance.table import (
    BESIDE,
    SEARCHED,
    STEMS,
    STORED,
    VECTOR,
    WORDS,
    StoredPassages,
    to_chunk,
    where,
)
from kb_pipeline.steps.late_interaction import MaxSim, max_sim, told_apart

if TYPE_CHECKING:
    from lancedb.query import LanceQueryBuilder
    from lancedb.table import LanceTable


Key = TypeVar("Key", bound=Hashable)
RANK_CONSTANT = 60
"""As in the paper that :func:`reciprocal_rank_fusion` names."""
VECTOR_WEIGHT = 0.25
KEYWORD_WEIGHT = 0.05
"""Weights of cosine and BM25 next to MaxSim: higher ones help development questions no more, and hurt held-out ones."""
STEMS_WEIGHT = 0.2
"""The weight of BM25 for those who ask in another language than English, in sections that are not in English: the
vectors of English models tell those apart less well, and others are hardly hurt."""


def reciprocal_rank_fusion(rankings: Iterable[Sequence[Key]]) -> dict[Key, float]:
    """Map each key to its score, best first: the sum of ``1 / (60 + rank)`` over the rankings that contain it.

    Cormack, Clarke, Buettcher: Reciprocal Rank Fusion Outperforms Condorcet and Individual Rank Learning Methods, SIGIR
    2009. Keys with equal scores keep the order in which they first appear.
    """
    scores: dict[Key, float] = {}
    for ids in rankings:
        for rank, key in enumerate(ids, start=1):
            scores[key] = scores.get(key, 0.0) + 1 / (RANK_CONSTANT + rank)
    return dict(sorted(scores.items(), key=lambda item: -item[1]))


def by_interaction(
    covered: Mapping[Key, float],
    cosines: Mapping[Key, float],
    keywords: Mapping[Key, float],
    stemmed: Container[Key] = (),
) -> dict[Key, float]:
    """Map each key of ``covered`` to its score, best first: mostly MaxSim, with a little cosine and BM25.

    Cosine and BM25 keep the order right for identifiers and misspelt words. BM25 counts as a share of the best score,
    more for ``stemmed`` keys, which are not in English, and as 0 for keys that contain none of the words.
    """
    best = max(keywords.values(), default=0.0) or 1.0
    scores = {
        key: score
        + VECTOR_WEIGHT * cosines[key]
        + (STEMS_WEIGHT if key in stemmed else KEYWORD_WEIGHT) * keywords.get(key, 0.0) / best
        for key, score in covered.items()
    }
    return dict(sorted(scores.items(), key=lambda item: -item[1]))


INTERACTING = 30
"""Candidates of each half that are reranked by word vectors; more of them do not change the first places."""
FUSED = 50
"""Candidates of each half that are ordered by their ranks only."""
PROBES = 64
"""Partitions of the vector index to search. Each has some 4,096 rows, so up to 250,000 rows are searched completely."""
REFINED = 2
"""Candidates to compare exactly for each wanted hit, because the distances of the vector index are rough."""

Scores = dict[int, float]
"""Scores by row id."""


@dataclass(frozen=True)
class Compared:
    """What the best passage of each candidate yields: cosine, MaxSim, and the cosine of the word covered least.

    If the question's telling words are known, also how well the rare ones of them are covered, and how much better all
    are than by other candidates.
    """

    cosines: Scores = field(default_factory=dict)
    words: Scores = field(default_factory=dict)
    weakest: Scores = field(default_factory=dict)
    rare: Scores = field(default_factory=dict)
    above_usual: Scores = field(default_factory=dict)


@dataclass(frozen=True)
class TableSearch:
    """A query to a table; ``interacts`` says whether its word vectors are packed as this version reads them."""

    table: "LanceTable"
    query: Query
    interacts: bool

    def hits(self) -> list[SearchHit]:
        """Return the best chunks, best first."""
        keywords, stemmed = self._by_keywords() if self.query.words else ({}, frozenset())
        vectors = self._by_vector(self.query.vector) if self.query.vector is not None else {}
        if not keywords and not vectors:
            return []
        candidates = self._read([*dict.fromkeys([*vectors, *keywords])]) if self._interacting else None
        compared = self._compared(candidates) if candidates is not None else Compared()
        cosines = compared.cosines or vectors
        best = dict(islice(_fused(keywords, vectors, compared, stemmed).items(), self.query.top))
        table = self._read([*best]) if candidates is None else candidates
        table = table.drop_columns([name for name in (VECTOR, WORDS) if name in table.column_names])
        table = table.filter(pc.is_in(table["_rowid"], pa.array(best, pa.uint64())))
        rows = {row["_rowid"]: row for row in table.to_pylist()}
        return [
            SearchHit(
                chunk=to_chunk(rows[key]),
                score=score,
                keyword_score=keywords.get(key),
                vector_score=cosines.get(key),
                word_score=compared.words.get(key),
                weakest_word=compared.weakest.get(key),
                rare_score=compared.rare.get(key),
                above_usual=compared.above_usual.get(key),
                embedding_model=rows[key]["embedding_model"],
            )
            for key, score in best.items()
        ]

    @property
    def _interacting(self) -> bool:
        return self.interacts and self.query.word_vectors is not None and self.query.vector is not None

    def _by_keywords(self) -> tuple[Scores, frozenset[int]]:
        """Return the BM25 scores, best first, and which rows are of sections that are not in English."""
        kinds = self.query.filters.block_type
        sections: Scores = {}
        stemmed: Scores = {}
        if kinds is None or "text" in kinds:
            # Only sections have words in these columns, so that no condition on their kind is needed, which takes time.
            condition = where(self.query.filters.model_copy(update={"block_type": None}), self._schema)
            sections = self._containing(self.query.words, SEARCHED, condition)
            if STEMS in self._schema.names and (words := _in_stems(self.query.words)):
                stemmed = self._containing(words, STEMS, condition)
        beside: Scores = {}
        if kinds != ("text",):
            beside = self._containing(self.query.words, BESIDE, self._condition)
        ranked = sorted((sections | stemmed | beside).items(), key=lambda item: -item[1])
        is_english = bool(stemmed) and language_of(self.query.words) == ENGLISH
        return dict(ranked), frozenset(() if is_english else stemmed)

    def _containing(self, words: str, column: str, condition: str | None) -> Scores:
        from lancedb.query import MatchQuery

        # A MatchQuery takes words as they are; a plain string may be read as query syntax.
        return self._candidates(self.table.search(MatchQuery(words, column), query_type="fts"), "_score", condition)

    def _by_vector(self, vector: Vector) -> Scores:
        # Name the distance, because without an index the default is Euclidean.
        search = self.table.search(vector, VECTOR, query_type="vector").distance_type("cosine").nprobes(PROBES)
        if not self._interacting:  # otherwise the cosines of all candidates are computed anyway
            search = search.refine_factor(REFINED)
        distances = self._candidates(search, "_distance", self._condition)
        return {key: 1 - distance for key, distance in distances.items()}

    def _candidates(self, search: "LanceQueryBuilder", score: str, condition: str | None) -> Scores:
        """Return scores by row id, best first; only the rows of the final hits are read."""
        if condition:
            search = search.where(condition)
        limit = max(self.query.top, INTERACTING if self._interacting else FUSED)
        rows = search.with_row_id(True).select([score]).limit(limit).to_arrow()
        return dict(zip(rows["_rowid"].to_pylist(), rows[score].to_pylist(), strict=True))

    @cached_property
    def _condition(self) -> str | None:
        return where(self.query.filters, self._schema)

    @cached_property
    def _schema(self) -> pa.Schema:
        return self.table.schema

    def _read(self, keys: list[int]) -> pa.Table:
        """Read all needed columns of these rows at once, because a second read costs more than unused columns."""
        vectors = [VECTOR, WORDS] if self._interacting else []
        columns = [*vectors, STORED, "embedding_model"]
        rows = self.table.take_row_ids(keys).select(columns).with_row_id().to_arrow()
        if missing := set(keys) - set(rows["_rowid"].to_pylist()):
            raise ValueError(f"row {min(missing)}, which its index names, was not found: the index is corrupt")
        return rows

    def _compared(self, rows: pa.Table) -> Compared:
        vector, words = self.query.vector, self.query.word_vectors
        assert vector is not None
        assert words is not None
        ids = rows["_rowid"].to_pylist()
        passages = StoredPassages.of(rows)
        cosines = passages.vectors @ vector / np.linalg.norm(passages.vectors, axis=1) / np.linalg.norm(vector)
        covered = max_sim(words, passages.words)
        best = _best_of_each(covered.scores + VECTOR_WEIGHT * cosines, passages.starts)
        covered = MaxSim(covered.best[best])
        scores = [cosines[best], covered.scores, covered.weakest]
        if self.query.telling:
            scores += told_apart(covered.of_words(self.query.telling))
        return Compared(*(dict(zip(ids, each.tolist(), strict=True)) for each in scores))


def _best_of_each(scores: npt.NDArray[np.float32], starts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the position of the best score of each group; ``starts`` are the positions of their first ones."""
    ends = [*starts[1:].tolist(), len(scores)]
    return np.array([start + int(scores[start:end].argmax()) for start, end in zip(starts.tolist(), ends, strict=True)])


def _in_stems(words: str) -> str:
    """Return the stems of words in every language but English; those of a wrong language are in no section."""
    return " ".join(dict.fromkeys(each for name in NAMES if name != ENGLISH for each in stems(words, name)))


def _fused(keywords: Scores, vectors: Scores, compared: Compared, stemmed: Container[int]) -> Scores:
    if compared.words:
        return by_interaction(compared.words, compared.cosines, keywords, stemmed)
    if keywords and vectors:
        return reciprocal_rank_fusion([list(vectors), list(keywords)])
    return keywords or vectors
