"""What documents must be like, in the values that documents have."""

from datetime import date

import pytest

from app.planning.kinds import reading_of
from app.planning.wanted import Wanted, is_of_kind, related_kind, respelt, values_of, wanted_of
from kb_pipeline.records import Chunk
from kb_pipeline.search.base import SearchFilter
from kb_pipeline_tests.app.library import Made, rows_of

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
    reading = reading_of(question)
    return wanted_of(reading.text, reading.references[0], ROWS, TODAY)


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


def test_a_document_without_a_type_is_what_it_is_called() -> None:
    assert is_of_kind(row("Onboarding guide"), "guide")
    assert not is_of_kind(row("How to write a report", document_type="Manual"), "report")
    assert is_of_kind(row("Contract with Contoso"), "pdf")


def test_a_related_kind_is_meant_if_there_is_none_of_the_named_one() -> None:
    assert related_kind("guide", ROWS) == "manual"
    assert related_kind("contract", ROWS) == ""


def test_a_misspelt_name_is_read_as_the_nearest() -> None:
    assert respelt(Wanted(author="Ana Schmitt"), ROWS).author == "Anna Schmidt"
    assert respelt(Wanted(author="Jane Doe"), ROWS).author == "Jane Doe"


def test_the_values_that_there_are() -> None:
    assert values_of("department", ROWS) == ("Engineering", "Finance", "HR")
