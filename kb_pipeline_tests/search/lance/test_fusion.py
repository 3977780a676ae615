"""Rankings made one: by ranks, and by late interaction."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.search.lance.query import by_interaction, reciprocal_rank_fusion

RANKING = st.lists(st.sampled_from("abcdefgh"), unique=True)


def test_scores_are_sums_of_reciprocal_ranks() -> None:
    scores = reciprocal_rank_fusion([["a", "b"], ["b", "c"]])
    assert scores == pytest.approx({"b": 1 / 62 + 1 / 61, "a": 1 / 61, "c": 1 / 62})
    assert list(scores) == ["b", "a", "c"]


@given(RANKING)
def test_one_ranking_keeps_its_order(ids: list[str]) -> None:
    assert list(reciprocal_rank_fusion([ids])) == ids


@given(RANKING, RANKING)
def test_what_both_rank_higher_is_ranked_higher(first: list[str], second: list[str]) -> None:
    fused = list(reciprocal_rank_fusion([first, second]))
    assert set(fused) == {*first, *second}
    for better in set(first) & set(second):
        for worse in set(first) & set(second):
            if first.index(better) < first.index(worse) and second.index(better) < second.index(worse):
                assert fused.index(better) < fused.index(worse)


def test_late_interaction_decides_where_it_tells_enough() -> None:
    scores = by_interaction({"a": 0.5, "b": 0.9}, {"a": 0.9, "b": 0.3}, {"a": 12.0, "b": 3.0})
    assert list(scores) == ["b", "a"]
    assert scores == pytest.approx({"a": 0.5 + 0.25 * 0.9 + 0.05, "b": 0.9 + 0.25 * 0.3 + 0.05 / 4})


def test_cosine_and_words_decide_between_equals() -> None:
    assert list(by_interaction({"a": 0.5, "b": 0.5}, {"a": 0.4, "b": 0.4}, {"b": 3.0})) == ["b", "a"]
    assert list(by_interaction({"a": 0.5, "b": 0.5}, {"a": 0.4, "b": 0.5}, {})) == ["b", "a"]


def test_words_count_for_more_where_a_section_is_not_in_english() -> None:
    covered, cosines, keywords = {"a": 0.5, "b": 0.6}, {"a": 0.4, "b": 0.4}, {"a": 3.0, "b": 1.0}
    assert list(by_interaction(covered, cosines, keywords)) == ["b", "a"]
    assert list(by_interaction(covered, cosines, keywords, {"a", "b"})) == ["a", "b"]
