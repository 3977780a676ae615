"""Questions as words: nothing in them is syntax."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.search.azure.query import plain_words


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("How do I crop?", "How do I crop?"),
        ('"exact phrase" +must -not', "exact phrase must not"),
        ("wild* c++ (a|b) \\", "wild c a b"),
        ("- -- --dashes e-mail x-", "dashes e-mail x-"),
        ("don't", "don't"),
        ("?! ... -", ""),
        ("fuzzy~2", "fuzzy 2"),
    ],
)
def test_operators_are_no_words(asked: str, words: str) -> None:
    assert plain_words(asked) == words


@given(st.text(st.sampled_from('ab -+|"()*~\\?'), max_size=20))
def test_no_operator_is_left(asked: str) -> None:
    words = plain_words(asked).split()
    assert not any(set(word) & set('+|"()*~\\') or word.startswith("-") for word in words)
