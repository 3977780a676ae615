"""What a reasoning model says to itself is left out, however its text is cut into pieces."""

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.answering.model_calls import WithoutThoughts


def spoken(*pieces: str) -> str:
    words = WithoutThoughts()
    return "".join([*(words.feed(piece) for piece in pieces), words.finish()])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Hello <think>x</think>", "Hello <think>x</think>"),
        ("<think>Hm.</think>\n\nHello", "Hello"),
        ("\n<think></think>Hello", "Hello"),
        ("<think>never ends", ""),
        ("<thin ice", "<thin ice"),
        ("<", "<"),
        ("", ""),
    ],
)
def test_thoughts_at_the_beginning_are_left_out(text: str, said: str) -> None:
    assert spoken(text) == said


@given(st.text("<think>/ a", max_size=40), st.lists(st.integers(0, 40), max_size=5))
def test_it_does_not_matter_how_the_text_is_cut(text: str, cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(text)]
    assert spoken(*(text[a:b] for a, b in pairwise(places))) == spoken(text)


def test_words_without_thoughts_are_not_held_back() -> None:
    assert WithoutThoughts().feed("H") == "H"


def test_long_thoughts_take_linear_time() -> None:
    begun = time.process_time()
    assert spoken("<think>", *["thought "] * 100_000, "</think>Hello") == "Hello"
    assert time.process_time() - begun < 2
