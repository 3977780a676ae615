"""What readers are told is there in every language, says the same, and is chosen by the language of the reader."""

import ast
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest

import app
from app.language.messages import Messages, Text, in_every_language, languages

ENGLISH = Messages.of("en")
OTHERS = [language for language in languages() if language != "en"]


def placeholders(text: Text) -> set[str]:
    texts = [text] if isinstance(text, str) else text.values()
    return {name for each in texts for _, name, _, _ in Formatter().parse(each) if name}


def uses() -> Iterator[tuple[str, str, set[str]]]:
    """Each call ``say("key", word=...)`` of the code: where, the key, the words."""
    for path in Path(app.__file__).parent.rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text())):
            if isinstance(call, ast.Call) and ast.unparse(call.func).rpartition(".")[2].lstrip("_") == "say":
                match call.args:
                    case [ast.Constant(str(key))]:
                        yield f"{path.name}:{call.lineno}", key, {word.arg for word in call.keywords if word.arg}


def test_there_are_english_german_french_and_spanish() -> None:
    assert languages() == ("en", "de", "es", "fr")


@pytest.mark.parametrize("language", OTHERS)
def test_a_language_has_every_message_with_the_same_placeholders(language: str) -> None:
    texts = Messages.of(language).texts
    assert list(texts) == list(ENGLISH.texts)
    assert {key: placeholders(text) for key, text in texts.items()} == {
        key: placeholders(text) for key, text in ENGLISH.texts.items()
    }
    assert {key for key, text in texts.items() if isinstance(text, str)} == {
        key for key, text in ENGLISH.texts.items() if isinstance(text, str)
    }


@pytest.mark.parametrize("language", languages())
def test_no_message_is_empty_and_counts_have_a_text_for_one_and_for_many(language: str) -> None:
    for text in Messages.of(language).texts.values():
        assert all(text.values()) if not isinstance(text, str) else text
        assert isinstance(text, str) or set(text) == {"one", "many"}


@pytest.mark.parametrize("language", OTHERS)
def test_sentences_are_translated(language: str) -> None:
    texts = Messages.of(language).texts
    assert not [key for key, text in ENGLISH.texts.items() if texts[key] == text and len(str(text).split()) > 6]


def test_what_the_code_says_is_in_the_catalogue_with_these_words() -> None:
    wrong = [
        (where, key)
        for where, key, words in uses()
        if key not in ENGLISH.texts or words - {"number"} != placeholders(ENGLISH.texts[key]) - {"number"}
    ]
    assert not wrong


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "The articles are in German. Please ask in German."),
        ("de", "Die Artikel sind auf Deutsch. Bitte fragen Sie auf Deutsch."),
        ("de-AT", "Die Artikel sind auf Deutsch. Bitte fragen Sie auf Deutsch."),
        ("fr", "Les articles sont en allemand. Veuillez poser votre question en allemand."),
        ("es", "Los artículos están en alemán. Pregunte en alemán, por favor."),
        ("nl", "The articles are in German. Please ask in German."),
        (None, "The articles are in German. Please ask in German."),
    ],
)
def test_a_reader_is_told_in_his_language_and_else_in_english(language: str | None, said: str) -> None:
    say = Messages.of(language)
    assert say("articles_in_other_language", language=say.name_of("de")) == said


def test_a_language_without_a_name_is_called_by_its_code() -> None:
    assert Messages.of("de").name_of("en-GB") == "Englisch"
    assert Messages.of("de").name_of("xx") == "xx"


@pytest.mark.parametrize(
    ("language", "number", "said"),
    [
        ("en", 1, "1 document"),
        ("en", 1200, "1,200 documents"),
        ("de", 1200, "1.200 Dokumente"),
        ("fr", 1, "1 document"),
        ("es", 0, "0 documentos"),
    ],
)
def test_counts_are_worded_as_the_language_does(language: str, number: int, said: str) -> None:
    assert Messages.of(language)("documents", number=number) == said


def test_braces_in_an_authors_words_stay_what_they_are() -> None:
    assert ENGLISH("from_place", place="*{name} {0}*") == "From *{name} {0}*:"


def test_what_is_recognised_in_an_answer_is_known_in_every_language() -> None:
    assert in_every_language("closest")[:2] == (
        "This comes closest to your question:",
        "Das kommt Ihrer Frage am nächsten:",
    )
