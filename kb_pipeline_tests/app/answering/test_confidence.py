"""Whether a search answers, comes close, or finds nothing, told from its scores."""

import pytest

from app.answering.confidence import LEVELS, Evidence, evidence_of, shared_words
from kb_pipeline.records import SearchHit
from kb_pipeline_tests.app.grounding.hits import hit

QUESTION = "Which red key resets the lamp at night?"


def scored(rare: float | None, above_usual: float | None, content: str = "The red one does.") -> SearchHit:
    scores = {"rare_score": rare, "above_usual": above_usual, "embedding_model": "all-MiniLM-L6-v2@1"}
    return hit("1", "lamp", content).model_copy(update=scores)


@pytest.mark.parametrize(
    ("rare", "above_usual", "evidence"),
    [
        (0.8, 0.3, "answers"),
        (0.8, 0.1, "closest"),
        (0.5, 0.1, "closest"),
        (0.45, 0.2, "closest"),
        (0.45, 0.1, "unlikely"),
        (0.4, 0.05, "nothing"),
    ],
)
def test_a_search_answers_if_the_questions_rare_words_are_near_and_nearer_than_to_other_sections(
    rare: float, above_usual: float, evidence: Evidence
) -> None:
    assert evidence_of(QUESTION, [scored(rare, above_usual)]) == evidence


@pytest.mark.parametrize(
    ("question", "section", "evidence"),
    [
        ("Wie drucke ich eine Broschüre?", "So drucken Sie eine Broschüre aus einem Dokument.", "answers"),
        ("Wie drucke ich eine Broschüre?", "This is how you print a brochure of a document.", "closest"),
        ("How do I print a brochure of this?", "So drucken Sie eine Broschüre aus einem Dokument.", "closest"),
    ],
)
def test_where_question_and_section_are_not_english_less_nearness_is_needed(
    question: str, section: str, evidence: Evidence
) -> None:
    assert evidence_of(question, [scored(0.65, 0.25, section)]) == evidence


def test_a_search_without_vectors_of_words_is_judged_by_shared_words() -> None:
    assert evidence_of(QUESTION, [scored(None, None)]) == "closest"
    assert evidence_of("Why whales sing", [scored(None, None)]) == "nothing"


def test_only_the_best_hit_decides() -> None:
    assert evidence_of(QUESTION, [scored(0.1, 0.1), scored(0.9, 0.5)]) == "nothing"


def test_no_hit_is_no_evidence() -> None:
    assert evidence_of(QUESTION, []) == "nothing"


@pytest.mark.parametrize("model", ["hashing", "text-embedding-3-large"])
@pytest.mark.parametrize(
    ("content", "evidence"),
    [
        ("The red key resets a lamp.", "answers"),
        ("A lamp at night.", "closest"),
        ("Bananas are yellow.", "nothing"),
    ],
)
def test_where_scores_were_not_measured_the_words_of_the_question_are_looked_for(
    model: str, content: str, evidence: Evidence
) -> None:
    found = hit("1", "other", content).model_copy(update={"embedding_model": model})
    assert evidence_of(QUESTION, [found]) == evidence


def test_words_of_title_and_headings_count_where_scores_were_not_measured() -> None:
    assert evidence_of("steps of the lamp", [hit("1", "lamp", "Press it.")]) == "answers"


@pytest.mark.parametrize(
    ("query", "share"), [("red keys", 1.0), ("red whale", 0.5), ("blue whale", 0.0), ("of the", 0.0), ("", 0.0)]
)
def test_the_share_of_a_querys_words_that_a_text_has(query: str, share: float) -> None:
    assert shared_words(query, "The red key.") == share


def test_levels_are_from_worst_to_best() -> None:
    assert LEVELS == ("nothing", "unlikely", "closest", "answers")
