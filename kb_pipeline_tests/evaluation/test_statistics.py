"""Bootstrap intervals."""

import numpy as np
import pytest

from kb_pipeline.evaluation.statistics import mean_score, separation_score


def test_an_interval_is_the_same_each_time_and_holds_the_value() -> None:
    values = [0.0, 1.0, 1.0, 1.0, 0.5] * 8
    assert mean_score(values) == mean_score(values)
    score = mean_score(values)
    assert (score.value, score.n) == (0.7, 40)
    assert score.low < score.value < score.high


def test_it_is_as_wide_as_theory_says() -> None:
    score = mean_score([0.0, 1.0] * 200)
    expected = 1.96 * 0.5 / 20
    assert score.high - score.value == pytest.approx(expected, rel=0.1)
    assert score.value - score.low == pytest.approx(expected, rel=0.1)


def test_values_of_one_question_are_drawn_together() -> None:
    values = [0.0, 0.0, 1.0, 1.0] * 20
    alone, together = mean_score(values), mean_score(values, [str(number // 2) for number in range(80)])
    assert together.value == alone.value
    assert together.high - together.low == pytest.approx(2**0.5 * (alone.high - alone.low), rel=0.15)


def test_one_value_has_no_width() -> None:
    assert mean_score([0.25]).model_dump() == {"value": 0.25, "low": 0.25, "high": 0.25, "n": 1}


@pytest.mark.parametrize(
    ("higher", "lower", "area"),
    [([2, 3], [0, 1], 1.0), ([0, 1], [2, 3], 0.0), ([1], [1], 0.5), ([1, 3], [2], 0.5), ([5, 1, 4], [3, 0], 5 / 6)],
)
def test_separation_is_the_share_of_pairs_in_order(higher: list[float], lower: list[float], area: float) -> None:
    assert separation_score(higher, lower).value == pytest.approx(area, abs=1e-6)


def test_separation_without_any_is_a_coin() -> None:
    generator = np.random.default_rng(7)
    score = separation_score(list(generator.normal(size=200)), list(generator.normal(size=80)))
    assert score.low < 0.5 < score.high
    assert score.high - score.low < 0.2


@pytest.mark.slow("builds a whole knowledge base")
def test_many_values_take_little_memory_and_no_time() -> None:
    score = mean_score([0.0, 1.0] * 5_000)
    assert score.high - score.low < 0.025
