"""The quality of search and answers as assets with a history, each with a check against the last accepted run."""

import base64
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import dagster as dg
from pydantic import Field

from kb_pipeline.application import open_application
from kb_pipeline.contributions import open_queue
from kb_pipeline.contributions.findings import OwnFinding, hand_in_all
from kb_pipeline.defs.automation import AFTER_UPSTREAM
from kb_pipeline.defs.control_room import OWNERS
from kb_pipeline.defs.events import table
from kb_pipeline.defs.namespace import Namespace
from kb_pipeline.defs.resources import KnowledgeBase, now
from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.evaluation.comparison import ChangedOutcome, Comparison, Fate
from kb_pipeline.evaluation.gate import GateDecision
from kb_pipeline.evaluation.history import load_runs
from kb_pipeline.evaluation.judging import accept, comparison_with_baseline, judge_live
from kb_pipeline.evaluation.plot import plot_history
from kb_pipeline.evaluation.questions import QuestionSet, question_sets
from kb_pipeline.evaluation.records import Evaluation, EvaluationRun, Kind
from kb_pipeline.evaluation.retrieval import evaluate
from kb_pipeline.evaluation.tables import change_rows, difference_rows, score_rows
from kb_pipeline.flow.workspace import open_workspace
from kb_pipeline.settings import Settings

CHECK = "not_worse"

_SHOWN = 100
"""Questions that a table lists: Dagster shows it in one piece."""

Metadata = dict[str, Any]
Compared = tuple[EvaluationRun, Comparison] | None
"""The run that an evaluation was judged by, and what changed since; ``None`` for a first one."""


def shown_of(settings: Settings, run: EvaluationRun, compared: Compared) -> Metadata:
    """The metadata of a materialization, for an evaluation that is already in the history."""
    shown: Metadata = {
        "history": history_picture([each for each in load_runs(settings, run.kind) if each.made_at <= run.made_at]),
        "scores": table(score_rows(run.scores)),
        **changes_since(compared, _rows, ("lost", "won", "changed")),
        **_scores(run),
        "questions": sum(each.questions for each in run.question_sets),
        "evaluation": run.id,
        "generation": run.generation,
        "commit": run.commit,
        "accepted": run.accepted,
    }
    if run.unknown_articles:
        shown["unknown_articles"] = ", ".join(run.unknown_articles)
    return shown


def check_result(run: EvaluationRun, compared: Compared) -> dg.AssetCheckResult:
    """Whether the evaluation was accepted, and which questions were lost since the run it was compared with."""
    worse = "; ".join(run.worse)
    how = "kb evaluate --accept compares with this run from now on"
    return dg.AssetCheckResult(
        check_name=CHECK,
        passed=run.accepted,
        severity=dg.AssetCheckSeverity.ERROR,
        description="" if run.accepted else f"significantly worse: {worse}; {how}",
        metadata={"worse": worse or "nothing", **changes_since(compared, _rows, ("lost",))},
    )


def history_picture(runs: Sequence[EvaluationRun]) -> dg.MetadataValue:
    """A plot of the newest runs, of which there must be one."""
    data = base64.b64encode(plot_history(runs)).decode()
    return dg.MetadataValue.md(f"![scores of the newest runs](data:image/png;base64,{data})")


def _scores(run: EvaluationRun) -> Metadata:
    """Each score as a number, which Dagster plots over time."""
    return {
        measure if group == "all" else f"{measure} ({group})": score.value
        for measure, by_group in run.scores.items()
        for group, score in by_group.items()
    }


def changes_since(
    compared: Compared,
    rows_of: Callable[[Sequence[ChangedOutcome]], list[dict[str, str]]],
    fates: Sequence[Fate],
) -> Metadata:
    """What changed since the run that an evaluation was judged by, with a table for each of these fates."""
    if compared is None:
        return {}
    before, comparison = compared
    tables = {"differences": difference_rows(comparison)}  # none between runs that have no question in common
    tables |= {fate: rows_of(comparison.of(fate)) for fate in fates}
    return {
        "compared_with": f"{before.id} of {before.made_at}",
        **{name: table(rows) for name, rows in tables.items() if rows},
    }


def _rows(changes: Sequence[ChangedOutcome]) -> list[dict[str, str]]:
    return change_rows(changes)[:_SHOWN]


ASSETS: Mapping[Kind, str] = MappingProxyType({"retrieval": "retrieval_quality", "answers": "answer_quality"})
_GROUP = "quality"
_LOST = "An earlier evaluation found what answers this question; the last one did not."

Measure = Callable[[Sequence[QuestionSet]], Evaluation]


class EvaluationConfig(dg.Config):
    """What to do with the scores."""

    accept: bool = Field(
        default=False, description="Compare with this run from now on, even if it is significantly worse."
    )


class AnswersConfig(EvaluationConfig):
    """How to evaluate the answers."""

    graded: bool = Field(default=False, description="The chat model judges each answer as well; it is paid for.")
    paid: bool = Field(
        default=False,
        description="Evaluate although a chat model answers, which is paid for. Without it, nothing is asked then.",
    )


def _spec(
    kind: Kind, upstream: str, description: str, condition: dg.AutomationCondition[Any] | None = None
) -> dg.AssetSpec:
    return dg.AssetSpec(
        ASSETS[kind],
        deps=[upstream],
        description=description,
        kinds={"table"},
        group_name=_GROUP,
        owners=OWNERS,
        skippable=True,
        automation_condition=condition,
    )


def _check_spec(kind: Kind) -> dg.AssetCheckSpec:
    gate = "; a new generation of the index must pass it, too, before readers get it" if kind == "retrieval" else ""
    return dg.AssetCheckSpec(
        CHECK,
        asset=ASSETS[kind],
        description=f"Not significantly worse than the last accepted run{gate}. docs/quality.md explains the rule.",
    )


@dg.multi_asset(
    name=ASSETS["retrieval"],
    specs=[
        _spec(
            "retrieval",
            "index_state",
            "How well readers find what they ask for: your own questions (`KB_HOME/evaluation/*.jsonl`), asked of the "
            "live index. It shows which questions were lost and won since the last accepted run.",
        )
    ],
    check_specs=[_check_spec("retrieval")],
    can_subset=True,
)
def retrieval_quality(
    context: dg.AssetExecutionContext, config: EvaluationConfig, kb: KnowledgeBase
) -> Iterator[dg.MaterializeResult[Any]]:
    """Measure the search with the known questions, compare and record the scores."""
    settings = kb.settings()

    def measure(sets: Sequence[QuestionSet]) -> Evaluation:
        workspace = kb.workspace()
        return evaluate(workspace, workspace.reader().generation, sets, now())

    yield _result(context, settings, config, "retrieval", measure)


@dg.multi_asset(
    name=ASSETS["answers"],
    specs=[
        _spec(
            "answers",
            ASSETS["retrieval"],
            "How good the answers are: your own questions, asked of the agent service. It shows what was cited, shown "
            "and refused. With a chat model this is paid for, so materializing it only does so with `paid: true`, as "
            "the job `evaluate_answering` has it.",
            AFTER_UPSTREAM,
        )
    ],
    check_specs=[_check_spec("answers")],
    can_subset=True,
)
def answer_quality(
    context: dg.AssetExecutionContext, config: AnswersConfig, kb: KnowledgeBase
) -> Iterator[dg.MaterializeResult[Any]]:
    """Measure the answers to the known questions, compare and record the scores."""
    settings = kb.settings()
    application = open_application(settings)
    if application.is_paid and question_sets(settings) and not config.paid:
        context.log.warning(
            "nothing was asked, because answers of the chat model are paid for: set paid: true in the launchpad, or "
            "run the job evaluate_answering"
        )
        return

    def measure(sets: Sequence[QuestionSet]) -> Evaluation:
        return application.evaluate(sets, now(), graded=config.graded)

    yield _result(context, settings, config, "answers", measure)


evaluate_retrieval = dg.define_asset_job(
    "evaluate_retrieval",
    selection=[retrieval_quality],
    config=dg.RunConfig({ASSETS["retrieval"]: EvaluationConfig()}),
    description="Ask your own questions of the index, and compare the scores with the last accepted run. Questions "
    "are asked again only if something changed.",
)
evaluate_answering = dg.define_asset_job(
    "evaluate_answering",
    selection=[answer_quality],
    config=dg.RunConfig({ASSETS["answers"]: AnswersConfig(paid=True)}),
    description="Ask your own questions of the agent service, and compare the scores with the last accepted run. "
    "With a chat model this is paid for.",
)


def record_verdict(
    context: dg.OpExecutionContext, settings: Settings, verdict: GateDecision, namespace: Namespace, *, promoted: bool
) -> None:
    """Record the gate's verdict as a check of the asset, and the scores once readers have the generation."""
    evaluation = verdict.evaluation
    if evaluation is None:
        return
    asset = namespace.asset(ASSETS["retrieval"])
    compared = comparison_with_baseline(settings, evaluation)
    if promoted:
        metadata = shown_of(settings, evaluation.run, compared)
        context.log_event(dg.AssetMaterialization(asset, metadata=metadata))
    result = check_result(evaluation.run, compared)
    context.log_event(
        dg.AssetCheckEvaluation(  # type: ignore[arg-type]  # Dagster accepts it, although its annotation does not
            asset_key=asset,
            check_name=CHECK,
            passed=verdict.passed,
            description=verdict.reason,
            metadata={**result.metadata, "reason": verdict.reason or "not worse"},
            severity=dg.AssetCheckSeverity.ERROR,
            blocking=False,
        )
    )


def _result(
    context: dg.AssetExecutionContext, settings: Settings, config: EvaluationConfig, kind: Kind, measure: Measure
) -> dg.MaterializeResult[Any]:
    """Measure, compare with the last accepted run, record, and show: the same for both assets."""
    sets = question_sets(settings)
    if not sets:
        return _without_questions(settings, kind)
    evaluation = judge_live(settings, measure(sets))
    _hand_in_lost(context, settings, evaluation)
    if config.accept:
        evaluation = Evaluation(accept(settings, evaluation.run), evaluation.outcomes)
    for article_id in evaluation.run.unknown_articles:
        context.log.warning(f"questions ask for {article_id}, which is not in the index: they cannot be answered")
    compared = comparison_with_baseline(settings, evaluation)
    return dg.MaterializeResult(
        asset_key=ASSETS[kind],
        metadata=shown_of(settings, evaluation.run, compared),
        check_results=[check_result(evaluation.run, compared)],
    )


def _hand_in_lost(context: dg.AssetExecutionContext, settings: Settings, evaluation: Evaluation) -> None:
    """Propose to write about the questions that were lost since the run it was compared with."""
    compared_runs = comparison_with_baseline(settings, evaluation)
    lost = compared_runs[1].of("lost") if compared_runs else []
    findings = [
        OwnFinding("evaluation", change.after.asked, comment=_LOST, article_id=change.after.article_id or "")
        for change in lost
        if not change.after.paraphrase
    ]
    try:
        handed_in = hand_in_all(open_workspace(settings), open_queue(settings), findings) if findings else 0
    except KnowledgeBaseError as exc:
        context.log.warning(f"lost questions could not be handed in as contributions: {exc}")
        return
    if handed_in:
        context.log.info(f"{handed_in} lost questions wait for a reviewer: kb contributions --state pending")


def _without_questions(settings: Settings, kind: Kind) -> dg.MaterializeResult[Any]:
    how = (
        f"No questions yet: put files of JSON lines (`question`, `article_id`, `answer_span`, …) into "
        f"`{settings.evaluation_path}`; the guide is docs/quality.md."
    )
    return dg.MaterializeResult(
        asset_key=ASSETS[kind],
        metadata={"questions": 0, "how_to_begin": dg.MetadataValue.md(how)},
        check_results=[dg.AssetCheckResult(check_name=CHECK, passed=True, description="there are no questions")],
    )
