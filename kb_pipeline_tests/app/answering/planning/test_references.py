"""What words mean one or several documents."""

import pytest

from app.answering.planning.nouns import Nouns
from app.answering.planning.references import DocumentReference, file_in, reference_of, sharing_noun

NOUNS = Nouns(["Report", "Manual", "Policy", "Runbook", "Contract", "Guide", "Roadmap"])


def only(text: str) -> DocumentReference:
    found = reference_of(text, NOUNS)
    assert found
    return found


@pytest.mark.parametrize(
    ("text", "by", "name"),
    [
        ("quarterly-review.pptx", "file", "quarterly-review.pptx"),
        ("“Service agreement”", "title", "Service agreement"),
        ('the document "Service agreement"', "title", "Service agreement"),
        ('"notes.md"', "file", "notes.md"),
        ("the installation guide", "description", "installation guide"),
        ("the contract with Contoso", "description", "contract with Contoso"),
        ("the Debian FAQ", "description", "Debian FAQ"),
    ],
)
def test_file_title_and_description(text: str, by: str, name: str) -> None:
    assert (only(text).by, only(text).name) == (by, name)


@pytest.mark.parametrize(
    ("text", "kind", "described"),
    [
        ("the safety manual", "manual", "safety"),
        ("das Administrationshandbuch", "manual", "Administrations"),
        ("the report on churn", "report", "on churn"),
        ("the disk full runbook", "runbook", "disk full"),
        ("the runbook document", "runbook", ""),
        ("der Vertrag mit Contoso", "contract", "mit Contoso"),
    ],
)
def test_the_noun_and_the_words_beside_it(text: str, kind: str, described: str) -> None:
    reference = only(text)
    assert (reference.kind, reference.described, reference.has_noun) == (kind, described, True)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("the report", 1),
        ("des Berichts", 1),
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


@pytest.mark.parametrize(
    "text", ["a report", "changes in a report", "an article", "several files", "ein Dokument", "eine Datei"]
)
def test_any_document_is_no_reference(text: str) -> None:
    assert reference_of(text, NOUNS) is None


def test_two_files_are_not_two_that_are_known() -> None:
    assert not only("two files").is_definite


@pytest.mark.parametrize(
    ("one", "other", "described"),
    [
        ("the 2022", "the 2023 travel policy", ("travel 2022", "2023 travel")),
        ("the Q1", "Q2 reports", ("Q1", "Q2")),
        ("the travel policy 2022", "2023", ("travel 2022", "travel 2023")),
    ],
)
def test_two_that_share_a_noun(one: str, other: str, described: tuple[str, str]) -> None:
    first, second = sharing_noun(only(one), only(other))
    assert (first.described, second.described) == described
    assert first.kind == second.kind


def test_the_name_of_a_file() -> None:
    assert file_in("the report annual-2023.pdf") == "annual-2023.pdf"
    assert file_in("https://a.example/b.pdf/c") == ""
