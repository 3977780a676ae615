"""The quality of a network's diagnosis as an asset with a history, and a check against the last accepted run.

The diagnosis lives in the app, which nothing here imports: as for the quality of answers, the application is opened by
its name and measures; what is measured is judged, kept and shown here.
"""

from collections.abc import Sequence
from typing import Any

import dagster as dg

from kb_pipeline.application import open_application
from kb_pipeline.defs.control_room import OWNERS
from kb_pipeline.defs.evaluation import CHECK, Compared, EvaluationConfig, changes_since, history_picture
from kb_pipeline.defs.events import table
from kb_pipeline.defs.network import network_store, scenario_manifest, scenarios
from kb_pipeline.defs.resources import KnowledgeBase, now
from kb_pipeline.evaluation.comparison import FEWEST_QUESTIONS
from kb_pipeline.evaluation.diagnosis import changed_rows, missed_rows
from kb_pipeline.evaluation.history import load_runs
from kb_pipeline.evaluation.judging import accept, comparison_with_baseline, judge_live
from kb_pipeline.evaluation.records import Evaluation, EvaluationRun
from kb_pipeline.evaluation.tables import score_rows
from kb_pipeline.network.opening import configured_scenario
from kb_pipeline.settings import Settings
from kb_pipeline.steps.markers import escape_inline

ASSET = "diagnosis_quality"
Metadata = dict[str, Any]


@dg.asset(
    name=ASSET,
    partitions_def=scenarios,
    group_name="network",
    owners=OWNERS,
    kinds={"table"},
    deps=[scenario_manifest, network_store],
    check_specs=[
        dg.AssetCheckSpec(
            CHECK,
            asset=ASSET,
            description="Not worse than the last accepted run, on the incidents of both. docs/network.md explains the "
            "rule.",
        )
    ],
    description="How often the diagnosis names the right cause: the recorded incidents of the scenario, whose causes "
    "are known, diagnosed by rules on the telemetry that readers have. It shows which incidents are missed, and which "
    "were lost and won since the last accepted run.",
)
def diagnosis_quality(
    context: dg.AssetExecutionContext, config: EvaluationConfig, kb: KnowledgeBase
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Diagnose the recorded incidents, compare and record the scores."""
    settings, scenario = kb.settings(), context.partition_key
    evaluation = open_application(settings).evaluate_diagnosis(scenario, now())
    if not evaluation.outcomes:
        return _without_incidents(settings, scenario)
    evaluation = judge_live(settings, evaluation)
    if config.accept:
        evaluation = Evaluation(accept(settings, evaluation.run), evaluation.outcomes)
    compared = comparison_with_baseline(settings, evaluation)
    return dg.MaterializeResult(
        metadata=_shown(settings, evaluation, compared), check_results=[_check(evaluation.run, compared)]
    )


evaluate_diagnosis = dg.define_asset_job(
    "evaluate_diagnosis",
    selection=[diagnosis_quality],
    config=dg.RunConfig({ASSET: EvaluationConfig()}),
    description="Diagnose the recorded incidents of a scenario, and compare the scores with the last accepted run. "
    "They are diagnosed again only if something changed.",
)


def _shown(settings: Settings, evaluation: Evaluation, compared: Compared) -> Metadata:
    """The metadata of a materialization; numbers are plotted over time by Dagster."""
    run = evaluation.run
    history = [each for each in load_runs(settings, run.kind, run.scenario) if each.made_at <= run.made_at]
    missed = missed_rows(evaluation.outcomes)
    return {
        "history": history_picture(history),
        "n": len(evaluation.outcomes),
        **{measure: by_group["all"].value for measure, by_group in run.scores.items()},
        "seconds": run.seconds,
        "missed": dg.MetadataValue.md(_markdown(missed) if missed else "No incident was missed."),
        "scores": table(score_rows(run.scores, asked="incidents")),
        **changes_since(compared, changed_rows, ("lost", "won")),
        "evaluation": run.id,
        "network": run.generation,
        "commit": run.commit,
        "accepted": run.accepted,
    }


def _check(run: EvaluationRun, compared: Compared) -> dg.AssetCheckResult:
    """Whether the run was accepted. What too few incidents say is a warning."""
    is_certain = compared is not None and compared[1].questions >= FEWEST_QUESTIONS
    worse = "; ".join(run.worse)
    how = f"kb scenario evaluate {run.scenario} --accept compares with this run from now on"
    lost = changed_rows(compared[1].of("lost")) if compared else []
    return dg.AssetCheckResult(
        check_name=CHECK,
        passed=run.accepted,
        severity=dg.AssetCheckSeverity.ERROR if is_certain else dg.AssetCheckSeverity.WARN,
        description="" if run.accepted else f"worse: {worse}; {how}",
        metadata={"worse": worse or "nothing", **({"lost": table(lost)} if lost else {})},
    )


def _without_incidents(settings: Settings, scenario: str) -> dg.MaterializeResult[Any]:
    folder = configured_scenario(settings, scenario).folder
    how = (
        f"No incidents yet: write what happened and what had failed into a file of JSON lines in `{folder}`, and name "
        "it in the manifest (`incidents: incidents.jsonl`); the guide is docs/network.md."
    )
    return dg.MaterializeResult(
        metadata={"n": 0, "how_to_begin": dg.MetadataValue.md(how)},
        check_results=[dg.AssetCheckResult(check_name=CHECK, passed=True, description="there are no incidents")],
    )


def _markdown(rows: Sequence[dict[str, str]]) -> str:
    """The rows as a table; their words come from files of anybody, and are no markup."""
    cells = ([escape_inline(cell).replace("|", "\\|") for cell in row.values()] for row in rows)
    lines = [list(rows[0]), ["---"] * len(rows[0]), *cells]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
