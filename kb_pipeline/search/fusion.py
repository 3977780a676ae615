"""Rankings of the same question by different means, made one."""

from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)
RANK_CONSTANT = 60


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
