"""``kb evaluate``: retrieval and answers measured with questions whose answers are known."""

import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain, pairwise
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from kb_pipeline.application import open_application
from kb_pipeline.cli.console import AsJson, err, named, out, print_json, table_of, when
from kb_pipeline.cli.run_job import run_job
from kb_pipeline.errors import QuestionSetError, SettingsError
from kb_pipeline.evaluation.comparison import Comparison, Fate
from kb_pipeline.evaluation.history import load_outcomes, load_runs
from kb_pipeline.evaluation.judging import comparison_with_baseline
from kb_pipeline.evaluation.questions import QuestionSet, question_sets, read_questions
from kb_pipeline.evaluation.records import Evaluation, EvaluationRun, QuestionOutcome, Score, Scores
from kb_pipeline.evaluation.retrieval import evaluate as evaluate_generation
from kb_pipeline.evaluation.tables import change_rows, difference_rows, score_rows
from kb_pipeline.flow.workspace import open_workspace
from kb_pipeline.settings import Settings, load_settings

_MOST_CHANGES = 10
"""Questions of each kind that are shown: half a screen."""
_STYLES: dict[Fate, str] = {"lost": "red", "won": "green"}


def evaluate(
    questions: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Ask the questions in this file (JSON lines) and record nothing."),
    ] = None,
    answers: Annotated[
        bool, typer.Option("--answers", help="Evaluate the answers instead of the retrieved passages.")
    ] = False,
    graded: Annotated[
        bool, typer.Option("--graded", help="Also have the chat model grade each answer; this costs money.")
    ] = False,
    accept: Annotated[
        bool, typer.Option("--accept", help="Accept this result as the new baseline, even if it is worse.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Measure the knowledge base with questions whose answers are known.

    Without --questions it asks the knowledge base's own questions (KB_EVALUATION), compares the scores with the last
    accepted run, and records them in the history. Exit code 1: significantly worse.
    """
    settings = load_settings()
    if questions and accept:
        raise SettingsError("--accept applies only to the knowledge base's own questions; leave out --questions")
    if graded and not answers:
        raise SettingsError("--graded applies only to answers; add --answers")
    if questions:
        evaluation = _ask(settings, [read_questions(path) for path in questions], answers=answers, graded=graded)
    else:
        evaluation = _ask_own(settings, answers=answers, graded=graded, accept=accept)
    baseline = comparison_with_baseline(settings, evaluation)
    if as_json:
        print_json(_evaluation_json(evaluation, baseline and baseline[1]))
    else:
        _print(evaluation, baseline)
    sys.exit(0 if questions or evaluation.run.accepted else 1)


def _ask(settings: Settings, sets: Sequence[QuestionSet], *, answers: bool, graded: bool) -> Evaluation:
    """Evaluate the live generation; results that the history already holds are reused."""
    at = datetime.now(UTC).isoformat(timespec="seconds")
    with err.status("asking"):
        if answers:
            return open_application(settings).evaluate(sets, at, graded=graded)
        workspace = open_workspace(settings)
        return evaluate_generation(workspace, workspace.reader().generation, sets, at)


def _ask_own(settings: Settings, *, answers: bool, graded: bool, accept: bool) -> Evaluation:
    """Evaluate the knowledge base's own questions with a Dagster job, and read the result from the history."""
    if not question_sets(settings):
        folder = settings.evaluation_path
        raise QuestionSetError(
            f"there are no questions in {folder}: put *.jsonl files there, or name one with --questions"
        )
    config = {"accept": accept} | ({"graded": graded, "paid": True} if answers else {})
    with err.status("asking"):
        run_job(settings, "evaluate_answering" if answers else "evaluate_retrieval", config).require_success()
    run = max(load_runs(settings, "answers" if answers else "retrieval"), key=lambda run: (run.seen_at, run.made_at))
    return Evaluation(run, load_outcomes(settings, run))


def _evaluation_json(evaluation: Evaluation, comparison: Comparison | None) -> dict[str, object]:
    """The run, the outcome of each question, and how they differ from the run that it was compared with."""
    document = evaluation.run.model_dump() | {"questions": [_outcome_json(outcome) for outcome in evaluation.outcomes]}
    if comparison is None:
        return document
    changes = [
        {"fate": change.fate, "question": change.after.asked, "paraphrase": change.after.paraphrase}
        for change in comparison.changes
    ]
    return document | {"differences": comparison.differences, "changes": changes}


def _outcome_json(outcome: QuestionOutcome) -> dict[str, object]:
    """The outcome of a question: the ranked articles, each once, and the ranked chunks."""
    articles = dict.fromkeys(ranked.article_id for ranked in outcome.ranked)
    chunks = [ranked.chunk_id for ranked in outcome.ranked]
    fields = outcome.model_dump(exclude={"asked", "ranked"})
    return {"question": outcome.asked, **fields, "articles": list(articles), "chunks": chunks}


def _print(evaluation: Evaluation, baseline: tuple[EvaluationRun, Comparison] | None) -> None:
    run = evaluation.run
    sets = ", ".join(f"{questions.name} ({questions.questions})" for questions in run.question_sets)
    out.print(f"generation {run.generation}, questions {escape(sets)}, {run.seconds:.1f} s", soft_wrap=True)
    for table in score_tables(run.scores):
        out.print(table)
    if run.unknown_articles:
        unknown = f"{len(run.unknown_articles)} expected articles are not in the index ({named(run.unknown_articles)})"
        err.print(f"[yellow]warning:[/] {unknown}: their questions count as not found", soft_wrap=True)
    if baseline:
        _print_comparison(*baseline)
    if run.worse:
        accepted = "accepted by hand" if run.accepted else "to accept it, run: kb evaluate --accept"
        err.print(f"[red]significantly worse:[/] {escape('; '.join(run.worse))}; {accepted}", soft_wrap=True)


def _print_comparison(before: EvaluationRun, comparison: Comparison) -> None:
    out.print(f"compared with {when(before.made_at)}, generation {before.generation}, {before.commit}", soft_wrap=True)
    if rows := difference_rows(comparison):
        out.print(table_of(rows))
    for fate, style in _STYLES.items():
        if changes := comparison.of(fate):
            out.print(f"[{style}]{len(changes)} {fate}[/]")
            out.print(table_of(change_rows(changes)[:_MOST_CHANGES]))
    if changes := comparison.of("changed"):
        out.print(f"[dim]{len(changes)} ranked differently, neither lost nor won[/]")


def score_tables(scores: Scores, asked: str = "questions") -> list[Table]:
    """One table if it fits the terminal, without intervals if need be; else the fewest tables that fit."""

    def fits(table: Table) -> bool:
        return out.measure(table, options=out.options.update(max_width=1000)).maximum <= out.width

    without_intervals = [_score_table(scores, lambda score: f"{score.value:.2f}", asked)]
    split = (
        [_score_table(part, _with_interval, asked) for part in _split(scores, n)] for n in range(2, len(scores) + 1)
    )
    choices = chain([[_score_table(scores, _with_interval, asked)], without_intervals], split)
    return next((tables for tables in choices if all(map(fits, tables))), without_intervals)


def _split(scores: Scores, count: int) -> Iterator[Scores]:
    """The measures in ``count`` parts of about equal size."""
    measures = list(scores.items())
    ends = [len(measures) * part // count for part in range(count + 1)]
    return (dict(measures[start:end]) for start, end in pairwise(ends))


def _score_table(scores: Scores, write: Callable[[Score], str], asked: str) -> Table:
    table = table_of(score_rows(scores, write, asked))
    table.padding = (0, 1, 0, 0)
    table.columns[0].no_wrap = True
    for column in table.columns:
        column.header = str(column.header).replace("@", "\n@").replace(" ", "\n")  # no wider than need be
    return table


def _with_interval(score: Score) -> str:
    """A score above its interval, because a table of many measures is wide."""
    low, high = (f"{bound:.2f}".removeprefix("0").replace("1.00", "1") for bound in (score.low, score.high))
    return f"{score.value:.2f}\n{low}-{high}"
