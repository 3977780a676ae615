"""How well known questions are found and answered: the scores with their history, and the questions behind them."""

from collections.abc import Sequence

import streamlit as st

from app.page import bridge, places, quality_changes, quality_history, session
from app.page.failures import panel
from app.page.quality_scores import newest_html, scores_html
from app.schema import QualityKind, QualityMeasure, QualityRun

_KINDS: dict[QualityKind, str] = {"retrieval": "What is found", "answers": "What is answered"}
_COMMANDS: dict[QualityKind, str] = {"retrieval": "kb evaluate", "answers": "kb evaluate --answers"}
_LEAD = '<p class="kb-lead">Questions whose answers are known, asked of the knowledge base time and again.</p>'
_HOW_TO_BEGIN = """\
<div class="kb-panel kb-note" role="note"><strong>Nothing was measured yet</strong>
<p>Write down questions whose answers you know, one JSON object a line, in a file such as
<code>evaluation/questions.jsonl</code> in the knowledge base's home folder (KB_HOME), or in the folder that
KB_EVALUATION names:</p>
<pre>{"question": "How do I …?", "article_id": "the-article", "answer_span": "its words that answer it"}
{"question": "What do the articles not say?", "article_id": null, "kind": "unanswerable"}</pre>
<p>Then ask them of the search, and of whatever answers:</p>
<code class="kb-command">kb evaluate</code> <code class="kb-command">kb evaluate --answers</code></div>"""


def show() -> None:
    """Show what was measured, or how to begin."""
    clicked = bridge.clicked()
    if clicked and clicked[0] == "article":
        places.go_to_article(clicked[1])
    st.html("<style>[data-testid='stMainBlockContainer'] { max-width: 64rem; }</style>")
    st.title("Quality", anchor=False)
    told = session.client().quality_runs()
    if not told.runs:
        st.html(_HOW_TO_BEGIN)
        return
    st.html(_LEAD)
    kind = _chosen_kind()
    runs = [run for run in told.runs if run.kind == kind]
    measures = [measure for measure in told.measures if measure.kind == kind]
    if runs:
        _show_runs(runs, measures)
    else:
        st.html(panel("This was not measured yet", "Measure it with:", _COMMANDS[kind], kind="note"))


def _chosen_kind() -> QualityKind:
    return st.segmented_control(
        "What was measured",
        list(_KINDS),
        default="retrieval",
        required=True,
        format_func=_KINDS.__getitem__,
        key="quality-kind",
        label_visibility="collapsed",
    )


def _show_runs(runs: Sequence[QualityRun], measures: Sequence[QualityMeasure]) -> None:
    st.html(newest_html(runs))
    history, kinds, questions = st.tabs(["History", "By kind of question", "Questions"], key="quality-tabs")
    with history:
        quality_history.show(runs, measures)
    with kinds:
        st.html(scores_html(runs[-1], measures))
    with questions:
        quality_changes.show(runs)
