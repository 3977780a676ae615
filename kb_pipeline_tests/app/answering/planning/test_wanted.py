"""What documents must be like, in the values that documents have."""

from datetime import date

import pytest

from app.answering.planning.nouns import Nouns
from app.answering.planning.wanted import Wanted, may_list, values_of, wanted_of
from kb_pipeline.records import Chunk
from kb_pipeline.search.base import SearchFilter
from kb_pipeline_tests.app.made_library import Made, rows_of

TODAY = date(2026, 11, 23)


def row(title: str, **facts: object) -> Chunk:
    made = Made(f"{title.lower().replace(' ', '-')}.pdf", title, **facts)  # type: ignore[arg-type]
    return rows_of(made)[-1]


EARLY = {"upload_date": "2024-02-01"}
ROWS = [
    row("Quarterly report", document_type="Report", department="Finance", author="Anna Schmidt", page_count=12),
    row(
        "Cable manual", document_type="Manual", department="Engineering", author="Tom Becker", upload_date="2024-02-01"
    ),
    row("Holiday rules", document_type="Policy", department="HR", author="Mira Okafor", language="de"),
]


def wanted(question: str) -> Wanted:
    found = wanted_of(question, ROWS, Nouns.of(ROWS), TODAY)
    assert found
    return found


@pytest.mark.parametrize(
    ("question", "filters"),
    [
        ("Which reports do we have?", {"kind": "report"}),
        ("List all documents of the finance department", {"department": "Finance"}),
        ("List all documents of finance", {"department": "Finance"}),
        ("List all documents of human-resources", {"department": "HR"}),
        ("Zeig mir alle Dokumente der Personalabteilung", {"department": "HR"}),
        ("List all documents of the gardening department", {"department": "gardening"}),
        ("Which documents did Anna Schmidt write?", {"author": "Anna Schmidt"}),
        ("List the documents by Becker", {"author": "Tom Becker"}),
        ("List the documents written by Jane Doe", {"author": "Jane Doe"}),
        ("List all German documents", {"language": "de"}),
        ("Which documents are longer than 10 pages?", {"pages": (11, 0)}),
        ("Which documents have fewer than 10 pages?", {"pages": (1, 9)}),
        ("Manuals longer than eighty pages", {"kind": "manual", "pages": (81, 0)}),
        ("Which documents were uploaded since May?", {"days": ("2026-05-01", "")}),
        ("Which documents are there about cables?", {"subject": ("cabl",)}),
        (
            "Which manuals of engineering are there about cables?",
            {"kind": "manual", "department": "Engineering", "subject": ("cabl",)},
        ),
    ],
)
def test_filters_from_words(question: str, filters: dict[str, object]) -> None:
    found = wanted(question)
    assert {name: getattr(found, name) for name in found.filters} == filters


@pytest.mark.parametrize(
    ("question", "sort", "descending", "limit"),
    [
        ("List all documents", "upload_date", True, 0),
        ("List all documents, oldest first", "upload_date", False, 0),
        ("List all documents by title", "title", False, 0),
        ("List all documents, longest first", "page_count", True, 0),
        ("Show me the five newest documents", "upload_date", True, 5),
    ],
)
def test_order_and_number(question: str, sort: str, descending: bool, limit: int) -> None:
    found = wanted(question)
    assert (found.sort, found.descending, found.limit) == (sort, descending, limit)


def test_which_documents_fit() -> None:
    assert [each.title for each in ROWS if wanted("List all documents of finance").fits(each)] == ["Quarterly report"]
    assert [each.title for each in ROWS if wanted("List the documents since 2025").fits(each)] == [
        "Quarterly report",
        "Holiday rules",
    ]


def test_the_filters_that_an_index_can_apply() -> None:
    assert wanted("List the reports of finance since May").limits() == SearchFilter(
        department=("Finance",), upload_date=("2026-05-01", "")
    )


@pytest.mark.parametrize(
    "question",
    [
        "list hidden files",
        "find files by content",
        "display all open documents",
        "Which documents do I need to open an account?",
        "Which documents are printed on both sides?",
        "Which reports can I schedule to be sent by email?",
        "what reports can an agent see",
        "How many pages can a manual have?",
        "What is a report?",
        "What do I do with old documents?",
        "What is the report?",
        "What are reports?",
        "Which roadmaps do we have?",
        "How do I list all reports?",
        "Where can I find reports in the app?",
        "Welche Berichte darf ein Agent sehen?",
        "Wie erstelle ich einen Bericht?",
        "report",
        "",
        "???",
    ],
)
def test_a_question_with_a_word_that_is_not_understood_asks_for_no_list(question: str) -> None:
    assert wanted_of(question, ROWS, Nouns.of(ROWS), TODAY) is None


def test_a_list_may_be_asked_for_without_a_verb() -> None:
    assert may_list("reports of Finance since May", TODAY)
    assert wanted("reports of finance since May").days == ("2026-05-01", "")


@pytest.mark.parametrize(
    "question",
    ["How do I crop a layer?", "How many laptops may I have?", "What is the policy?", "List all documents. " * 30],
)
def test_most_questions_are_told_from_lists_without_a_look_at_the_documents(question: str) -> None:
    assert not may_list(question, TODAY)


def test_it_is_no_department_but_it_in_capitals_is() -> None:
    rows = [*ROWS, row("Network plan", document_type="Report", department="IT")]
    nouns = Nouns.of(rows)
    assert [wanted_of(each, rows, nouns, TODAY).department for each in ("reports of IT", "Which reports has it?")] == [  # type: ignore[union-attr]
        "IT",
        "",
    ]


def test_the_newest_one_is_a_list_of_one() -> None:
    found = wanted("Which report is the newest?")
    assert (found.kind, found.sort, found.descending, found.limit) == ("report", "upload_date", True, 1)


def test_the_values_that_there_are() -> None:
    assert values_of("department", ROWS) == ("Engineering", "Finance", "HR")
