"""When nothing is quoted, because nothing answers."""

import pytest

from app.grounding.asked import asked
from app.grounding.evidence import evidence_of
from kb_pipeline.records import Chunk, SearchHit

MINILM = "all-MiniLM-L6-v2-int8"


def hit(content: str, cosine: float | None, model: str = MINILM) -> SearchHit:
    chunk = Chunk(
        id="c", article_id="a", chunk_index=0, title="T", section_header="T", heading_path=("T",), content=content,
        content_hash="h",
    )  # fmt: skip
    return SearchHit(chunk=chunk, score=1, vector_score=cosine, embedding_model=model)


@pytest.mark.parametrize(
    ("content", "cosine", "evidence"),
    [
        ("Crop a layer to its content.", 0.6, "strong"),
        ("Bananas.", 0.6, "strong"),
        ("Bananas.", 0.45, "weak"),
        ("Crop a layer to its content.", 0.35, "strong"),
        ("Crop it.", 0.35, "unlikely"),
        ("Bananas.", 0.35, "none"),
        ("Crop a layer to its content.", 0.1, "none"),
        ("Crop a layer to its content.", None, "strong"),
        ("Bananas.", None, "none"),
    ],
)
def test_evidence_is_meaning_and_words(content: str, cosine: float | None, evidence: str) -> None:
    assert evidence_of(asked("How do I crop a layer?"), [hit(content, cosine)]) == evidence


def test_cosines_of_an_unknown_model_say_nothing() -> None:
    hits = [hit("Crop a layer to its content.", 0.1, "other-model")]
    assert evidence_of(asked("How do I crop a layer?"), hits) == "strong"


def test_nothing_found_is_no_evidence() -> None:
    assert evidence_of(asked("anything"), []) == "none"


@pytest.mark.parametrize(
    ("question", "how"),
    [
        ("How do I crop?", True),
        ("crop a layer", True),
        ("What are the steps?", True),
        ("Wie schneide ich zu?", True),
        ("How many layers are there?", False),
        ("What is a layer?", False),
        ("Why is it white?", False),
    ],
)
def test_who_asks_how_may_be_answered_by_a_procedure(question: str, how: bool) -> None:
    assert asked(question).how is how


def test_words_that_a_follow_up_borrowed_count_half() -> None:
    assert dict(asked("And undo?\nHow do I crop a layer?").words) == {"crop": 0.5, "lay": 0.5, "undo": 1.0}
