"""In which language a reader is told something, and what is said to who asks in another one than the articles'."""

import pytest

from app.language.detection import language_note, reader_language

ENGLISH = "The layer is scaled with the tool that you find in the box."
GERMAN = "Die Ebene wird mit dem Werkzeug skaliert, das es in der Leiste gibt."


@pytest.mark.parametrize(
    ("question", "note"),
    [
        ("Wie skaliere ich eine Ebene?", "Die Artikel sind auf Englisch. Bitte fragen Sie auf Englisch."),
        ("¿Cómo escalo una capa?", "Los artículos están en inglés. Pregunte en inglés, por favor."),
        ("Waar vind ik het exportvenster?", "The articles are in English. Please ask in English."),
        ("How do I scale a layer?", None),
        ("sclae laeyr", None),
    ],
)
def test_who_asks_in_another_language_is_told_so_in_it(question: str, note: str | None) -> None:
    assert language_note(question, [ENGLISH, ENGLISH, "1 2 3"]) == note


def test_an_english_question_to_german_articles_is_told_so_in_english() -> None:
    assert language_note("How do I scale a layer?", [GERMAN]) == "The articles are in German. Please ask in German."


def test_articles_in_both_languages_need_no_note() -> None:
    assert language_note("Wie skaliere ich eine Ebene?", [*[ENGLISH] * 9, GERMAN]) is None
    assert language_note("Wie skaliere ich eine Ebene?", []) is None


@pytest.mark.parametrize(
    ("question", "passages", "language"),
    [
        ("Wie skaliere ich eine Ebene?", [ENGLISH], "de"),
        ("How do I scale a layer?", [GERMAN], "en"),
        ("Kernel 404", [GERMAN, GERMAN, ENGLISH], "de"),
        ("Kernel 404", [], "en"),
    ],
)
def test_a_reader_is_answered_in_the_language_of_the_question_and_in_doubt_of_the_articles(
    question: str, passages: list[str], language: str
) -> None:
    assert reader_language(question, passages) == language
