"""Which words of one text are which words of another."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.steps.restore.align import align
from kb_pipeline.steps.restore.article import read_tree
from kb_pipeline.steps.restore.words import read_words

TEXT = "Open the settings and choose the language that you want to read"


def found(one: str, other: str) -> dict[str, str]:
    """For each word of the one text that is found, what it is in the other."""
    a, b = read_words(read_tree(one), {}), read_words(read_tree(other), {})
    places = align(a, b).places
    spots = {word: b.words[place.first].spot.text[place.start : place.end] for word, place in places.items()}
    return {a.text(word): text for word, text in spots.items()}


@pytest.mark.parametrize(
    ("other", "word", "text"),
    [
        (TEXT, "language", "language"),
        (TEXT.upper(), "language", "LANGUAGE"),
        (TEXT.replace("language", "1anguaqe"), "language", "1anguaqe"),
        (TEXT.replace("settings and", "settingsand"), "and", "and"),
        (TEXT.replace("language", "lan guage"), "language", "lan guage"),
        (TEXT.replace("language", "**language**"), "language", "language"),
        ("Many words before it. " + TEXT, "language", "language"),
    ],
)
def test_a_word_is_found_however_it_was_read(other: str, word: str, text: str) -> None:
    assert found(TEXT, other)[word] == text


def test_words_of_another_text_are_not_found() -> None:
    assert found(TEXT, "Bread is baked in the oven and then sold to whom it may concern by noon") == {}


def test_a_lost_sentence_is_not_found_and_all_others_are() -> None:
    lost = " Sentences may vanish altogether."
    after = " Nothing of this has gone anywhere at all."
    words = found(TEXT + "." + lost + after, TEXT + "." + after)
    assert not {"Sentences", "vanish", "altogether"} & words.keys()
    assert {"settings", "language", "Nothing", "anywhere"} <= words.keys()


@pytest.mark.slow("builds a whole knowledge base")
@given(st.lists(st.sampled_from("the a file menu open click 1 2".split()), max_size=600))
def test_every_text_is_found_in_itself(words: list[str]) -> None:
    reading = read_words(read_tree(" ".join(words)), {})
    assert {word: place.first for word, place in align(reading, reading).places.items()} == dict(
        enumerate(range(len(reading.words)))
    )
