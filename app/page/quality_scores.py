"""The scores of one run as HTML: a summary, warnings, and a table of all measures by kind of question."""

from collections.abc import Iterator, Sequence

from app.page.failures import panel
from app.page.quality_words import title_of
from app.page.templates import render
from app.schema.quality import QualityMeasure, QualityRun, UseOfAnswers
from kb_pipeline.wording import counted

ALL, PARAPHRASE = "all", "paraphrase"
_GROUPS = {ALL: "All questions", PARAPHRASE: "Paraphrases"}


def groups_of(run: QualityRun) -> list[str]:
    """The groups of questions with scores in a run: all, paraphrases, then each kind."""
    groups = {group for by_group in run.scores.values() for group in by_group}
    return [*(group for group in _GROUPS if group in groups), *sorted(groups - set(_GROUPS))]


def group_name(group: str) -> str:
    """The name of a group for readers."""
    return _GROUPS.get(group, group[:1].upper() + group[1:])


def newest_html(runs: Sequence[QualityRun]) -> str:
    """The facts of the newest run, with a warning if it is worse than the run before."""
    run = runs[-1]
    answerer = _answerer(run) if run.kind == "answers" else ""
    facts = render("scores", "newest", run, len(runs), sum(run.question_sets.values()), answerer)
    return facts + "".join(_warnings(run))


def _answerer(run: QualityRun) -> str:
    model = run.settings.get("model")
    used = f", {counted(run.tokens, 'token')}" if run.tokens else ""
    cost = f", cost {run.cost:,.2f}" if run.cost is not None else ""
    return f"answered by {model}{used}{cost}" if model else f"answered with quotations, without a model{used}{cost}"


def _warnings(run: QualityRun) -> Iterator[str]:
    if run.worse:
        differences = "; ".join(run.worse)
        if run.accepted:
            yield panel("Significantly worse, but accepted manually", differences, kind="note")
        else:
            advice = f"{differences}. Fix the lost questions (see Questions), or accept the result with:"
            yield panel("Significantly worse than before", advice, "kb evaluate --accept")
    if run.unknown_articles:
        names = ", ".join(run.unknown_articles[:5]) + (" …" if len(run.unknown_articles) > 5 else "")
        missing = (
            f"Questions expect {counted(len(run.unknown_articles), 'article')} that the index does not have: {names}."
        )
        yield panel("Some questions can no longer be answered", missing, kind="note")


def use_html(found: UseOfAnswers) -> str:
    """How the answers of the last month were used; nothing if none was asked for or nobody counted yet."""
    return render("scores", "use", found) if found.counts else ""


def scores_html(run: QualityRun, measures: Sequence[QualityMeasure]) -> str:
    """A table with a row for each group of questions and a column for each measure, intervals below the values."""
    shown = [measure for measure in measures if run.scores.get(measure.name)]
    rows = []
    for group in groups_of(run):
        scores = [run.scores[measure.name].get(group) for measure in shown]
        questions = next((score.n for score in scores if score), 0)
        rows.append((group_name(group), questions, scores))
    return render("scores", "table", rows, shown, [title_of(measure) for measure in shown])
