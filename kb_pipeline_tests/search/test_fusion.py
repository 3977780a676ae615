"""Reciprocal rank fusion."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.search.fusion import reciprocal_rank_fusion

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
