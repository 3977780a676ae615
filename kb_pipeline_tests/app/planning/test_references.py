"""What a question says about documents."""

import pytest

from app.planning.references import Reference, references_of, without


def only(text: str) -> Reference:
    [reference] = references_of(text)
    return reference


@pytest.mark.parametrize(
    ("text", "by", "name"),
    [
        ("Summarise quarterly-review.pptx, please", "file", "quarterly-review.pptx"),
        ("Summarise “Service agreement”", "title", "Service agreement"),
        ('Summarise the document "Service agreement"', "title", "Service agreement"),
        ('Summarise "notes.md"', "file", "notes.md"),
        ("Summarise the installation guide", "description", "installation guide"),
        ("Summarise the contract with Contoso, please", "description", "contract with Contoso"),
        ("Summarise the annual report 2024", "description", "annual report 2024"),
        ("Fasse den Jahresbericht zusammen", "description", "Jahresbericht"),
    ],
)
def test_file_title_and_description(text: str, by: str, name: str) -> None:
    assert (only(text).by, only(text).name) == (by, name)


@pytest.mark.parametrize(
    ("text", "noun", "qualifiers", "about"),
    [
        ("the safety manual", "manual", "safety", ""),
        ("the administrator handbook", "manual", "administrator", ""),
        ("das Administrationshandbuch", "manual", "Administrations", ""),
        ("the report on churn", "report", "", "on churn"),
        ("the white paper", "study", "", ""),
        ("der Vertrag mit Contoso", "contract", "", "mit Contoso"),
    ],
)
def test_the_noun_and_the_words_around_it(text: str, noun: str, qualifiers: str, about: str) -> None:
    reference = only(text)
    assert (reference.noun, reference.qualifiers, reference.about) == (noun, qualifiers, about)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("the report", 1),
        ("both manuals", 2),
        ("the two policies", 2),
        ("the three roadmaps", 3),
        ("die beiden Verträge", 2),
        ("the reports", 0),
    ],
)
def test_how_many_are_meant(text: str, count: int) -> None:
    assert only(text).count == count


def test_the_newest_and_the_oldest() -> None:
    assert only("the newest report").order == "newest"
    assert only("der älteste Vertrag").order == "oldest"


def test_a_document_that_is_known_is_told_from_any() -> None:
    assert only("the report").is_definite
    assert not only("a report").is_definite


def test_two_years_share_a_noun() -> None:
    [one, other] = references_of("What changed between the 2022 and the 2023 travel policy?")
    assert (one.qualifiers, other.qualifiers) == ("2022 travel", "2023 travel")
    assert one.noun == other.noun == "policy"


@pytest.mark.parametrize(
    "text", ["How do I crop a layer?", "index.html", "the report page", "https://a.example/b.pdf/c"]
)
def test_no_reference(text: str) -> None:
    assert [each for each in references_of(text) if each.is_definite] == []


def test_a_text_without_its_references() -> None:
    text = "Compare the onboarding guide with handbook.pdf on backups"
    assert without(text, references_of(text)) == "Compare with on backups"
