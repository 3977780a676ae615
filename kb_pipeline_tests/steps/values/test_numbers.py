"""Numbers and places in an order are read from words, in English and German."""

import pytest

from kb_pipeline.steps.values.numbers import number_of, place_of


@pytest.mark.parametrize(
    ("word", "number"),
    [
        ("2", 2),
        ("two", 2),
        ("Fifty", 50),
        ("zwei", 2),
        ("zwanzig", 20),
        ("hundert", 100),
        ("second", None),
        ("a", None),
    ],
)
def test_what_a_word_counts(word: str, number: int | None) -> None:
    assert number_of(word) == number


@pytest.mark.parametrize(
    ("word", "place"),
    [("first", 1), ("2nd", 2), ("third", 3), ("ersten", 1), ("zweite", 2), ("4.", 4), ("two", None), ("last", None)],
)
def test_which_place_a_word_names(word: str, place: int | None) -> None:
    assert place_of(word) == place
