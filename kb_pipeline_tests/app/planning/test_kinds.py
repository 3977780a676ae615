"""What a question wants, told by its wording; whatever is unsure is a search for passages."""

import json
from pathlib import Path

import pytest

from app.planning.kinds import LONGEST, ORDINARY, reading_of

ROOT = Path(__file__).parents[3]
KINDS = [
    line.split("\t") for line in (ROOT / "benchmarks/questions/planning_kinds.tsv").read_text().splitlines() if line
]
EXISTING = [
    question
    for file in (
        "samples/evaluation/wrendesk.jsonl",
        "samples/evaluation/documents.jsonl",
        "benchmarks/questions/held_out.jsonl",
    )
    for row in map(json.loads, (ROOT / file).read_text().splitlines())
    for question in (row["question"], row.get("paraphrase"))
    if question
]


@pytest.mark.parametrize(("kind", "question"), [(kind, question) for part, kind, question in KINDS if part != "unseen"])
def test_the_kind_of_a_question(kind: str, question: str) -> None:
    assert reading_of(question).kind == kind


def test_questions_about_what_articles_say_are_ordinary() -> None:
    assert len(EXISTING) > 200
    assert [question for question in EXISTING if not reading_of(question).is_ordinary] == []


@pytest.mark.parametrize(
    "question",
    [
        "How do I list tickets?",
        "Where can I find reports in the app?",
        "Show me the reports page",
        "What is the difference between a public article and an internal article?",
        "How many pages can a PDF have?",
        "What is the SLA policy?",
        "Can agents read all reports?",
        "What is the price of a support contract with Contoso?",
        "Which articles can agents edit?",
        "What are shareable files?",
        "Are there reports about solved tickets?",
        "Wie erstelle ich einen Bericht?",
        "",
        "???",
    ],
)
def test_features_that_are_called_like_documents_are_ordinary(question: str) -> None:
    assert reading_of(question).is_ordinary


def test_a_story_is_ordinary() -> None:
    story = "Summarise the report. " + "Yesterday I came to work. " * 20
    assert len(story) > LONGEST
    assert reading_of(story) == ORDINARY
    assert reading_of("Summarise the report.\nThen tell me more.") == ORDINARY


@pytest.mark.parametrize(
    ("question", "fields"),
    [
        ("How many pages does the handbook have?", ("page_count",)),
        ("Who wrote the annual report?", ("author",)),
        ("When was the annual report uploaded?", ("upload_date",)),
        ("When was the annual report written?", ("created",)),
        ("When was the annual report last changed?", ("changed",)),
        ("Which department owns the handbook?", ("department",)),
        ("What type of document is notes.md?", ("document_type",)),
        ("What language is the handbook written in?", ("language",)),
        ("What is the file name of the handbook?", ("filename",)),
        ("Who wrote the handbook, and how many pages does it have?", ("page_count", "author")),
    ],
)
def test_the_facts_that_are_asked_for(question: str, fields: tuple[str, ...]) -> None:
    assert reading_of(question).fields == fields


@pytest.mark.parametrize(
    "question",
    [
        "What does the onboarding guide say about accounts?",
        "According to the handbook, how often are backups made?",
        "In the administrator handbook, how do I restore a backup?",
        "How do I restore a backup in handbook.pdf?",
        "Does the travel policy mention hotels?",
        "Was sagt das Handbuch über Sicherungen?",
        "Was steht im Handbuch über Sicherungen?",
    ],
)
def test_a_question_to_one_document_is_a_search_within_it(question: str) -> None:
    reading = reading_of(question)
    assert (reading.kind, reading.is_within, len(reading.references)) == ("CONTENT_SEARCH", True, 1)


@pytest.mark.parametrize(
    ("question", "given", "kind"),
    [
        ("Summarise it", 1, "DOCUMENT_SUMMARY"),
        ("What are the differences?", 2, "COMPARISON"),
        ("How many pages?", 1, "METADATA_SEARCH"),
        ("How do I restore a backup?", 1, "CONTENT_SEARCH"),
    ],
)
def test_documents_that_the_asker_chose_need_no_name(question: str, given: int, kind: str) -> None:
    assert reading_of(question, given).kind == kind
    assert reading_of(question).is_ordinary
