"""Words are compared without their endings: in English and German at once, or in a language that is told."""

import pytest

from app.language.words import words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("How do I crop the layers?", ["crop", "lay"]),
        ("cropping and cropped layer", ["crop", "crop", "lay"]),
        ("Wie dupliziere ich Ebenen?", ["duplizi", "eben"]),
        ("die Ebene, der Ebene", ["eben", "eben"]),
        ("What's the app's name? I don't know", ["app", "nam", "know"]),
        ("See [the menu](https://example.com/layers) [Ref #3]", ["see", "menu"]),
    ],
)
def test_of_english_and_german_texts_the_endings_and_little_words_go(text: str, found: list[str]) -> None:
    assert words(text) == found


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("fr", "les calques dupliqués", "dupliquer un calque"),
        ("es", "las capas duplicadas", "duplicar una capa"),
        ("de", "die duplizierten Ebenen", "dupliziert die Ebene"),
        ("en", "the duplicated layers", "duplicate a layer"),
    ],
)
def test_in_a_language_that_is_told_its_own_forms_are_equal(language: str, one: str, other: str) -> None:
    assert sorted(words(one, language)) == sorted(words(other, language))
