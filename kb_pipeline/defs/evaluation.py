"""How good retrieval is: an asset with a history, a check against the last accepted run, and the gate's verdict."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import dagster as dg
from pydantic import Field

from kb_pipeline.defs.clock import now
from kb_pipeline.defs.control_room import GROUP, OWNERS
from kb_pipeline.defs.evaluation_metadata import CHECK, check_result, shown_of
from kb_pipeline.defs.resources import KnowledgeBase
from kb_pipeline.evaluation.gate import Verdict
from kb_pipeline.evaluation.judging import accept, judge_state
from kb_pipeline.evaluation.questions import QuestionSet, question_sets
from kb_pipeline.evaluation.records import Evaluation, Kind
from kb_pipeline.evaluation.retrieval import evaluate
from kb_pipeline.settings import Settings, load_settings
from kb_pipeline.workspace import open_workspace

ASSETS: Mapping[Kind, str] = MappingProxyType({"retrieval": "retrieval_quality", "answers": "answer_quality"})

Measure = Callable[[Sequence[QuestionSet]], Evaluation]


class EvaluationConfig(dg.Config):
    """What to do with what comes out."""

    accept: bool = Field(default=False, description="Accept it as what is compared with from now on, even if worse.")


class AnswersConfig(EvaluationConfig):
    """How to judge the answers."""

    graded: bool = Field(default=False, description="Have the chat model judge each answer as well; it is paid for.")


def _check_spec(kind: Kind) -> dg.AssetCheckSpec:
    gate = "; also what a new generation of the index must pass before readers are switched to it"
    return dg.AssetCheckSpec(
        CHECK,
        asset=ASSETS[kind],
        description=f"Not significantly worse than the last accepted run{gate if kind == 'retrieval' else ''}. "
        "The rule is in docs/quality.md.",
    )


@dg.asset(
    name=ASSETS["retrieval"],
    deps=["index_state"],
    description="How well readers find what they ask for: the knowledge base's own questions "
    "(`KB_HOME/evaluation/*.jsonl`), asked of the live index. Lost and won questions against the last accepted run.",
    kinds={"table"},
    group_name=GROUP,
    owners=OWNERS,
    check_specs=[_check_spec("retrieval")],
)
def retrieval_quality(
    context: dg.AssetExecutionContext, config: EvaluationConfig, kb: KnowledgeBase
) -> Iterator[dg.MaterializeResult[Any]]:
    """What readers find for known questions is measured, compared and in the history."""
    settings = kb.settings()

    def measure(sets: Sequence[QuestionSet]) -> Evaluation:
        workspace = open_workspace(settings)
        return evaluate(workspace, workspace.reader().generation, sets, now())

    yield _result(context, settings, config, measure)


@dg.asset(
    name=ASSETS["answers"],
    deps=[ASSETS["retrieval"]],
    description="How good the answers are: the knowledge base's own questions, asked of what answers readers. What is "
    "cited, shown and refused. With a chat model this is paid for.",
    kinds={"table"},
    group_name=GROUP,
    owners=OWNERS,
    check_specs=[_check_spec("answers")],
)
def answer_quality(
    context: dg.AssetExecutionContext, config: AnswersConfig, kb: KnowledgeBase
) -> Iterator[dg.MaterializeResult[Any]]:
    """What is answered to known questions is measured, compared and in the history."""
    from app.evaluating import evaluate_answers  # what answers is not needed by the other assets

    settings = kb.settings()

    def measure(sets: Sequence[QuestionSet]) -> Evaluation:
        return asyncio.run(evaluate_answers(settings, sets, now(), graded=config.graded))

    yield _result(context, settings, config, measure)


evaluate_retrieval = dg.define_asset_job(
    "evaluate_retrieval",
    selection=[retrieval_quality],
    config=dg.RunConfig({ASSETS["retrieval"]: EvaluationConfig()}),
    description="Ask the knowledge base's own questions of the index, and compare with the last accepted run. What was "
    "measured before and has not changed is not asked again.",
)
evaluate_answering = dg.define_asset_job(
    "evaluate_answering",
    selection=[answer_quality],
    config=dg.RunConfig({ASSETS["answers"]: AnswersConfig()}),
    description="Ask the knowledge base's own questions of what answers readers, and compare with the last accepted "
    "run. With a chat model this is paid for.",
)


@dg.schedule(
    name="nightly_evaluation",
    job=evaluate_retrieval,
    cron_schedule="0 5 * * *",
    default_status=dg.DefaultScheduleStatus.RUNNING if load_settings().watch else dg.DefaultScheduleStatus.STOPPED,
    tags={"kb/source": "schedule", "dagster/priority": "-1"},
    description="Every night, after all that mends and refreshes: how well readers find what they ask for.",
)
def nightly_evaluation(kb: KnowledgeBase) -> dg.RunRequest | dg.SkipReason:
    """Nothing to do where nobody wrote questions."""
    folder = kb.settings().evaluation_path
    if not any(folder.glob("*.jsonl")):
        return dg.SkipReason(f"there are no questions (*.jsonl) in {folder}")
    return dg.RunRequest()


def record_verdict(context: dg.OpExecutionContext, settings: Settings, verdict: Verdict, *, promoted: bool) -> None:
    """Leave what the gate found in the history of the asset: its check, and the scores once readers have them."""
    evaluation = verdict.evaluation
    if evaluation is None:
        return
    if promoted:
        context.log_event(dg.AssetMaterialization(ASSETS["retrieval"], metadata=shown_of(settings, evaluation)))
    result = check_result(settings, evaluation)
    context.log_event(
        dg.AssetCheckEvaluation(  # type: ignore[arg-type]  # handled like the other events, and not declared
            asset_key=dg.AssetKey(ASSETS["retrieval"]),
            check_name=CHECK,
            passed=verdict.passed,
            description=verdict.reason,
            metadata={**result.metadata, "reason": dg.MetadataValue.text(verdict.reason or "not worse")},
            severity=dg.AssetCheckSeverity.ERROR,
            blocking=False,
        )
    )


def _result(
    context: dg.AssetExecutionContext, settings: Settings, config: EvaluationConfig, measure: Measure
) -> dg.MaterializeResult[Any]:
    """What the assets of evaluations have in common: measure what is asked, judge, keep, warn, show."""
    sets = question_sets(settings)
    if not sets:
        return _without_questions(settings)
    evaluation = judge_state(settings, measure(sets))
    if config.accept:
        evaluation = Evaluation(accept(settings, evaluation.run), evaluation.outcomes)
    for article_id in evaluation.run.unknown_articles:
        context.log.warning(f"questions ask for {article_id}, which is not in the index: they cannot be answered")
    return dg.MaterializeResult(
        metadata=shown_of(settings, evaluation), check_results=[check_result(settings, evaluation)]
    )


def _without_questions(settings: Settings) -> dg.MaterializeResult[Any]:
    how = (
        f"No questions yet: put files of JSON lines (`question`, `article_id`, `answer_span`, …) into "
        f"`{settings.evaluation_path}`; the guide is docs/quality.md."
    )
    return dg.MaterializeResult(
        metadata={"questions": 0, "how_to_begin": dg.MetadataValue.md(how)},
        check_results=[dg.AssetCheckResult(check_name=CHECK, passed=True, description="there are no questions")],
    )
