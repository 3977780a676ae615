"""Batches: bounded, complete, in order, articles whole where possible."""

from itertools import chain

from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.search.azure.publish import MOST_BYTES, MOST_DOCUMENTS, USUAL_DOCUMENTS, batches

ARTICLES = st.lists(st.lists(st.sampled_from([1_000, 100_000, 1_000_000, 3_000_000]), max_size=12), max_size=12)


@given(ARTICLES)
def test_nothing_is_lost_and_no_batch_is_too_large(articles: list[list[int]]) -> None:
    made = list(batches(articles, lambda size: size))
    assert list(chain.from_iterable(made)) == list(chain.from_iterable(articles))
    assert all(0 < len(batch) <= MOST_DOCUMENTS and sum(batch) <= MOST_BYTES for batch in made)


def test_articles_share_a_batch_and_are_not_cut() -> None:
    articles = [[(article, part) for part in range(70)] for article in range(7)]
    made = list(batches(articles, lambda _: 10))
    assert [len(batch) for batch in made] == [140, 140, 140, 70]
    assert all(len(batch) <= USUAL_DOCUMENTS for batch in made)


def test_an_article_of_usual_size_and_more_still_goes_at_once() -> None:
    assert [len(batch) for batch in batches([["x"] * 999, ["y"] * 2], lambda _: 10)] == [999, 2]


def test_an_article_that_no_batch_can_hold_is_cut() -> None:
    assert [len(batch) for batch in batches([["x"] * 2500], lambda _: 10)] == [1000, 1000, 500]


def test_a_document_that_is_too_large_goes_alone() -> None:
    assert list(batches([[1, 20_000_000, 2]], lambda size: size)) == [[1], [20_000_000], [2]]
