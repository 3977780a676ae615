"""Answers without a model, evaluated: a run of the history, the same for the same state of everything."""

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.evaluating import evaluate_answers
from app.settings import AppSettings
from kb_pipeline.errors import IndexMissingError, SettingsError
from kb_pipeline.evaluation.answers import ANSWER_MEASURES, GivenAnswer
from kb_pipeline.evaluation.history import load_outcomes, load_run, save
from kb_pipeline.evaluation.records import Evaluation
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.evaluating.conftest import AT, QUESTIONS, SALARY, Evaluate, of, set_of

UNDO, JAM, BREAD = QUESTIONS


@pytest.fixture(scope="module")
def written(knowledge_base: Settings) -> Iterator[None]:
    """What tests write into the history of the shared knowledge base is removed."""
    yield
    shutil.rmtree(Path(knowledge_base.home) / "evaluation", ignore_errors=True)


def test_every_wording_of_every_question_is_answered_and_counted(evaluate: Evaluate) -> None:
    evaluation = evaluate()
    assert [(each.question_id, each.paraphrase) for each in evaluation.outcomes] == [
        *((UNDO.id, False), (UNDO.id, True), (JAM.id, False), (BREAD.id, False))
    ]
    undo, jam, bread = (of(evaluation, each) for each in QUESTIONS)
    assert undo.values["words in the answer"] == undo.values["article cited first"] == undo.values["answered"] == 1
    assert jam.values["right image"] == 1
    assert bread.values["refused"] == 1
    assert undo.values["citation precision"] == undo.values["citation recall"] == 1
    assert undo.ranked[0].article_id == "layers"
    assert "Ctrl+Z" in GivenAnswer.model_validate(undo.detail).text


def test_the_run_says_what_was_measured_and_of_what(evaluate: Evaluate, knowledge_base: Settings) -> None:
    run = evaluate().run
    assert (run.kind, run.made_at, run.question_sets[0].questions) == ("answers", AT, 3)
    assert run.settings["answered_by"] == "extractive"
    assert "model" not in run.settings
    assert set(run.scores) <= set(ANSWER_MEASURES)
    assert run.scores["answered"]["all"].n == 2
    assert run.scores["refused"]["unanswerable"].value == 1
    assert run.scores["words in the answer"]["paraphrase"].n == 1
    assert load_run(knowledge_base, run.id) is None, "nothing is written"


def test_a_question_is_asked_as_somebody_who_may_see_what_answers_it(evaluate: Evaluate) -> None:
    assert of(evaluate(SALARY), SALARY).values["words in the answer"] == 1


def test_an_article_that_is_not_there_is_told_and_not_cited(evaluate: Evaluate) -> None:
    gone = UNDO.model_copy(update={"article_id": "gone"})
    evaluation = evaluate(gone, JAM)
    assert evaluation.run.unknown_articles == ("gone",)
    assert of(evaluation, gone).values["article cited"] == 0


@pytest.mark.slow("builds a whole knowledge base")
def test_what_was_measured_in_the_same_state_is_not_measured_again(
    evaluate: Evaluate, knowledge_base: Settings, written: None
) -> None:
    first = evaluate()
    told = Evaluation(first.run.model_copy(update={"seconds": 77.0}), first.outcomes)
    save(knowledge_base, told)
    again = evaluate()
    assert again.run.seconds == 77.0
    assert again.outcomes == load_outcomes(knowledge_base, first.run)
    assert evaluate(UNDO).run.id != first.run.id
    assert evaluate(search_top=3, answering="extractive").run.id != first.run.id


def test_there_is_nothing_to_ask_before_anything_is_published(tmp_path: Path) -> None:
    empty = Settings(home=str(tmp_path / "home"), staging=str(tmp_path / "staging"), embedder="hashing")
    with pytest.raises(IndexMissingError):
        asyncio.run(evaluate_answers(empty, [set_of(UNDO)], AT, settings=AppSettings()))


def test_grading_without_a_model_is_refused_before_anything_is_asked(evaluate: Evaluate) -> None:
    with pytest.raises(SettingsError, match="KB_CHAT_MODEL"):
        evaluate(graded=True)
