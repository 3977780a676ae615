"""Words are known in their forms, and as compounds of words; slips are not."""

import pytest

from app.language.dictionaries import is_word


@pytest.mark.parametrize(
    ("word", "language"),
    [
        ("crate", "en"),
        ("Layers", "en"),
        ("Arbeitsspeicher", "de"),
        ("angezeigt", "de"),
        ("Ebenenmaske", "de"),
        ("Sicherungsplan", "de"),
        ("imprimante", "fr"),
        ("contraseña", "es"),
    ],
)
def test_a_word_is_known(word: str, language: str) -> None:
    assert is_word(word, language)


@pytest.mark.parametrize(
    ("word", "language"),
    [("crpo", "en"), ("langauge", "en"), ("Pasword", "de"), ("löshcen", "de"), ("Bidl", "de"), ("crate", "xx")],
)
def test_a_slip_is_not(word: str, language: str) -> None:
    assert not is_word(word, language)
