"""The scores of one run as HTML: a summary, warnings, and a table of all measures by kind of question."""

from collections.abc import Iterator, Sequence
from html import escape

from app.page.failures import panel
from app.page.labels import count, moment
from app.schema import QualityMeasure, QualityRun, QualityScore

ALL, PARAPHRASE = "all", "paraphrase"
_GROUPS = {ALL: "All questions", PARAPHRASE: "Paraphrases"}
_SHORT = 12


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
    questions = sum(run.question_sets.values())
    sets = ", ".join(map(escape, run.question_sets))
    facts = [
        f"{escape(moment(run.made_at))}",
        f'<span title="{sets}">{count(questions, "question")}</span>',
        f"index <code>{escape(run.generation[:_SHORT])}</code>",
        *([f"commit <code>{escape(run.commit)}</code>"] if run.commit else []),
        *([escape(_answerer(run))] if run.kind == "answers" else []),
    ]
    return f'<p class="kb-how">Newest of {count(len(runs), "run")}: {" · ".join(facts)}</p>{"".join(_warnings(run))}'


def _answerer(run: QualityRun) -> str:
    model = run.settings.get("model")
    used = f", {count(run.tokens, 'token')}" if run.tokens else ""
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
            f"Questions expect {count(len(run.unknown_articles), 'article')} that the index does not have: {names}."
        )
        yield panel("Some questions can no longer be answered", missing, kind="note")


def scores_html(run: QualityRun, measures: Sequence[QualityMeasure]) -> str:
    """A table with a row for each group of questions and a column for each measure, intervals below the values."""
    shown = [measure for measure in measures if run.scores.get(measure.name)]
    groups = groups_of(run)
    head = "".join(f'<th title="{escape(m.meaning)}">{escape(m.name)}</th>' for m in shown)
    rows = "".join(_row(run, group, shown) for group in groups)
    meanings = "".join(f"<div><dt>{escape(m.name)}</dt><dd>{escape(m.meaning)}</dd></div>" for m in shown)
    return (
        f'<div class="kb-scores"><table><thead><tr><th></th>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
        '<p class="kb-how">Below each value: its 95 % interval, and n if it differs from the first column.</p>'
        f'<dl class="kb-facts kb-meanings">{meanings}</dl>'
    )


def _row(run: QualityRun, group: str, measures: Sequence[QualityMeasure]) -> str:
    scores = [run.scores[measure.name].get(group) for measure in measures]
    questions = next((score.n for score in scores if score), 0)
    cells = "".join(
        f"<td>{_cell(score, questions)}</td>" if score else '<td class="kb-none">–</td>' for score in scores
    )
    return f'<tr><th scope="row">{escape(group_name(group))}<i>{count(questions, "question")}</i></th>{cells}</tr>'


def _cell(score: QualityScore, questions: int) -> str:
    of = f" · n = {score.n}" if score.n != questions else ""
    return (
        f'<span title="{count(score.n, "question")}"><b>{score.value:.2f}</b>'
        f"<i>{interval(score)}{of}</i>{bar_html(score)}</span>"
    )


def interval(score: QualityScore) -> str:
    """The 95 % interval of a score."""
    return f"{score.low:.2f}–{score.high:.2f}"


def signed(value: float) -> str:
    """A difference with its sign, to three decimal places."""
    return f"{value:+.3f}".replace("-", "−") if round(value, 3) else "0.000"


def bar_html(score: QualityScore) -> str:
    """A bar from 0 to 1 with the value and its interval."""
    low, width = score.low * 100, max(score.high - score.low, 0.01) * 100
    return (
        f'<span class="kb-bar" aria-hidden="true"><span style="left:{low:.1f}%;width:{width:.1f}%"></span>'
        f'<b style="left:{score.value * 100:.1f}%"></b></span>'
    )
