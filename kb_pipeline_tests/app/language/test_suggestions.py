"""Questions to begin with."""

import pytest

from app.language.suggestions import as_question, suggest, without_number


@pytest.mark.parametrize(
    ("heading", "question"),
    [
        ("Why did my rule not run?", "Why did my rule not run?"),
        ("3. Export a report", "How do I export a report?"),
        ("Step 2: Create a webhook", "How do I create a webhook?"),
    ],
)
def test_a_heading_becomes_a_question(heading: str, question: str) -> None:
    assert suggest([[heading]]) == (question,)
    assert as_question(heading) == question


@pytest.mark.parametrize(
    "heading", ["", "Overview", "SLA policies in detail", "Export", "12345678901234", "Add " + "x" * 90]
)
def test_a_heading_that_makes_no_question_makes_none(heading: str) -> None:
    assert suggest([[heading]]) == ()
    assert as_question(heading) is None


def test_a_heading_is_read_without_its_number() -> None:
    assert without_number("3.2.  The “New Layer”\nDialog") == "The “New Layer” Dialog"
    assert without_number("B.5.2. Windows roaming profiles") == "Windows roaming profiles"
    assert without_number("Chapter 4. Capturing") == "Capturing"
    assert without_number("A layer is a sheet") == "A layer is a sheet"


def test_questions_come_from_different_articles_real_ones_first() -> None:
    articles = [["Create a view", "Delete a view"], ["When is it late?"], ["Export a report"]]
    found = suggest(articles, 2)
    assert found[0] == "When is it late?"
    assert len(found) == 2
    assert suggest(articles, 2) == found
