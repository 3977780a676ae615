"""Questions about the small knowledge base, and ways to have them answered."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from app.evaluating import evaluate_answers
from app.settings import AppSettings
from kb_pipeline.evaluation.questions import EvaluationQuestion, QuestionSet
from kb_pipeline.evaluation.records import Evaluation, QuestionOutcome
from kb_pipeline.settings import Settings
from kb_pipeline.steps.fingerprint import fingerprint

AT = "2026-03-01T02:00:00+00:00"
QUESTIONS = (
    EvaluationQuestion(
        question="How do I undo a crop?",
        article_id="layers",
        answer_span="Press Ctrl+Z to undo",
        kind="how-to",
        paraphrase="Which key takes back the last crop of a layer?",
    ),
    EvaluationQuestion(
        question="How do I clear a paper jam?",
        article_id="printing",
        answer_span="pull the paper out slowly",
        kind="how-to",
        needs_image=True,
        image="tray.png",
    ),
    EvaluationQuestion(question="How do I bake sourdough bread?", article_id=None, kind="unanswerable"),
)
SALARY = EvaluationQuestion(
    question="What is the salary of the director?", article_id="secret", answer_span="12345", kind="lookup"
)

Evaluate = Callable[..., Evaluation]


def set_of(*questions: EvaluationQuestion) -> QuestionSet:
    return QuestionSet(name="own", sha256=fingerprint([each.id for each in questions]), questions=questions)


@pytest.fixture
def evaluate(knowledge_base: Settings) -> Evaluate:
    """``evaluate(*questions, graded=True, chat_model=...)`` asks an answerer of these settings."""

    def evaluated(*questions: EvaluationQuestion, graded: bool = False, **settings: Any) -> Evaluation:
        made = AppSettings(**{"vision": False, "answering": "retrieve-first"} | settings if settings else {})
        asked = [set_of(*(questions or QUESTIONS))]
        return asyncio.run(evaluate_answers(knowledge_base, asked, AT, graded=graded, settings=made))

    return evaluated


def of(evaluation: Evaluation, question: EvaluationQuestion, *, paraphrase: bool = False) -> QuestionOutcome:
    """What came of one question."""
    return next(each for each in evaluation.outcomes if each.key == (question.id, paraphrase))
