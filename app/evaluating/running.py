"""An evaluation of the answers: all questions of some sets, asked of what readers use now, as a run of the history."""

import time
from collections.abc import Sequence
from pathlib import Path

from app.answering.prompts import PROMPT_VERSION
from app.evaluating.asking import Asking, asking
from app.evaluating.grading import GRADING_VERSION
from app.settings import AppSettings, load_app_settings
from kb_pipeline.evaluation.answers import GivenAnswer, Tokens, answer_outcome
from kb_pipeline.evaluation.asking import wordings
from kb_pipeline.evaluation.history import load_outcomes, load_run
from kb_pipeline.evaluation.measures import mean_scores
from kb_pipeline.evaluation.provenance import SEARCHING, code_hash, run_of, telling_settings
from kb_pipeline.evaluation.questions import QuestionSet
from kb_pipeline.evaluation.records import Evaluation, EvaluationRun
from kb_pipeline.metering import priced
from kb_pipeline.records import Usage
from kb_pipeline.settings import Settings
from kb_pipeline.steps.fingerprint import fingerprint

_APP = Path(__file__).parents[1]
_ANSWERING = ("answering", "evaluating", "grounding", "retrieval.py")


async def evaluate_answers(
    knowledge_base: Settings,
    sets: Sequence[QuestionSet],
    at: str,
    *,
    graded: bool = False,
    settings: AppSettings | None = None,
) -> Evaluation:
    """What is answered to all questions; ``graded`` lets the model judge the answers as well, which is paid for.

    What was asked before in the same state of everything, without a failure, is not asked again. Nothing is written.

    Raises:
        IndexMissingError: nothing was ever published.
        SettingsError: the settings are not valid, or grading was asked for without a model.
        AnswerError: not one question could be answered.
    """
    settings = settings or load_app_settings()
    async with asking(knowledge_base, settings, graded=graded) as asked:
        run = _run(knowledge_base, asked, sets, at)
        if known := load_run(knowledge_base, run.id):
            seen = known.model_copy(update={"seen_at": at})
            return Evaluation(seen, load_outcomes(knowledge_base, known))
        started = time.perf_counter()
        asked_for = list(wordings(sets))
        answers = await asked.answers(asked_for)
    outcomes = tuple(answer_outcome(*each) for each in zip(asked_for, answers, strict=True))
    failed = any(answer.failure or answer.grading_failure for answer in answers)
    measured = {
        "id": f"answers-{fingerprint(run.id, at)[:16]}" if failed else run.id,
        "scores": mean_scores(outcomes),
        "usage": _usage(asked, answers, knowledge_base),
        "seconds": round(time.perf_counter() - started, 3),
    }
    return Evaluation(run.model_copy(update=measured), outcomes)


def _run(knowledge_base: Settings, asked: Asking, sets: Sequence[QuestionSet], at: str) -> EvaluationRun:
    generation, indexed = asked.reader.generation, asked.reader.index.entries()
    told = telling_settings(knowledge_base, generation) | _answering_settings(asked)
    return run_of("answers", generation, indexed, sets, told, _code(), at)


def _usage(asked: Asking, answers: Sequence[GivenAnswer], knowledge_base: Settings) -> tuple[Usage, ...]:
    """What the model was paid for, answers and judgements together; it is one model that does both."""
    if not asked.settings.chat_model or not (asked.answerer.model or asked.grader):
        return ()
    tokens = sum((answer.tokens for answer in answers), Tokens())
    used = Usage(model=asked.settings.chat_model, input_tokens=tokens.input, output_tokens=tokens.output)
    return priced([used], knowledge_base.prices)


def _answering_settings(asked: Asking) -> dict[str, str]:
    """What of the settings decides about what is answered."""
    settings = asked.settings
    told = {"answered_by": asked.answerer.answered_by, "passages": str(settings.search_top)}
    if asked.answerer.model:
        told |= {
            "model": asked.answerer.model,
            "prompt": PROMPT_VERSION,
            "search_rounds": str(settings.search_rounds),
            "sees_images": str(asked.answerer.sees_images),
        }
    return told | ({"graded": GRADING_VERSION} if asked.grader else {})


def _code() -> str:
    """Hash of our own code that decides what is answered, and what of it counts."""
    return fingerprint(code_hash((*SEARCHING, "evaluation/answers.py")), code_hash(_ANSWERING, _APP))[:16]
