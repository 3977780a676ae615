"""The page of evaluation runs: scores, their history, and the outcome of each question."""

from collections.abc import Iterator, Sequence

import streamlit as st

from app.page import places, quality_history, session
from app.page.failures import panel
from app.page.labels import chosen, moment
from app.page.markup import answer_blocks
from app.page.quality_scores import PARAPHRASE, group_name, newest_html, scores_html, use_html
from app.page.templates import render
from app.schema.quality import (
    EvaluatedQuestion,
    QualityChange,
    QualityComparison,
    QualityKind,
    QualityMeasure,
    QualityRun,
    QualityRuns,
)

_TONES = {"lost": "bad", "won": "good", "changed": "warn"}


def differences_html(compared: QualityComparison) -> str:
    """The difference of each measure with its interval; coloured if it is statistically significant."""
    return render("questions", "differences", compared)


def change_html(change: QualityChange) -> str:
    """A question whose outcome changed; it opens to show both outcomes."""
    outcomes = _outcome(change.before, "Before"), _outcome(change.after, "After")
    return _card(change.after, _TONES[change.fate], change.fate.capitalize(), *outcomes)


def question_html(question: EvaluatedQuestion) -> str:
    """A question of one run; it opens to show its outcome."""
    return _card(question, "bad", "Missed" if question.missed else "", _outcome(question, "Outcome"))


def _card(question: EvaluatedQuestion, tone: str, word: str, *outcomes: tuple[object, ...]) -> str:
    kind = f"{group_name(PARAPHRASE)} · {question.kind}" if question.paraphrase else question.kind
    return render("questions", "card", question, kind, tone, word, outcomes)


def _outcome(question: EvaluatedQuestion, heading: str) -> tuple[object, ...]:
    text = question.answer.text if question.answer else ""
    return question, heading, list(_facts(question)), "".join(answer_blocks(text)) if text else ""


def _facts(question: EvaluatedQuestion) -> Iterator[str]:
    """The rank of each expected item, and what went wrong."""
    if question.answer and question.answer.refused:
        yield "refused"
    if question.article_id is not None:
        yield f"article {_rank(question.article_rank)}"
        if question.answer is None and question.answer_span:
            yield f"answering words {_rank(question.span_rank)}"
        if question.answer is None and question.image:
            yield f"screenshot {_rank(question.image_rank)}"
        if question.answer is None and question.page:
            yield f"page {question.page} {_rank(question.page_rank)}"
    if question.confidence is not None:
        yield f"confidence {question.confidence:.2f}"
    if question.missed:
        yield f"missed: {', '.join(question.missed)}"


def _rank(rank: int | None) -> str:
    return f"at rank {rank}" if rank else "not found"


_PAGE = 20
"""Questions of a page of the list: each is a card."""
_SHORT = 12
"""Characters of the hash of a generation, as everywhere on the pages."""
_MISSED, _ALL = "missed", "all"
_FATES = {"lost": "Lost", "won": "Won", "changed": "Changed"}
_OF_ONE_RUN = {_MISSED: "Missed", _ALL: "All"}
_NONE = {
    "lost": "No question was lost",
    "won": "No question was won",
    "changed": "No other question changed",
    _MISSED: "No question was missed",
    _ALL: "There is no question that you may see",
}


@st.fragment
def show_changes(runs: Sequence[QualityRun]) -> None:
    """Show two runs to choose from, and what changed between them, or the questions of the later run."""
    before, after = _choose_runs(runs) if len(runs) > 1 else (runs[-1], runs[-1])
    key = f"{before.id}-{after.id}"
    if before.id == after.id:
        choice = chosen("Questions", _OF_ONE_RUN, _MISSED, f"quality-which-{key}")
        _show_cards(_questions(after, choice), choice, key)
        return
    compared = session.client().compare_quality(before.id, after.id)
    st.html(differences_html(compared))
    counts = {fate: sum(change.fate == fate for change in compared.changes) for fate in _FATES}
    names = {fate: f"{name} ({counts[fate]})" for fate, name in _FATES.items()}
    later = {which: f"{name} of the later run" for which, name in _OF_ONE_RUN.items()}
    first = next((fate for fate in _FATES if counts[fate]), _MISSED)
    choice = chosen("Questions", names | later, first, f"quality-which-{key}")
    if choice in _FATES:
        _show_cards([change_html(change) for change in compared.changes if change.fate == choice], choice, key)
    else:
        _show_cards(_questions(after, choice), choice, key)


def _choose_runs(runs: Sequence[QualityRun]) -> tuple[QualityRun, QualityRun]:
    """The earlier and the later run. The default is the newest run, and the run that it was compared with."""
    newest, by_id = runs[-1], {run.id: run for run in reversed(runs)}
    first = newest.compared_with if newest.compared_with in by_id else runs[-2].id
    names = {run_id: run_name(run) for run_id, run in by_id.items()}
    ids = list(by_id)
    left, right = st.columns(2)
    key = f"{newest.kind}-{newest.id}"
    before = left.selectbox(
        "From", ids, index=ids.index(first or newest.id), format_func=names.__getitem__, key=f"quality-from-{key}"
    )
    after = right.selectbox("To", ids, format_func=names.__getitem__, key=f"quality-to-{key}")
    return by_id[before], by_id[after]


def run_name(run: QualityRun) -> str:
    """The name of a run in a list."""
    index = f"index {run.generation[:_SHORT]}"
    return " · ".join(filter(None, [moment(run.made_at), index, run.commit, "" if run.accepted else "not accepted"]))


def _questions(run: QualityRun, which: str) -> list[str]:
    questions = session.client().quality_run(run.id).questions
    return [question_html(question) for question in questions if which == _ALL or question.missed]


def _show_cards(cards: Sequence[str], what: str, of: str) -> None:
    key = f"quality-page-{what}-{of}"
    pages = -(-len(cards) // _PAGE)
    start = (min(st.session_state.get(key, 1), max(pages, 1)) - 1) * _PAGE
    st.html("".join(cards[start : start + _PAGE]) or panel(_NONE[what], "", kind="note"))
    if pages > 1:
        st.pagination(pages, key=key)


_KINDS: dict[QualityKind, str] = {"retrieval": "Search", "answers": "Answers"}
_COMMANDS: dict[QualityKind, str] = {"retrieval": "kb evaluate", "answers": "kb evaluate --answers"}
_LEAD = '<p class="kb-lead">Scores of test questions with known answers, measured again and again.</p>'
_HOW_TO_BEGIN = """\
<div class="kb-panel kb-note" role="note"><strong>There are no evaluation runs yet</strong>
<p>Write down questions whose answers you know, one JSON object a line, in a file such as
<code>evaluation/questions.jsonl</code> in the knowledge base's home folder (KB_HOME), or in the folder that
KB_EVALUATION names:</p>
<pre>{"question": "How do I …?", "article_id": "the-article", "answer_span": "its words that answer it"}
{"question": "What do the articles not say?", "article_id": null, "kind": "unanswerable"}</pre>
<p>Then evaluate the search, and the answers:</p>
<code class="kb-command">kb evaluate</code> <code class="kb-command">kb evaluate --answers</code></div>"""


def show() -> None:
    """Show the evaluation runs, or how to make the first one."""
    places.begin_wide_page()
    st.title("Quality", anchor=False)
    history, use = session.client().quality_runs(), use_html(session.client().use_of_answers())
    if history.runs:
        st.html(_LEAD)
        _show_history(history)
    else:
        st.html(_HOW_TO_BEGIN)
    if use:
        st.html(use)


def _show_history(history: QualityRuns) -> None:
    kind = chosen("Kind of evaluation", _KINDS, "retrieval", "quality-kind")
    runs = [run for run in history.runs if run.kind == kind]
    measures = [measure for measure in history.measures if measure.kind == kind]
    if runs:
        _show_runs(runs, measures)
    else:
        st.html(panel("This was not evaluated yet", "Evaluate it with:", _COMMANDS[kind], kind="note"))


def _show_runs(runs: Sequence[QualityRun], measures: Sequence[QualityMeasure]) -> None:
    st.html(newest_html(runs))
    history, kinds, questions = st.tabs(["History", "By kind of question", "Questions"], key="quality-tabs")
    with history:
        quality_history.show(runs, measures)
    with kinds:
        st.html(scores_html(runs[-1], measures))
    with questions:
        show_changes(runs)
