"""Scores and changed questions as rows of text, for the terminal and the Dagster UI."""

from collections.abc import Callable, Sequence

from kb_pipeline.evaluation.comparison import ChangedOutcome, Comparison
from kb_pipeline.evaluation.records import Score, Scores

NO_BREAK = "\u2011"
"""A hyphen that does not break the line."""


def written(score: Score) -> str:
    """A score with its interval, as text."""
    return f"{score.value:.2f} ({score.low:.2f}{NO_BREAK}{score.high:.2f})"


def score_rows(
    scores: Scores, write: Callable[[Score], str] = written, asked: str = "questions"
) -> list[dict[str, str]]:
    """A row for each group of what was asked, with its name, the number of questions and all measures."""
    groups = dict.fromkeys(group for by_group in scores.values() for group in by_group)
    return [_row(group, scores, write, asked) for group in groups]


def _row(group: str, scores: Scores, write: Callable[[Score], str], asked: str) -> dict[str, str]:
    # the n of an AUC also counts the unanswerable questions
    counts = [by_group[group].n for name, by_group in scores.items() if group in by_group and name != "AUC"]
    title = {"all": f"all {asked}", "paraphrase": "in other words"}.get(group, group)
    row = {asked: title, "n": str(max(counts, default=0))}
    return row | {name: write(by_group[group]) if group in by_group else "" for name, by_group in scores.items()}


def difference_rows(comparison: Comparison) -> list[dict[str, str]]:
    """A row for each measure, with the difference to the run before and its interval."""
    return [
        {
            "measure": name,
            "difference": f"{score.value:+.3f}",
            "95 % interval": f"{score.low:+.3f} to {score.high:+.3f}",
        }
        for name, score in comparison.differences.items()
    ]


def change_rows(changes: Sequence[ChangedOutcome]) -> list[dict[str, str]]:
    """A row for each question with another outcome, with the ranks before and after."""
    return [
        {
            "question": change.after.asked,
            "right article": change.after.article_id or "",
            "article": _moved(change.before.article_rank, change.after.article_rank),
            "words": _moved(change.before.span_rank, change.after.span_rank) if change.after.answer_span else "",
            "first now": change.after.ranked[0].article_id if change.after.ranked else "",
        }
        for change in changes
    ]


def _moved(before: int | None, after: int | None) -> str:
    """The ranks before and after, with a dash for "not found"."""
    return str(after or "-") if before == after else f"{before or '-'} → {after or '-'}"
