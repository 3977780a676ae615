"""What is asked about documents once those are known."""

import pytest

from app.planning.kinds import reading_of
from app.planning.subjects import question_within, subject_of


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("Compare the handbook and the policy on holidays", "holidays"),
        ("What is the difference between the travel policy and the expense policy regarding hotels?", "hotels"),
        ("Compare the handbook and the policy: notice periods", "notice periods"),
        ("Vergleiche die Richtlinie und das Handbuch zu Urlaub", "Urlaub"),
        ("Compare a.pdf and b.pdf", ""),
        ("How do the two reports differ?", ""),
    ],
)
def test_documents_are_compared_about_a_subject_or_as_a_whole(text: str, subject: str) -> None:
    assert subject_of(reading_of(text)) == subject


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("What does the handbook say about holidays?", "holidays"),
        ("What does manual.pdf mention about retries?", "retries"),
        ("According to the security policy, how long must passwords be?", "how long must passwords be?"),
        ("In the installation guide, which port is used?", "which port is used?"),
        ("Was steht im Handbuch zu Urlaub?", "Urlaub"),
        ("What is in the handbook?", ""),
    ],
)
def test_one_document_is_asked_without_its_name(text: str, asked: str) -> None:
    assert question_within(reading_of(text)) == asked
