"""The questions behind the scores: those that went wrong, and those that were lost or won since another run."""

from collections.abc import Mapping, Sequence

import streamlit as st

from app.page import session
from app.page.failures import panel
from app.page.labels import moment
from app.page.quality_questions import change_html, differences_html, question_html
from app.schema import QualityRun

_PAGE = 20
_SHORT = 12
_MISSED, _ALL = "missed", "all"
_FATES = {"lost": "Lost", "won": "Won", "changed": "Changed"}
_OF_ONE_RUN = {_MISSED: "Missed", _ALL: "All"}
_NONE = {
    "lost": "No question was lost",
    "won": "No question was won",
    "changed": "No other question came out otherwise",
    _MISSED: "Every question went well",
    _ALL: "There is no question that you may see",
}


@st.fragment
def show(runs: Sequence[QualityRun]) -> None:
    """Let two runs be chosen, and show what changed between them, or what came of the later one's questions."""
    before, after = _chosen(runs) if len(runs) > 1 else (runs[-1], runs[-1])
    key = f"{before.id}-{after.id}"
    if before.id == after.id:
        choice = _choice(_OF_ONE_RUN, _MISSED, key)
        _show_cards(_questions(after, choice), choice, key)
        return
    compared = session.client().compare_quality(before.id, after.id)
    st.html(differences_html(compared))
    counts = {fate: sum(change.fate == fate for change in compared.changes) for fate in _FATES}
    names = {fate: f"{name} ({counts[fate]})" for fate, name in _FATES.items()}
    later = {which: f"{name} of the later run" for which, name in _OF_ONE_RUN.items()}
    choice = _choice(names | later, next((fate for fate in _FATES if counts[fate]), _MISSED), key)
    if choice in _FATES:
        _show_cards([change_html(change) for change in compared.changes if change.fate == choice], choice, key)
    else:
        _show_cards(_questions(after, choice), choice, key)


def _chosen(runs: Sequence[QualityRun]) -> tuple[QualityRun, QualityRun]:
    """The run that is looked at, and the one that it is compared with: at first the one it was judged by."""
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
    """A run in a list of them."""
    index = f"index {run.generation[:_SHORT]}"
    return " · ".join(filter(None, [moment(run.made_at), index, run.commit, "" if run.accepted else "not accepted"]))


def _choice(names: Mapping[str, str], first: str, key: str) -> str:
    chosen = st.segmented_control(
        "Questions",
        list(names),
        default=first,
        required=True,
        format_func=names.__getitem__,
        key=f"quality-which-{key}",
        label_visibility="collapsed",
    )
    return str(chosen)


def _questions(run: QualityRun, which: str) -> list[str]:
    questions = session.client().quality_run(run.id).questions
    return [question_html(question) for question in questions if which == _ALL or question.missed]


def _show_cards(cards: Sequence[str], what: str, of: str) -> None:
    """A page of cards, or that there are none."""
    key = f"quality-page-{what}-{of}"
    pages = -(-len(cards) // _PAGE)
    start = (min(st.session_state.get(key, 1), max(pages, 1)) - 1) * _PAGE
    st.html("".join(cards[start : start + _PAGE]) or panel(_NONE[what], "", kind="note"))
    if pages > 1:
        st.pagination(pages, key=key)
