"""The language of short and misspelt texts, and words of each language in their stems."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from kb_pipeline.languages import NAMES, language_of, stem, stems, stop_words, telling_words


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("How do I scale a layer?", "en"),
        ("wher is teh tolbox", "en"),
        ("Wie skaliere ich eine Ebene?", "de"),
        ("Passwort zuruecksetzen", "de"),
        ("Pinsel vergrößern funktioniert nicht", "de"),
        ("Welche Dateiformate werden unterstützt?", "de"),
        ("Où se trouve la boîte de dialogue d'exportation ?", "fr"),
        ("réinitialiser le mot de passe", "fr"),
        ("¿Cómo escalo una capa?", "es"),
        ("No puedo abrir la imagen", "es"),
        ("Perché la mia immagine non si apre", "it"),
        ("Não consigo abrir a imagem", "pt"),
        ("Waar vind ik het exportvenster?", "nl"),
    ],
)
def test_a_short_text_tells_its_language(text: str, language: str) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize(
    "text", ["", "crop layer", "sclae laeyr", "wich formats", "zxqv wvut", "KB_HOME=/tmp", "404", "レイヤー", "\ud800"]
)
def test_in_doubt_no_language_is_named(text: str) -> None:
    assert language_of(text) is None


def test_only_a_language_that_the_text_may_be_in_is_named() -> None:
    assert language_of("Waar vind ik het exportvenster?", ("de", "en")) != "nl"


@pytest.mark.parametrize(
    ("language", "text", "found"),
    [
        ("de", "Wie dupliziere ich die Ebenen?", ["duplizi", "eben"]),
        ("en", "How do I duplicate the layers?", ["duplic", "layer"]),
        ("fr", "Comment dupliquer les calques ?", ["comment", "dupliqu", "calqu"]),
        ("xx", "The Layers", ["the", "layers"]),
    ],
)
def test_words_of_a_language_are_stems_without_stop_words(language: str, text: str, found: list[str]) -> None:
    assert stems(text, language) == found


def test_every_language_that_is_told_has_stop_words_and_stems() -> None:
    assert all(len(stop_words(language)) > 90 for language in NAMES)
    assert all(stem("a", language) == "a" for language in NAMES)


def test_threads_stem_at_once() -> None:
    words = [f"ebenen{number}en" for number in range(2_000)]
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda word: stem(word, "de"), words * 4))
    assert found == [stem(word, "de") for word in words * 4]


@pytest.mark.parametrize(
    ("text", "telling"),
    [
        ("How do I scale a layer?", ["scale", "layer"]),
        ("Wie skaliere ich die Ebene?", ["skaliere", "Ebene"]),
        ("Changer la couleur du calque", ["Changer", "couleur", "calque"]),
        ("Don’t ask about KB_HOME!", ["ask", "KB", "HOME"]),
        ("What is it?", ["What", "is", "it"]),
        ("?", []),
    ],
)
def test_telling_words_are_all_but_stop_words_of_the_texts_language(text: str, telling: list[str]) -> None:
    assert [text[word.start : word.stop] for word in telling_words(text)] == telling
