"""What is counted of an answer to a known question."""

from typing import Any

import pytest

from kb_pipeline.evaluation.answers import (
    ANSWER_MEASURES,
    CheckedClaim,
    CitedPassage,
    GivenAnswer,
    Grade,
    answer_outcome,
    answer_values,
    holds_words,
)
from kb_pipeline.evaluation.asking import Wording
from kb_pipeline.evaluation.questions import EvaluationQuestion

SUPPORTED = CheckedClaim(text="Press Ctrl+Z.", references=(1,), supporting=(1,))
DOUBTFUL = CheckedClaim(text="Then wait.", references=(1, 2), supporting=(2,))
MADE_UP = CheckedClaim(text="It is free.", references=(2,))
UNCITED = CheckedClaim(text="Good luck.")


def question(**changed: Any) -> EvaluationQuestion:
    fields = {
        "question": "How do I undo a crop?",
        "article_id": "layers",
        "answer_span": "Press Ctrl+Z",
        "kind": "how-to",
    }
    return EvaluationQuestion(**fields | changed)


UNANSWERABLE = question(article_id=None, answer_span=None, kind="unanswerable")


def answer(*articles: str, **changed: Any) -> GivenAnswer:
    cited = [
        CitedPassage(number=number, article_id=article_id, chunk_id=f"{article_id}-{number}", score=0.5)
        for number, article_id in enumerate(articles, 1)
    ]
    return GivenAnswer(**{"text": "Press **Ctrl+Z** [Ref #1] to undo.", "cited": tuple(cited)} | changed)


def test_the_right_article_counts_wherever_it_is_cited_and_once_more_if_it_is_first() -> None:
    first = answer_values(question(), answer("layers", "printing"))
    second = answer_values(question(), answer("printing", "layers"))
    never = answer_values(question(), answer("printing"))
    assert [(v["article cited"], v["article cited first"]) for v in (first, second, never)] == [(1, 1), (1, 0), (0, 0)]


def test_another_article_that_answers_is_as_right() -> None:
    assert answer_values(question(also_in=("undo",)), answer("undo"))["article cited first"] == 1


@pytest.mark.parametrize(
    ("told", "cited", "first"),
    [((), 0, 0), ((3,), 0, 0), ((12,), 1, 1), ((12, 3), 1, 1), ((3, 12), 1, 0)],
)
def test_the_page_counts_if_readers_are_told_it_and_once_more_if_the_document_opens_there(
    told: tuple[int, ...], cited: int, first: int
) -> None:
    other, right = answer("printing", "layers").cited
    given = answer("layers", cited=(other, right.model_copy(update={"pages": told})))

    values = answer_values(question(page=12), given)

    assert (values["page cited"], values["page cited first"]) == (cited, first)


def test_a_page_is_only_asked_of_answers_that_cite_the_right_document() -> None:
    for asked, given in ((question(page=12), answer("printing")), (question(), answer("layers"))):
        assert "page cited" not in answer_values(asked, given)


@pytest.mark.parametrize(
    ("said", "held"),
    [
        ("Press **Ctrl+Z** at once.", True),
        ("> press ctrl-z", True),
        ("Press [Ref #2] Ctrl+Z", True),
        ("[Press](/api/images/x.png) `Ctrl`+Z", True),
        ("Press Ctrl+Zoom", False),
        ("Ctrl+Z: press it", False),
        ("", False),
    ],
)
def test_the_words_that_answer_are_found_through_markup_but_whole_and_in_order(said: str, *, held: bool) -> None:
    assert holds_words(said, "Press Ctrl+Z") is held


def test_precision_is_of_references_and_recall_of_statements() -> None:
    values = answer_values(question(), answer("layers", claims=(SUPPORTED, DOUBTFUL, MADE_UP, UNCITED)))
    assert values["citation precision"] == 2 / 4
    assert values["citation recall"] == 2 / 4


def test_an_answer_without_a_statement_or_without_a_reference_has_no_such_value() -> None:
    assert "citation recall" not in answer_values(question(), answer("layers"))
    uncited = answer_values(question(), answer("layers", claims=(UNCITED,)))
    assert "citation precision" not in uncited
    assert uncited["citation recall"] == 0


@pytest.mark.parametrize(
    ("wanted", "shown", "right"),
    [
        ("Crop tool.image", "layers/images/crop tool.png", 1),
        ("crop.image", "layers/images/other.png", 0),
        ("crop.image", "printing/images/crop.png", 0),
        (None, "layers/images/any.png", 1),
    ],
)
def test_the_right_image_is_the_named_one_of_an_article_that_answers(
    wanted: str | None, shown: str, right: int
) -> None:
    asked = question(needs_image=True, image=wanted)
    assert answer_values(asked, answer("layers", images=(shown,)))["right image"] == right
    assert answer_values(asked, answer("layers"))["right image"] == 0
    assert "right image" not in answer_values(question(), answer("layers", images=(shown,)))


def test_a_refusal_is_right_where_nothing_answers_and_wrong_elsewhere() -> None:
    refusal = answer("layers", refused=True, claims=(SUPPORTED,))
    assert answer_values(UNANSWERABLE, refusal) == {"refused": 1}
    values = answer_values(question(), refusal)
    assert set(values.values()) == {0}
    assert "answered" in values
    assert answer_values(UNANSWERABLE, answer("layers", claims=(SUPPORTED,))) == {
        **{"refused": 0, "citation precision": 1, "citation recall": 1}
    }


def test_a_failure_neither_answers_nor_refuses() -> None:
    failed = GivenAnswer(failure="the model was silent for 30 s")
    assert answer_values(UNANSWERABLE, failed) == {"refused": 0}
    assert set(answer_values(question(), failed).values()) == {0}


def test_a_models_judgement_is_a_value_of_its_own() -> None:
    graded = answer("layers", grade=Grade(score=0.5, reason="half of it", refused=False))
    assert answer_values(question(), graded)["grounded"] == 0.5


def test_the_outcome_ranks_what_is_cited_and_keeps_the_answer() -> None:
    given = answer("printing", "layers", claims=(MADE_UP,), seconds=0.5)
    wording = Wording(question(), "own", "And how do I take it back?", paraphrase=True)
    outcome = answer_outcome(wording, given)
    assert outcome.asked == "And how do I take it back?"
    assert (outcome.paraphrase, outcome.article_rank) == (True, 2)
    assert [ranked.chunk_id for ranked in outcome.ranked] == ["printing-1", "layers-2"]
    assert GivenAnswer.model_validate(outcome.detail) == given
    assert set(outcome.values) <= set(ANSWER_MEASURES)
