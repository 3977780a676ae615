"""Misspelt words of a question are replaced by near words of the articles, all others stay."""

import pytest

from app.language.spelling import corrected, is_word, nearest, unknown_words, word_counts

KNOWN = word_counts(
    ["Crop a layer. Crop it again, with the scale tool; cron runs it.", "Gaussian [blur](https://example.com/blurred)"]
)


def test_words_are_counted_as_a_reader_sees_them() -> None:
    assert KNOWN["crop"] == 2
    assert "blurred" not in KNOWN


def test_only_words_that_are_neither_known_nor_little_are_unknown() -> None:
    assert unknown_words("How would I Crpo the LAYER with GIMP3 or sRGB?", KNOWN) == ["Crpo", "sRGB"]


@pytest.mark.parametrize(
    ("misspelt", "meant"),
    [
        ("crpo", "crop"),
        ("Laeyr", "layer"),
        ("gausian", "gaussian"),
        ("sclae", "scale"),
        ("ayer", None),
        ("scaler", None),
        ("tournament", None),
        ("crown", None),
        ("layers-of-the-atmosphere", None),
    ],
)
def test_the_nearest_word_is_the_one_that_was_meant(misspelt: str, meant: str | None) -> None:
    assert nearest(misspelt, KNOWN) == meant


@pytest.mark.parametrize(("misspelt", "meant"), [("beeing", "being"), ("wich", "which")])
def test_a_misspelt_little_word_becomes_no_word_of_the_articles(misspelt: str, meant: str) -> None:
    assert nearest(misspelt, word_counts(["It has been switched off with a wish."])) == meant


def test_only_misspelt_words_change_and_capitals_stay() -> None:
    assert corrected("Crpo a *laeyr*, crpoped?", {"Crpo": "crop", "laeyr": "layer"}) == "Crop a *layer*, crpoped?"


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
