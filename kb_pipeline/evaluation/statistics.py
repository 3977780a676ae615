"""Bootstrap confidence intervals of scores and of differences between scores (percentile method, Efron 1979).

A question and its paraphrase are resampled together, because their results are correlated.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kb_pipeline.evaluation.records import Score

RESAMPLES = 2000
"""Enough for the ends of a 95 % interval, as Efron and Tibshirani advise: 1,000 or more."""
COVERAGE = 0.95
"""The usual one."""

Values = npt.NDArray[np.float64]

_AT_ONCE = 1_000_000
"""Numbers drawn at a time: 8 MB."""


def mean_score(values: Sequence[float], questions: Sequence[str] | None = None) -> Score:
    """The mean of at least one value, with its interval.

    ``questions`` are the ids of the values' questions; values of the same question are resampled together.
    """
    sums, counts = _by_question(np.asarray(values, np.float64), questions)
    drawn = _draws(len(sums), len(sums))
    means = np.concatenate([(draw @ sums) / (draw @ counts) for draw in drawn])
    low, high = _interval(means)
    return Score(value=_rounded(np.mean(values)), low=low, high=high, n=len(values))


def separation_score(higher: Sequence[float], lower: Sequence[float]) -> Score:
    """The area under the ROC curve: the share of pairs in which the ``higher`` value is higher (Mann-Whitney U).

    Both must have at least one value; ``n`` is the number of all values.
    """
    one, other = np.asarray(higher, np.float64)[:, None], np.asarray(lower, np.float64)[None]
    wins = (one > other) + 0.5 * (one == other)
    largest = max(wins.shape)
    pairs = zip(_draws(len(higher), largest, seed=1), _draws(len(lower), largest, seed=2), strict=True)
    areas = np.concatenate([np.einsum("rp,pn,rn->r", up, wins, down, optimize=True) for up, down in pairs])
    low, high = _interval(areas / wins.size)
    return Score(value=_rounded(wins.mean()), low=low, high=high, n=sum(wins.shape))


def _by_question(values: Values, questions: Sequence[str] | None) -> tuple[Values, Values]:
    """Sum and number of the values of each question."""
    if questions is None:
        return values, np.ones_like(values)
    _, places = np.unique(np.asarray(questions), return_inverse=True)
    return np.bincount(places, values).astype(np.float64), np.bincount(places).astype(np.float64)


def _draws(size: int, largest: int, seed: int = 0) -> list[Values]:
    """How often each of ``size`` items is drawn in each resample.

    The resamples come in blocks, so that a matrix of a block's rows and ``largest`` columns fits into memory.
    """
    generator = np.random.default_rng(seed)
    block = max(1, _AT_ONCE // largest)
    draws = []
    for start in range(0, RESAMPLES, block):
        rows = min(block, RESAMPLES - start)
        drawn = generator.integers(0, size, (rows, size)) + size * np.arange(rows)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=rows * size).reshape(rows, size)
        draws.append(counts.astype(np.float64))
    return draws


def _interval(resampled: Values) -> tuple[float, float]:
    tail = (1 - COVERAGE) / 2
    low, high = np.quantile(resampled, (tail, 1 - tail))
    return _rounded(low), _rounded(high)


def _rounded(value: float | np.floating) -> float:
    return round(float(value), 6)
