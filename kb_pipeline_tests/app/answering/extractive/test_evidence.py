"""When nothing is quoted, because nothing answers."""

import pytest

from app.answering.extractive.selection import evidence_of
from app.grounding.words import parse_question
from kb_pipeline.records import Chunk, SearchHit

MINILM = "all-MiniLM-L6-v2-int8"


def hit(content: str, cosine: float | None, model: str = MINILM, confidence: float | None = None) -> SearchHit:
    chunk = Chunk(
        id="c", article_id="a", chunk_index=0, title="T", section_header="T", heading_path=("T",), content=content,
        content_hash="h",
    )  # fmt: skip
    return SearchHit(
        chunk=chunk, score=1, vector_score=cosine, word_score=confidence, weakest_word=confidence, embedding_model=model
    )


@pytest.mark.parametrize(
    ("confidence", "cosine", "evidence"),
    [
        (0.45, 0.1, "strong"),
        (0.45, None, "strong"),
        (0.40, 0.1, "weak"),
        (0.33, 0.5, "weak"),
        (0.33, 0.4, "unlikely"),
        (0.33, None, "unlikely"),
        (0.25, 0.4, "none"),
    ],
)
def test_evidence_is_how_well_the_best_hit_covers_the_words_of_the_question(
    confidence: float, cosine: float | None, evidence: str
) -> None:
    hits = [hit("Crop a layer to its content.", cosine, confidence=confidence)]
    assert evidence_of(parse_question("How do I crop a layer?"), hits) == evidence


def test_a_hit_with_nothing_like_one_of_the_words_is_only_the_closest() -> None:
    covered = hit("Crop a layer to its content.", 0.6, confidence=0.6)
    lacking = covered.model_copy(update={"word_score": 0.9, "weakest_word": 0.3})
    question = parse_question("How do I crop a layer?")
    assert [evidence_of(question, [found]) for found in (covered, lacking)] == ["strong", "weak"]


def test_any_hit_may_be_near_as_a_whole() -> None:
    hits = [hit("Bananas.", 0.1, confidence=0.33), hit("Bananas.", 0.5, confidence=0.2)]
    assert evidence_of(parse_question("How do I crop a layer?"), hits) == "weak"


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
def test_without_vectors_of_words_evidence_is_meaning_and_words(
    content: str, cosine: float | None, evidence: str
) -> None:
    assert evidence_of(parse_question("How do I crop a layer?"), [hit(content, cosine)]) == evidence


def test_scores_of_an_unknown_model_say_nothing() -> None:
    hits = [hit("Crop a layer to its content.", 0.1, "other-model", 0.1)]
    assert evidence_of(parse_question("How do I crop a layer?"), hits) == "strong"
    assert evidence_of(parse_question("How do I crop a layer?"), [hit("Bananas.", 0.9, "other-model", 0.9)]) == "none"


def test_nothing_found_is_no_evidence() -> None:
    assert evidence_of(parse_question("anything"), []) == "none"


@pytest.mark.parametrize(
    ("question", "how"),
    [
        ("How do I crop?", True),
        ("crop a layer", True),
        ("What are the steps?", True),
        ("Wie schneide ich zu?", True),
        ("How is the density measured?", False),
        ("How many layers are there?", False),
        ("What is a layer?", False),
        ("Why is it white?", False),
        ("Wie wird die Dichte gemessen?", False),
    ],
)
def test_who_asks_how_may_be_answered_by_a_procedure(question: str, how: bool) -> None:
    assert parse_question(question).how is how


@pytest.mark.parametrize(
    ("question", "which"),
    [
        ("Which unit is used?", True),
        ("In which steps does the line snap?", True),
        ("It is the scale dialog. What is the width?", True),
        ("How many layers may it have?", True),
        ("Wie lange dauert es?", True),
        ("Where do I set what is shown?", False),
        ("When is a value of 4 used?", False),
        ("Can I change which unit is used?", False),
        ("How do I choose which unit is used?", False),
        ("unit of the scale dialog", False),
    ],
)
def test_who_asks_which_may_be_answered_by_a_value(question: str, which: bool) -> None:
    assert parse_question(question).which is which


@pytest.mark.parametrize(
    ("question", "to_see"),
    [
        ("What does the scale dialog look like?", True),
        ("Show me the scale dialog.", True),
        ("Is there a screenshot of the scale dialog?", True),
        ("Wie sieht der Dialog aus?", True),
        ("Where is the scale dialog?", False),
        ("How do I show the grid?", False),
        ("How do I take a screenshot of a window?", False),
    ],
)
def test_who_asks_to_see_something_may_be_answered_by_a_picture(question: str, to_see: bool) -> None:
    assert parse_question(question).to_see is to_see


@pytest.mark.parametrize(
    ("question", "on_screen"),
    [
        ("Which interpolation is selected in the scale dialog?", True),
        ("Which units are shown for the height in the window for the paper size?", True),
        ("What threshold does the wand have in the picture of its settings?", True),
        ("Which coordinates does the pointer dialog show?", True),
        ("Welche Einheit ist im Dialog eingestellt?", True),
        ("Which formats keep metadata?", False),
        ("How do I choose what is selected in the dialog?", False),
        ("Where is the unit set in the dialog?", False),
        ("What does the scale dialog look like?", False),
    ],
)
def test_a_value_that_a_window_shows_may_be_on_its_picture(question: str, on_screen: bool) -> None:
    assert parse_question(question).on_screen is on_screen


def test_words_that_ask_to_see_something_say_nothing_about_it() -> None:
    assert set(parse_question("What does the scale dialog look like?").words) == set(
        parse_question("scale dialog").words
    )


def test_words_that_a_follow_up_borrowed_count_half() -> None:
    assert dict(parse_question("And undo?\nHow do I crop a layer?").words) == {"crop": 0.5, "lay": 0.5, "undo": 1.0}
