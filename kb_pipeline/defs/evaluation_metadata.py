"""An evaluation as Dagster shows it: scores that it plots, tables, a picture of the history, the check's result."""

import base64
from collections.abc import Mapping, Sequence

import dagster as dg

from kb_pipeline.evaluation.comparison import Fate
from kb_pipeline.evaluation.history import load_runs
from kb_pipeline.evaluation.judging import compared
from kb_pipeline.evaluation.plot import plot_history
from kb_pipeline.evaluation.records import Evaluation, EvaluationRun
from kb_pipeline.evaluation.tables import change_rows, difference_rows, score_rows
from kb_pipeline.settings import Settings

CHECK = "not_worse"

_SHOWN = 100

Metadata = dict[str, dg.MetadataValue]


def shown_of(settings: Settings, evaluation: Evaluation) -> Metadata:
    """What a materialisation shows of an evaluation that is in the history."""
    run = evaluation.run
    shown: Metadata = {
        "history": _picture([each for each in load_runs(settings, run.kind) if each.made_at <= run.made_at]),
        "scores": _table(score_rows(run.scores)),
        **_changes(settings, evaluation, ("lost", "won", "changed")),
        **_scores(run),
        "questions": dg.MetadataValue.int(sum(each.questions for each in run.question_sets)),
        "evaluation": dg.MetadataValue.text(run.id),
        "generation": dg.MetadataValue.text(run.generation),
        "commit": dg.MetadataValue.text(run.commit),
        "accepted": dg.MetadataValue.bool(run.accepted),
    }
    if run.unknown_articles:
        shown["unknown_articles"] = dg.MetadataValue.text(", ".join(run.unknown_articles))
    return shown


def check_result(settings: Settings, evaluation: Evaluation) -> dg.AssetCheckResult:
    """Whether the evaluation was accepted, and what is lost against the run that it was compared with."""
    run = evaluation.run
    said = "; ".join(run.worse)
    how = "kb evaluate --accept takes it as what is compared with from now on"
    return dg.AssetCheckResult(
        check_name=CHECK,
        passed=run.accepted,
        severity=dg.AssetCheckSeverity.ERROR,
        description="" if run.accepted else f"significantly worse: {said}; {how}",
        metadata={"worse": dg.MetadataValue.text(said or "nothing"), **_changes(settings, evaluation, ("lost",))},
    )


def _picture(runs: Sequence[EvaluationRun]) -> dg.MetadataValue:
    data = base64.b64encode(plot_history(runs)).decode()
    return dg.MetadataValue.md(f"![scores of the newest runs](data:image/png;base64,{data})")


def _scores(run: EvaluationRun) -> Metadata:
    """Each score as a number of its own, which Dagster plots over time."""
    return {
        measure if group == "all" else f"{measure} ({group})": dg.MetadataValue.float(score.value)
        for measure, by_group in run.scores.items()
        for group, score in by_group.items()
    }


def _changes(settings: Settings, evaluation: Evaluation, fates: Sequence[Fate]) -> Metadata:
    found = compared(settings, evaluation)
    if found is None:
        return {}
    before, comparison = found
    shown: Metadata = {
        "compared_with": dg.MetadataValue.text(f"{before.id} of {before.made_at}"),
        "differences": _table(difference_rows(comparison)),
    }
    tables = {fate: change_rows(comparison.of(fate))[:_SHOWN] for fate in fates}
    return shown | {fate: _table(rows) for fate, rows in tables.items() if rows}


def _table(rows: Sequence[Mapping[str, str]]) -> dg.MetadataValue:
    return dg.MetadataValue.table([dg.TableRecord(dict(row)) for row in rows])
