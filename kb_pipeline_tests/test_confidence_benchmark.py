"""How well a search tells questions that it answers: the weights that are fitted, and the area under the curve."""

import numpy as np
import pytest

from benchmarks.confidence import Asked, area, fitted, scores_of


def asked(*signs: float, is_right: bool) -> Asked:
    return Asked(signs, has_answer=is_right, is_right=is_right, is_reworded=False, is_answered=False)


def test_a_sign_that_tells_gets_a_weight_and_one_that_does_not_gets_none() -> None:
    values = np.random.default_rng(1).normal(size=(500, 2))
    chance = np.random.default_rng(2).random(500)
    questions = [
        asked(told, other, is_right=bool(draw < 1 / (1 + np.exp(-2 * told - 1))))
        for (told, other), draw in zip(values, chance, strict=True)
    ]
    assert fitted(questions) == pytest.approx([1, 2, 0], abs=0.35)


def test_scores_are_the_constant_and_the_weighted_signs() -> None:
    assert scores_of([asked(2, 3, is_right=True)], np.array([1, 10, 100])).tolist() == [321]


@pytest.mark.parametrize(("right", "others", "share"), [([2, 3], [0, 1], 1), ([1], [1], 0.5), ([0, 2], [1], 0.5)])
def test_the_area_is_how_often_a_right_one_scores_higher(right: list[int], others: list[int], share: float) -> None:
    assert area(np.array(right, float), np.array(others, float)) == share
