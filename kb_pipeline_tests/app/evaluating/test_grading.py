"""Answers of a model, and its judgement of them: asked of aimock, paid for, counted."""

import json
from typing import Any

import pytest

from app.errors import AnswerError
from app.evaluating.grading import GRADING_INSTRUCTIONS
from kb_pipeline.evaluation.answers import GivenAnswer
from kb_pipeline_tests.app.evaluating.conftest import QUESTIONS, Evaluate, of
from kb_pipeline_tests.app.model_servers import Aimock

pytestmark = pytest.mark.slow("asks a server of Node.js, which `make check` does not install")

UNDO, JAM, BREAD = QUESTIONS
USAGE = {"prompt_tokens": 700, "completion_tokens": 20, "total_tokens": 720}
JUDGEMENT = {"statements": 2, "borne_out": 1, "refuses": False, "reason": "The price is nowhere."}


def says(text: str, **match: Any) -> dict[str, Any]:
    return {"match": match, "response": {"content": text, "usage": USAGE}}


def judges(text: str | None = None, **changed: Any) -> dict[str, Any]:
    return says(text or json.dumps(JUDGEMENT | changed), userMessage="<answer>")


ANSWERS = says("Press Ctrl+Z to undo the last crop. [Ref #1] It costs five euros a month. [Ref #2]")


def model(aimock: Aimock) -> dict[str, str]:
    return {"chat_model": "gpt-test", "chat_base_url": aimock.base_url}


def test_what_a_model_says_is_held_against_the_passages_it_refers_to(aimock: Aimock, evaluate: Evaluate) -> None:
    aimock.says(ANSWERS)
    evaluation = evaluate(UNDO, **model(aimock))
    undo = of(evaluation, UNDO)
    assert (undo.values["citation precision"], undo.values["citation recall"]) == (0.5, 0.5)
    assert "grounded" not in undo.values
    assert evaluation.run.settings["model"] == "gpt-test"
    assert "graded" not in evaluation.run.settings


def test_a_model_that_refers_to_nothing_refuses(aimock: Aimock, evaluate: Evaluate) -> None:
    aimock.says(says("The articles do not say how bread is baked."))
    evaluation = evaluate(UNDO, BREAD, **model(aimock))
    assert of(evaluation, BREAD).values["refused"] == 1
    assert of(evaluation, UNDO).values["answered"] == 0


def test_the_model_judges_by_the_passages_and_says_why(aimock: Aimock, evaluate: Evaluate) -> None:
    aimock.says(judges(), ANSWERS)
    evaluation = evaluate(UNDO, graded=True, **model(aimock))
    undo = of(evaluation, UNDO)
    given = GivenAnswer.model_validate(undo.detail)
    assert undo.values["grounded"] == evaluation.run.scores["grounded"]["all"].value == 0.5
    assert given.grade is not None
    assert given.grade.reason == "The price is nowhere."
    asked = [request for request in aimock.requests() if "<answer>" in str(request["messages"])]
    told = {request["messages"][1]["content"].partition("\n\n")[0]: request for request in asked}
    assert set(told) == {f"Question: {UNDO.question}", f"Question: {UNDO.paraphrase}"}
    assert asked[0]["messages"][0]["content"] == GRADING_INSTRUCTIONS
    assert asked[0]["response_format"]["json_schema"]["strict"] is True
    assert "<untrusted_passage>\nArticle: Layers" in asked[0]["messages"][1]["content"]


def test_all_calls_are_counted(aimock: Aimock, evaluate: Evaluate) -> None:
    aimock.says(judges(), ANSWERS)
    evaluation = evaluate(UNDO, graded=True, **model(aimock))
    tokens = GivenAnswer.model_validate(of(evaluation, UNDO).detail).tokens
    assert (tokens.input, tokens.output) == (2100, 60), "the answer, its judge, and the grade"
    (used,) = evaluation.run.usage
    assert (used.model, used.input_tokens, used.output_tokens, used.cost) == ("gpt-test", 4200, 120, None)


def test_the_model_sees_a_refusal_that_words_do_not_show(aimock: Aimock, evaluate: Evaluate) -> None:
    aimock.says(judges(refuses=True), says("They do not say that; the closest is about layers. [Ref #1]"))
    assert of(evaluate(BREAD, graded=True, **model(aimock)), BREAD).values == {"refused": 1}


@pytest.mark.parametrize(
    ("changed", "score"), [({"statements": 0}, 1.0), ({"borne_out": 9}, 1.0), ({"borne_out": -1}, 0.0)]
)
def test_a_judgement_is_a_share_whatever_is_counted(
    changed: dict[str, int], score: float, aimock: Aimock, evaluate: Evaluate
) -> None:
    aimock.says(judges(**changed), ANSWERS)
    assert of(evaluate(UNDO, graded=True, **model(aimock)), UNDO).values["grounded"] == score


@pytest.mark.parametrize("nonsense", ["I think it is fine.", '{"statements": "many"}', ""])
def test_no_judgement_leaves_the_answer_counted_as_it_is(nonsense: str, aimock: Aimock, evaluate: Evaluate) -> None:
    aimock.says(judges(nonsense or " "), ANSWERS)
    undo = of(evaluate(UNDO, graded=True, **model(aimock)), UNDO)
    assert "grounded" not in undo.values
    assert undo.values["article cited"] == 1
    assert "structured outputs" in GivenAnswer.model_validate(undo.detail).grading_failure


def test_a_question_that_fails_is_a_result_and_makes_the_run_one_of_its_time(
    aimock: Aimock, evaluate: Evaluate
) -> None:
    aimock.says(ANSWERS)
    whole = evaluate(UNDO, JAM, **model(aimock))
    aimock.fails(400, message="too odd a question")
    partly = evaluate(UNDO, JAM, **model(aimock))
    failures = [GivenAnswer.model_validate(each.detail).failure for each in partly.outcomes]
    assert sum(map(bool, failures)) == 1
    assert "too odd a question" in max(failures)
    assert partly.run.scores["answered"]["all"].n == 2
    assert partly.run.id != whole.run.id


@pytest.mark.slow("builds a whole knowledge base")
def test_an_endpoint_that_answers_nothing_is_an_error_and_no_score(evaluate: Evaluate) -> None:
    with pytest.raises(
        AnswerError, match="no question could be answered; the first: the model endpoint cannot be reached"
    ):
        evaluate(UNDO, chat_model="gpt-test", chat_base_url="http://127.0.0.1:9/v1")
