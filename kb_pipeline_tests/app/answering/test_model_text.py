"""What a model says reaches readers in whole words, without what it says to itself, however its text is cut."""

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.model.calls import ModelText


def spoken(*pieces: str) -> str:
    words = ModelText()
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


def test_a_word_is_shown_when_it_is_whole() -> None:
    words = ModelText()
    assert [words.feed(piece) for piece in ("H", "ow ", "do I", " cr", "op?\n")] == ["", "How ", "do ", "I ", "crop?\n"]
    assert ModelText().feed("レイヤーの切り抜き方法を教えて下さい") == "レイヤーの切り抜き方法を教えて下さい"


def test_single_characters_become_as_many_pieces_as_words() -> None:
    text = "Crop the layer to its content. " * 100
    words = ModelText()
    assert len([piece for character in text if (piece := words.feed(character))]) == len(text.split())


def test_long_thoughts_take_linear_time() -> None:
    begun = time.process_time()
    assert spoken("<think>", *["thought "] * 100_000, "</think>Hello") == "Hello"
    assert time.process_time() - begun < 2
