"""Rankings of the same question by different means, made one."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)
RANK_CONSTANT = 60
VECTOR_WEIGHT = 0.25
KEYWORD_WEIGHT = 0.05
"""What cosine and BM25 add to MaxSim: where both stop helping development questions, and held-out ones not yet lose."""


def reciprocal_rank_fusion(rankings: Iterable[Sequence[Key]]) -> dict[Key, float]:
    """Score of each key, best first: the sum of ``1 / (60 + rank)`` over the rankings that hold it.

    Cormack, Clarke, Buettcher: Reciprocal Rank Fusion Outperforms Condorcet and Individual Rank Learning
    Methods, SIGIR 2009. Equal scores keep the order in which the ids first appear.
    """
    scores: dict[Key, float] = {}
    for ids in rankings:
        for rank, key in enumerate(ids, start=1):
            scores[key] = scores.get(key, 0.0) + 1 / (RANK_CONSTANT + rank)
    return dict(sorted(scores.items(), key=lambda item: -item[1]))


def by_interaction(
    covered: Mapping[Key, float], cosines: Mapping[Key, float], keywords: Mapping[Key, float]
) -> dict[Key, float]:
    """Score of each key of ``covered``, best first: mostly its MaxSim, a little its cosine and BM25.

    Those two keep the order right for identifiers and misspelt words. BM25 counts as a share of the best, and as 0
    for what has none of the words.
    """
    best = max(keywords.values(), default=0.0) or 1.0
    scores = {
        key: score + VECTOR_WEIGHT * cosines[key] + KEYWORD_WEIGHT * keywords.get(key, 0.0) / best
        for key, score in covered.items()
    }
    return dict(sorted(scores.items(), key=lambda item: -item[1]))
