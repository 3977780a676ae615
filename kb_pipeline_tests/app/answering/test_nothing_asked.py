"""What asks nothing is no gap: greetings, tries of the keyboard, signs; real questions are, however short."""

import pytest

from app.answering.nothing_asked import asks_nothing, says_nothing
from kb_pipeline.models.hashing import HashingEmbedder


@pytest.mark.parametrize(
    "text",
    [
        *("", "?!", "...", "123 456", "👍", "hahaha", "xxx", "aaaaaa", "test test", "bla bla bla"),
        *("hello", "Hi [name]", "thanks!", "Guten Tag", "merci beaucoup", "gracias"),
    ],
)
def test_it_is_known_by_its_form(text: str) -> None:
    assert says_nothing(text)
    assert asks_nothing(text, HashingEmbedder())


@pytest.mark.parametrize(
    "text",
    [
        "splunk",
        "okta saml",
        "VPN",
        "Why?",
        "Is there a mobile app?",
        "price",
        "LDAP 3",
        "zxqv wvut",
        "Passwort",
        "密码",
    ],
)
def test_who_names_something_wants_to_know_about_it(text: str) -> None:
    assert not says_nothing(text)
    assert not asks_nothing(text, HashingEmbedder())


@pytest.mark.parametrize(
    ("text", "is_idle"), [("foo bar baz", True), ("lorem ipsum dolor", True), ("foo bar baz " * 9, False)]
)
def test_it_is_known_by_being_like_examples_unless_it_is_long(text: str, is_idle: bool) -> None:
    assert not says_nothing(text)
    assert asks_nothing(text, HashingEmbedder()) is is_idle
