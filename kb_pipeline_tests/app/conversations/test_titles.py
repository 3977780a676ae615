"""A title is one short line, whatever was asked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.conversations.entries import MOST, UNTITLED, one_line, title_of
from kb_pipeline_tests.growth import grows_in_proportion


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("How do I crop a layer?", "How do I crop a layer?"),
        ("  How do I\n\n\tcrop   a layer? ", "How do I crop a layer?"),
        (
            "Hello team,\n\nwe moved.\nHow do we\nkeep our layers?\nKind regards\nAnn Example",
            "How do we keep our layers?",
        ),
        ("x" * 80, "x" * 80),
        ("x" * 81, "x" * 79 + "…"),
        ("word " * 16 + "x", "word " * 15 + "word…"),
        ("word " * 15 + "four more", "word " * 15 + "four…"),
        ("a" * 79 + " b", "a" * 79 + "…"),
        ("", UNTITLED),
        ("\x00\u202e\ud800 \n", UNTITLED),
        ("evil \u202etxt.exe", "evil txt.exe"),
        ("a\x00b\x1bc", "abc"),
        ("👩‍👩‍👧 wide", "👩‍👩‍👧 wide"),
    ],
)
def test_titles(question: str, title: str) -> None:
    assert title_of(question) == title


@given(st.text(max_size=300))
def test_a_title_is_one_short_line_that_is_there(question: str) -> None:
    title = title_of(question)
    assert 0 < len(title) <= MOST
    assert title == " ".join(title.split())
    assert title_of(title) == title
    title.encode()


def test_a_title_of_your_own_may_be_longer_but_not_endless() -> None:
    assert len(one_line("word " * 1000)) == 199


def test_the_title_of_a_megabyte_is_as_short() -> None:
    assert len(title_of("word " * 1_000_000)) <= MOST
    assert grows_in_proportion(lambda words: title_of("word " * words), 1_000_000)
