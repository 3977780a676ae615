"""The language of a question, and what is said to who asks in another one than the articles'."""

import pytest

from app.answering.languages import language_note, language_of

ENGLISH = "The layer is scaled with the tool that you find in the box."
GERMAN = "Die Ebene wird mit dem Werkzeug skaliert, das es in der Leiste gibt."


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("How do I scale a layer?", "en"),
        ("Wie skaliere ich eine Ebene?", "de"),
        ("Pinsel vergrößern funktioniert nicht", "de"),
        ("Où se trouve la boîte de dialogue d'exportation ?", "fr"),
        ("Quels formats de fichier sont pris en charge ?", "fr"),
        ("¿Cómo escalo una capa?", "es"),
        ("No puedo abrir la imagen", "es"),
        ("Perché la mia immagine non si apre", "it"),
        ("Não consigo abrir a imagem", "pt"),
        ("Quais formatos de arquivo são suportados?", "pt"),
        ("Waar vind ik het exportvenster?", "nl"),
    ],
)
def test_little_words_tell_the_language(question: str, language: str) -> None:
    assert language_of(question) == language


@pytest.mark.parametrize("question", ["", "crop layer", "sclae laeyr", "zxqv wvut", "KB_HOME=/tmp", "レイヤー"])
def test_without_little_words_no_language_is_guessed(question: str) -> None:
    assert language_of(question) is None


@pytest.mark.parametrize(
    ("question", "note"),
    [
        ("Wie skaliere ich eine Ebene?", "Die Artikel sind auf Englisch. Bitte fragen Sie auf Englisch."),
        ("¿Cómo escalo una capa?", "Los artículos están en inglés. Pregunte en inglés, por favor."),
        ("How do I scale a layer?", None),
        ("Ebene skalieren", None),
    ],
)
def test_who_asks_in_another_language_is_told_so_in_it(question: str, note: str | None) -> None:
    assert language_note(question, [ENGLISH, ENGLISH, "1 2 3"]) == note


def test_an_english_question_to_german_articles_is_told_so_in_english() -> None:
    assert language_note("How do I scale a layer?", [GERMAN]) == "The articles are in German. Please ask in German."


def test_articles_in_both_languages_need_no_note() -> None:
    assert language_note("Wie skaliere ich eine Ebene?", [*[ENGLISH] * 9, GERMAN]) is None
    assert language_note("Wie skaliere ich eine Ebene?", []) is None
