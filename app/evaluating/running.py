"""Evaluates answers: asks all questions of some sets of the current answerer, as one run of the history."""

import time
from collections.abc import Sequence
from pathlib import Path

from app.answering.prompts import PROMPT_VERSION
from app.evaluating.asking import AnswerEvaluator, open_answer_evaluator
from app.evaluating.grading import GRADING_VERSION
from app.settings import AppSettings, load_app_settings
from kb_pipeline.evaluation.answers import GivenAnswer, Tokens, answer_outcome
from kb_pipeline.evaluation.asking import wordings
from kb_pipeline.evaluation.history import load_outcomes, load_run
from kb_pipeline.evaluation.measures import mean_scores
from kb_pipeline.evaluation.provenance import SEARCHING, code_hash, relevant_settings, run_of
from kb_pipeline.evaluation.questions import QuestionSet
from kb_pipeline.evaluation.records import Evaluation, EvaluationRun
from kb_pipeline.records import Usage
from kb_pipeline.services.usage import priced
from kb_pipeline.settings import Settings
from kb_pipeline.steps.fingerprint import fingerprint

_APP = Path(__file__).parents[1]
_ANSWERING = ("answering", "evaluating", "grounding", "judging", "language", "library/retrieval.py", "model")


async def evaluate_answers(
    knowledge_base: Settings,
    sets: Sequence[QuestionSet],
    at: str,
    *,
    graded: bool = False,
    settings: AppSettings | None = None,
) -> Evaluation:
    """The evaluation of the answers to all questions. ``graded``: the model also judges the answers, at a cost.

    A run without failures in the same state of everything is read from the history instead. Writes nothing.

    Raises:
        IndexMissingError: nothing has been published yet.
        SettingsError: the settings are not valid, or grading needs a model and none is set.
        AnswerError: no question could be answered.
    """
    settings = settings or load_app_settings()
    async with open_answer_evaluator(knowledge_base, settings, graded=graded) as evaluator:
        run = _run(knowledge_base, evaluator, sets, at)
        if earlier := load_run(knowledge_base, run.id):
            return Evaluation(earlier.model_copy(update={"seen_at": at}), load_outcomes(knowledge_base, earlier))
        started = time.perf_counter()
        questions = list(wordings(sets))
        answers = await evaluator.answers(questions)
    outcomes = tuple(answer_outcome(question, answer) for question, answer in zip(questions, answers, strict=True))
    failed = any(answer.failure or answer.grading_failure for answer in answers)
    measured = {
        "id": f"answers-{fingerprint(run.id, at)[:16]}" if failed else run.id,
        "scores": mean_scores(outcomes),
        "usage": _usage(evaluator, answers, knowledge_base),
        "seconds": round(time.perf_counter() - started, 3),
    }
    return Evaluation(run.model_copy(update=measured), outcomes)


def _run(knowledge_base: Settings, evaluator: AnswerEvaluator, sets: Sequence[QuestionSet], at: str) -> EvaluationRun:
    generation, indexed = evaluator.reader.generation, evaluator.reader.index.entries()
    settings = relevant_settings(knowledge_base, generation) | _answering_settings(evaluator)
    code = fingerprint(code_hash((*SEARCHING, "evaluation/answers.py")), code_hash(_ANSWERING, _APP))[:16]
    return run_of("answers", generation, indexed=indexed, sets=sets, settings=settings, code=code, at=at)


def _usage(evaluator: AnswerEvaluator, answers: Sequence[GivenAnswer], knowledge_base: Settings) -> tuple[Usage, ...]:
    """Return what the model costs; the same model writes and judges the answers."""
    if not evaluator.settings.chat_model or not (evaluator.answerer.model or evaluator.grader):
        return ()
    tokens = sum((answer.tokens for answer in answers), Tokens())
    used = Usage(model=evaluator.settings.chat_model, input_tokens=tokens.input, output_tokens=tokens.output)
    return priced([used], knowledge_base.prices)


def _answering_settings(evaluator: AnswerEvaluator) -> dict[str, str]:
    """Return the settings that influence the answers."""
    settings = evaluator.settings
    values = {"answered_by": evaluator.answerer.answered_by, "passages": str(settings.search_top)}
    if evaluator.answerer.model:
        values |= {
            "model": evaluator.answerer.model,
            "prompt": PROMPT_VERSION,
            "search_rounds": str(settings.search_rounds),
            "sees_images": str(evaluator.answerer.sees_images),
        }
    return values | ({"graded": GRADING_VERSION} if evaluator.grader else {})
