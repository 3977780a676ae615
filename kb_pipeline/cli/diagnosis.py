"""``kb scenario evaluate``: how often the diagnosis of a network names the right cause."""

import sys
from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.markup import escape

from kb_pipeline.cli.console import AsJson, err, out, print_json, table_of, when
from kb_pipeline.cli.evaluate import score_tables
from kb_pipeline.cli.run_job import run_job
from kb_pipeline.errors import ScenarioError
from kb_pipeline.evaluation.comparison import Comparison
from kb_pipeline.evaluation.diagnosis import changed_rows, missed_rows, told_of
from kb_pipeline.evaluation.history import load_outcomes, load_runs
from kb_pipeline.evaluation.judging import comparison_with_baseline
from kb_pipeline.evaluation.records import Evaluation, EvaluationRun, QuestionOutcome
from kb_pipeline.network.opening import configured_scenario
from kb_pipeline.settings import load_settings


def evaluate(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The scenario; default: KB_SCENARIO, or the only one.")
    ] = "",
    accept: Annotated[
        bool, typer.Option("--accept", help="Accept this result as the new baseline, even if it is worse.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Diagnose the recorded incidents of a scenario, whose causes are known, and compare with the last accepted run.

    As the asset diagnosis_quality does in Dagster, by rules; no model is asked. Exit code 1: worse.
    """
    settings = load_settings()
    scenario = configured_scenario(settings, name).scenario.name
    began = datetime.now(UTC).isoformat(timespec="seconds")
    with err.status("diagnosing"):
        run_job(settings, "evaluate_diagnosis", {"accept": accept}, scenario=scenario).require_success()
    runs = [run for run in load_runs(settings, "diagnosis", scenario) if run.seen_at >= began]
    if not runs:
        raise ScenarioError(
            f"{scenario} has no incidents: name a file of them in its manifest (incidents: incidents.jsonl)"
        )
    run = max(runs, key=lambda run: (run.seen_at, run.made_at))
    evaluation = Evaluation(run, load_outcomes(settings, run))
    baseline = comparison_with_baseline(settings, evaluation)
    if as_json:
        print_json(_json(evaluation, baseline and baseline[1]))
    else:
        _print(evaluation, baseline)
    sys.exit(0 if run.accepted else 1)


def _json(evaluation: Evaluation, comparison: Comparison | None) -> dict[str, object]:
    """The run, the outcome of each incident, and how they differ from the run that it was compared with."""
    document = evaluation.run.model_dump() | {"incidents": [_incident(each) for each in evaluation.outcomes]}
    if comparison is None:
        return document
    changes = [{"fate": change.fate, "incident": told_of(change.after).incident} for change in comparison.changes]
    return document | {"differences": comparison.differences, "changes": changes}


def _incident(outcome: QuestionOutcome) -> dict[str, object]:
    told = told_of(outcome)
    return {
        "incident": told.incident,
        "asked": outcome.asked,
        "kind": outcome.kind,
        "causes": told.causes,
        "planned": told.planned,
        "named": told.given.named,
        "candidates": told.given.ranked,
        "planned_told": told.given.planned,
        "failure": told.given.failure,
        "seconds": told.given.seconds,
        "values": outcome.values,
    }


def _print(evaluation: Evaluation, baseline: tuple[EvaluationRun, Comparison] | None) -> None:
    run = evaluation.run
    sets = ", ".join(f"{each.questions} {each.name}" for each in run.question_sets)
    out.print(f"{escape(run.scenario)}, version {run.generation}, {sets}, {run.seconds:.1f} s", soft_wrap=True)
    for table in score_tables(run.scores, "incidents"):
        out.print(table)
    if missed := missed_rows(evaluation.outcomes):
        out.print(f"[red]{len(missed)} missed[/]")
        out.print(table_of([{name: cell for name, cell in row.items() if name != "asked"} for row in missed]))
    if baseline:
        _print_comparison(*baseline)
    if run.worse:
        accepted = "accepted by hand" if run.accepted else "to accept it, run: kb scenario evaluate --accept"
        err.print(f"[red]worse:[/] {escape('; '.join(run.worse))}; {accepted}", soft_wrap=True)


def _print_comparison(before: EvaluationRun, comparison: Comparison) -> None:
    version = f"version {before.generation}, {before.commit}"
    out.print(f"compared with {when(before.made_at)}, {version}, {comparison.questions} incidents", soft_wrap=True)
    if lost := comparison.of("lost"):
        out.print(f"[red]{len(lost)} lost[/]")
        out.print(table_of(changed_rows(lost)))
    if won := comparison.of("won"):
        out.print(f"[green]{len(won)} won[/]")
        out.print(table_of(changed_rows(won)))
