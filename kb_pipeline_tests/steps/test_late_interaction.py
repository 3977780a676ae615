"""MaxSim over words' vectors of which passages keep the signs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.steps.late_interaction import Floats, MaxSim, max_sim, pack_words, packed_size, told_apart


def unit(words: int, dimensions: int, seed: int) -> Floats:
    vectors = np.random.default_rng(seed).normal(size=(words, dimensions)).astype(np.float32)
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9), np.float32)


@given(st.integers(1, 60), st.integers(1, 5), st.lists(st.integers(0, 7), max_size=5), st.integers(0, 99))
def test_it_is_the_mean_and_the_least_of_the_best_cosines_with_signs(
    dimensions: int, words: int, lengths: list[int], seed: int
) -> None:
    question = unit(words, dimensions, seed)
    passages = [unit(length, dimensions, seed + number) for number, length in enumerate(lengths, 1)]
    found = max_sim(question, [pack_words(passage) for passage in passages])
    for passage, score, weakest in zip(passages, found.scores, found.weakest, strict=True):
        signs = np.where(passage > 0, 1, -1) / np.sqrt(dimensions) * np.sqrt(np.pi / 2)
        best = (signs @ question.T).max(axis=0) if len(passage) else np.zeros(words)
        assert score == pytest.approx(best.mean(), abs=1e-5)
        assert weakest == pytest.approx(best.min(), abs=1e-5)


def test_scores_are_close_to_those_of_the_vectors_themselves() -> None:
    topics = unit(40, 384, 1)
    passages = [topics[start : start + 10] + 0.03 * unit(10, 384, start) for start in range(0, 40, 10)]
    question = topics[[2, 5, 31]]
    found = max_sim(question, [pack_words(passage) for passage in passages])
    exact = [(question @ (p / np.linalg.norm(p, axis=1, keepdims=True)).T).max(axis=1).mean() for p in passages]
    assert found.scores == pytest.approx(np.array(exact), abs=0.08)


def test_a_long_word_counts_once_as_the_mean_of_its_pieces() -> None:
    found = MaxSim(np.array([[0.9, 0.1, 0.6, 0.3]], np.float32))  # two pieces of one word, a word, and one left out
    assert found.of_words([(0, 1), (2,)])[0].tolist() == pytest.approx([0.5, 0.6])


def test_a_word_that_few_passages_have_weighs_most() -> None:
    usual_one, rare_one = [0.9, 0.1], [0.1, 0.9]
    others = [[0.9, 0.1]] * 30
    rare, above = told_apart(np.array([usual_one, rare_one, *others], np.float32))
    assert rare[1] > 0.7 > 0.3 > rare[0], "the plain mean is .5 of both"
    assert above[1] == pytest.approx(above[0], abs=1e-5)


def test_what_every_passage_covers_alike_is_not_above_the_usual() -> None:
    alike = np.full((60, 3), 0.8, np.float32)
    one_covers_more = alike.copy()
    one_covers_more[0] = 0.95
    assert told_apart(one_covers_more)[1][0] > 0.15 > 0.1 > told_apart(alike)[1][0]


def test_of_a_single_passage_what_is_usual_is_not_told_by_itself() -> None:
    rare, above = told_apart(np.array([[0.9, 0.9]], np.float32))
    assert rare[0] == pytest.approx(0.9)
    assert above[0] > 0.4
    assert np.isfinite(told_apart(np.array([[1.2]], np.float32))[0]).all(), "cosines of signs may exceed 1"


def test_a_question_without_words_is_covered_by_nothing() -> None:
    found = max_sim(unit(0, 16, 1), [pack_words(unit(3, 16, 2)), b""])
    assert found.scores.tolist() == found.weakest.tolist() == [0, 0]


def test_a_word_takes_a_bit_a_dimension() -> None:
    assert len(pack_words(unit(3, 384, 1))) == 3 * packed_size(384) == 3 * 48
    assert pack_words(unit(0, 384, 1)) == b""


def test_what_was_packed_with_other_dimensions_is_refused() -> None:
    with pytest.raises(ValueError, match="384 dimensions"):
        max_sim(unit(2, 384, 1), [pack_words(unit(2, 256, 2))])
