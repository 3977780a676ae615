"""The nouns for documents are the types that an index has."""

import pytest

from app.answering.planning.nouns import Noun, Nouns, is_of_kind, stem
from kb_pipeline.records import Chunk
from kb_pipeline_tests.app.made_library import Made, rows_of


def row(title: str, document_type: str = "", ending: str = "pdf") -> Chunk:
    return rows_of(Made(f"{title.lower().replace(' ', '-')}.{ending}", title, document_type))[-1]


def found(text: str, *types: str) -> Noun | None:
    return Nouns(types).find(text.split())


@pytest.mark.parametrize(
    ("text", "document_type"),
    [
        ("runbooks", "Runbook"),
        ("incident", "Incidents"),
        ("release notes", "Release notes"),
        ("notes", "Release notes"),
        ("reports", "Incident report"),
        ("policies", "Policy"),
        ("Handbücher", "Handbuch"),
        ("Handbücher", "Manual"),
        ("manuals", "Handbuch"),
        ("Arbeitsanweisungen", "Arbeitsanweisung"),
        ("processes", "Process"),
        ("presentations", "Presentation"),
    ],
)
def test_a_type_is_a_noun_in_singular_and_plural_and_in_both_languages(text: str, document_type: str) -> None:
    noun = found(text, document_type)
    assert noun and noun.end == len(text.split())
    assert is_of_kind(row("Anything", document_type), noun.kind)


def test_a_type_that_no_document_has_is_no_noun() -> None:
    assert found("runbooks", "Manual") is None
    assert found("not files users") is None


def test_any_document_may_be_meant() -> None:
    for word in ("documents", "Dokumente", "articles"):
        noun = found(word)
        assert noun and noun.kind == "" and noun.is_plural
    assert is_of_kind(row("Anything"), "")


def test_what_a_compound_says_before_its_noun() -> None:
    noun = found("Jahresberichte", "Report")
    assert noun and (noun.prefix, noun.is_plural) == ("Jahres", True)


@pytest.mark.parametrize(("word", "is_plural"), [("runbook", False), ("runbooks", True), ("Verträge", True)])
def test_another_form_than_that_of_the_type_is_the_plural(word: str, is_plural: bool) -> None:
    noun = found(word, "Runbook", "Vertrag")
    assert noun and noun.is_plural == is_plural


def test_a_document_without_a_type_is_what_it_is_called() -> None:
    assert is_of_kind(row("Onboarding guide"), "guide")
    assert not is_of_kind(row("How to write a report", "Manual"), "report")
    assert is_of_kind(row("Contract with Contoso"), "pdf")
    assert is_of_kind(row("Kick-off", ending="pptx"), "presentation")


def test_words_are_compared_without_marks_and_endings() -> None:
    assert len({stem(word) for word in ("Bericht", "Berichte", "Berichts", "berichten")}) == 1
    assert stem("Policies") == stem("policy")
