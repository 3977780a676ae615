"""Greetings, thanks and goodbyes."""

import pytest

from app.answering.planning.manners import courtesy_in, is_no_gap
from app.language.messages import Messages, in_every_language


@pytest.mark.parametrize(
    ("text", "language", "key"),
    [
        ("hello", "en", "greeting"),
        ("Hi there!", "en", "greeting"),
        ("thanks", "en", "thanked"),
        ("Thanks, that helped!", "en", "thanked"),
        ("ok", "en", "thanked"),
        ("Thank you so much for your help.", "en", "thanked"),
        ("bye", "en", "goodbye"),
        ("Hallo zusammen", "de", "greeting"),
        ("Vielen Dank, das hat geholfen", "de", "thanked"),
        ("Bonjour", "fr", "greeting"),
        ("Muchas gracias", "es", "thanked"),
    ],
)
def test_a_courtesy_is_answered_in_its_language(text: str, language: str, key: str) -> None:
    assert courtesy_in(text) == Messages.of(language)(key)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "all",
        "hello, how do I create a webhook?",
        "How do I say thanks to a customer?",
        "ok, and how do I undo it?",
        "greeting",
        "What is a good morning report?",
        "thanks " * 20,
    ],
)
def test_what_says_more_is_a_question(text: str) -> None:
    assert courtesy_in(text) is None


@pytest.mark.parametrize("key", ["greeting", "thanked", "goodbye", "none_of_these"])
def test_a_courtesy_is_no_gap(key: str) -> None:
    assert all(is_no_gap(text) for text in in_every_language(key))
    assert not is_no_gap("Nothing in the knowledge base answers this.")
