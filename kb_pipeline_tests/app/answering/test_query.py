"""What is searched for when no model rewords a follow-up."""

import pytest

from app.answering.base import Message, Question
from app.answering.query import search_query
from app.principal import Principal

CROP = "How do I crop a layer?"


def query(text: str, *before: str) -> str:
    history = [turn for asked in before for turn in (Message("user", asked), Message("assistant", "An answer."))]
    return search_query(Question(text, Principal(), 5, tuple(history)))


@pytest.mark.parametrize(
    "text",
    [
        "And how do I undo it?",
        "Why?",
        "what about ellipses",
        "Where is that dialog?",
        "Can I do this with the keyboard?",
        "?",
    ],
)
def test_a_follow_up_borrows_the_words_of_the_question_before(text: str) -> None:
    assert query(text, CROP) == f"{text}\n{CROP}"


@pytest.mark.parametrize(
    "text",
    [
        "How do I print on both sides?",
        "Wie schneide ich eine Ebene zu?",
        "Which key makes some dimensions fixed?",
        "How do I print?",
    ],
)
def test_a_question_that_stands_on_its_own_borrows_nothing(text: str) -> None:
    assert query(text, CROP) == text


def test_the_first_question_has_nothing_to_borrow() -> None:
    assert query("Why?") == "Why?"


def test_follow_ups_of_follow_ups_reach_back_to_the_subject_but_not_far() -> None:
    assert query("Why?", "Set up a printer.", CROP, "And how do I undo it?") == f"Why?\nAnd how do I undo it?\n{CROP}"
    assert query("Why?", CROP, "How?", "When?") == "Why?\nWhen?\nHow?"
