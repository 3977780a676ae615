"""``kb evaluate``: how well readers find what they ask for, measured with questions whose answers are known."""

import asyncio
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain, pairwise
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from kb_pipeline.cli.console import err, named, new_table, out, print_json, when
from kb_pipeline.cli.options import AsJson
from kb_pipeline.cli.run_job import run_job
from kb_pipeline.errors import QuestionSetError, SettingsError
from kb_pipeline.evaluation.comparison import Comparison, Fate
from kb_pipeline.evaluation.history import load_outcomes, load_runs
from kb_pipeline.evaluation.judging import compared
from kb_pipeline.evaluation.questions import QuestionSet, question_sets, read_questions
from kb_pipeline.evaluation.records import Evaluation, EvaluationRun, Outcome, Score, Scores
from kb_pipeline.evaluation.retrieval import evaluate as evaluate_generation
from kb_pipeline.evaluation.tables import change_rows, difference_rows, score_rows
from kb_pipeline.settings import Settings, load_settings
from kb_pipeline.workspace import open_workspace

_SHOWN = 10
_STYLES: dict[Fate, str] = {"lost": "red", "won": "green"}


def evaluate(
    questions: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Ask the questions of this file (JSON lines), and record nothing."),
    ] = None,
    answers: Annotated[
        bool, typer.Option("--answers", help="Evaluate the answers, not what is found for them.")
    ] = False,
    graded: Annotated[
        bool, typer.Option("--graded", help="Have the chat model judge each answer as well; it is paid for.")
    ] = False,
    accept: Annotated[
        bool, typer.Option("--accept", help="Compare with this state from now on, even if it is worse.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Ask questions whose answers are known, and tell how well they are found.

    Without FILE they are the knowledge base's own (KB_EVALUATION), and the scores are compared with the last accepted
    run and kept in the history. Exit code 1: significantly worse.
    """
    settings = load_settings()
    if questions and accept:
        raise SettingsError("--accept is about the knowledge base's own questions; leave out --questions")
    if graded and not answers:
        raise SettingsError("--graded is about answers; add --answers")
    if questions:
        evaluation = _ask(settings, [read_questions(path) for path in questions], answers=answers, graded=graded)
    else:
        evaluation = _ask_own(settings, answers=answers, graded=graded, accept=accept)
    found = compared(settings, evaluation)
    if as_json:
        print_json(_document(evaluation, found and found[1]))
    else:
        _print(evaluation, found)
    sys.exit(0 if questions or evaluation.run.accepted else 1)


def _ask(settings: Settings, sets: Sequence[QuestionSet], *, answers: bool, graded: bool) -> Evaluation:
    """Ask the questions of what readers use; what is in the history is taken from there."""
    at = datetime.now(UTC).isoformat(timespec="seconds")
    with err.status("asking"):
        if answers:
            from app.evaluating import evaluate_answers  # what answers takes a while to load

            return asyncio.run(evaluate_answers(settings, sets, at, graded=graded))
        workspace = open_workspace(settings)
        return evaluate_generation(workspace, workspace.reader().generation, sets, at)


def _ask_own(settings: Settings, *, answers: bool, graded: bool, accept: bool) -> Evaluation:
    """Have the knowledge base's own questions asked by Dagster, and take from the history what came of it."""
    if not question_sets(settings):
        folder = settings.evaluation_path
        raise QuestionSetError(f"there are no questions in {folder}: put *.jsonl files there, or name one: --questions")
    config = {"accept": accept} | ({"graded": graded} if answers else {})
    with err.status("asking"):
        run_job(settings, "evaluate_answering" if answers else "evaluate_retrieval", config).require_success()
    run = max(load_runs(settings, "answers" if answers else "retrieval"), key=lambda run: (run.seen_at, run.made_at))
    return Evaluation(run, load_outcomes(settings, run))


def _document(evaluation: Evaluation, comparison: Comparison | None) -> dict[str, object]:
    """The run, what came of each question, and how that differs from the run it was compared with."""
    told = evaluation.run.model_dump() | {"questions": [_plain(outcome) for outcome in evaluation.outcomes]}
    if comparison is None:
        return told
    changes = [
        {"fate": change.fate, "question": change.after.asked, "paraphrase": change.after.paraphrase}
        for change in comparison.changes
    ]
    return told | {"differences": comparison.differences, "changes": changes}


def _plain(outcome: Outcome) -> dict[str, object]:
    """What came of a question: the ranked articles, each once, and the ranked chunks."""
    articles = dict.fromkeys(ranked.article_id for ranked in outcome.ranked)
    chunks = [ranked.chunk_id for ranked in outcome.ranked]
    told = outcome.model_dump(exclude={"asked", "ranked"})
    return {"question": outcome.asked, **told, "articles": list(articles), "chunks": chunks}


def _print(evaluation: Evaluation, found: tuple[EvaluationRun, Comparison] | None) -> None:
    run = evaluation.run
    asked = ", ".join(f"{each.name} ({each.questions})" for each in run.question_sets)
    out.print(f"generation {run.generation}, questions {escape(asked)}, {run.seconds:.1f} s", soft_wrap=True)
    for table in _score_tables(run.scores):
        out.print(table)
    if run.unknown_articles:
        unknown = f"{len(run.unknown_articles)} right articles are not in the index ({named(run.unknown_articles)})"
        err.print(f"[yellow]warning:[/] {unknown}: these questions count as not found", soft_wrap=True)
    if found:
        _print_comparison(*found)
    if run.worse:
        accepted = "accepted by hand" if run.accepted else "kb evaluate --accept takes it as it is"
        err.print(f"[red]significantly worse:[/] {escape('; '.join(run.worse))}; {accepted}", soft_wrap=True)


def _print_comparison(before: EvaluationRun, comparison: Comparison) -> None:
    out.print(f"compared with {when(before.made_at)}, generation {before.generation}, {before.commit}", soft_wrap=True)
    if rows := difference_rows(comparison):
        out.print(_table(rows))
    for fate, style in _STYLES.items():
        if changes := comparison.of(fate):
            out.print(f"[{style}]{len(changes)} {fate}[/]")
            out.print(_table(change_rows(changes)[:_SHOWN]))
    if changes := comparison.of("changed"):
        out.print(f"[dim]{len(changes)} at another place, and neither lost nor won[/]")


def _score_tables(scores: Scores) -> list[Table]:
    """One table if it fits: without the intervals if need be; else as few below each other as will do."""
    plain = [_score_table(scores, _shortest)]
    parted = ([_score_table(part, _short) for part in _parts(scores, count)] for count in range(2, len(scores) + 1))
    choices = chain([[_score_table(scores, _short)], plain], parted)
    return next((tables for tables in choices if all(map(_fits, tables))), plain)


def _parts(scores: Scores, count: int) -> Iterator[Scores]:
    """So many parts, with as many measures each."""
    measures = list(scores.items())
    ends = [len(measures) * part // count for part in range(count + 1)]
    return (dict(measures[start:end]) for start, end in pairwise(ends))


def _fits(table: Table) -> bool:
    return out.measure(table, options=out.options.update(max_width=1000)).maximum <= out.width


def _score_table(of: Scores, write: Callable[[Score], str]) -> Table:
    scores = _table(score_rows(of, write))
    scores.padding = (0, 1, 0, 0)
    scores.columns[0].no_wrap = True
    for column in scores.columns:
        column.header = str(column.header).replace("@", "\n@").replace(" ", "\n")  # no wider than need be
    return scores


def _short(score: Score) -> str:
    """A score above its interval: a table of many measures is wide enough."""
    low, high = (f"{bound:.2f}".removeprefix("0").replace("1.00", "1") for bound in (score.low, score.high))
    return f"{score.value:.2f}\n{low}-{high}"


def _shortest(score: Score) -> str:
    """For a narrow terminal."""
    return f"{score.value:.2f}"


def _table(rows: Sequence[dict[str, str]]) -> Table:
    """Equal rows, of which there is at least one; columns are named by their keys."""
    table = new_table(*rows[0])
    for row in rows:
        table.add_row(*(escape(cell) for cell in row.values()))
    return table
