"""The page of knowledge gaps: what was asked and not answered, most asked first; and one gap, with who sees to it, or
why it is none.
"""

from http import HTTPStatus

import streamlit as st

from app.client import ClientError
from app.page import places, session
from app.page.failures import attempt, missing, panel, sentence, show_problem
from app.page.labels import chosen
from app.page.templates import render
from app.schema.gaps import GapDecided, KnowledgeGap, KnowledgeGapList

_NEVER = (
    "Gaps are questions that nothing answered, or only something close. They are looked for every night, and whenever "
    "a reviewer wants it."
)
_WORDS_OF_OTHERS = "Only reviewers see the words of questions (KB_REVIEWERS)."
_NO_WORDS = "Words of people who are signed in are not kept (KB_RECORD_CONTENT)."
_WHOLE = "gap-whole"
_OPEN, _DISMISSED = "Open", "Dismissed"


def gaps_html(found: KnowledgeGapList) -> str:
    """The gaps as a list: the question, how often and when it was asked, who sees to it, and the nearest article."""
    note = "" if all(gap.question for gap in found.gaps) else _NO_WORDS if found.is_reviewer else _WORDS_OF_OTHERS
    links = [contribution_link(gap.question, gap.article_id) for gap in found.gaps]
    return render("gaps", "list", found, note, links)


def head_html(gap: KnowledgeGap) -> str:
    """One gap, and what was decided about it."""
    return render("gaps", "head", gap, contribution_link(gap.question, gap.article_id))


def contribution_link(question: str, article_id: str | None) -> str | None:
    """The address where a reader can write what is missing, if there is such a page."""
    query = {places.QUESTION: question, places.ARTICLE: article_id or ""}
    return places.link_to("contributions", {name: value for name, value in query.items() if value})


def show() -> None:
    """Show the gap of the URL, or the list."""
    places.begin_wide_page()
    if gap_id := st.query_params.get(places.GAP):
        _show_one(gap_id)
        return
    st.title("Gaps", anchor=False)
    listed = session.client().gaps()
    if listed.is_reviewer:
        st.button("Look now", icon=":material/refresh:", type="tertiary", key="look-now", on_click=_look_now)
    if listed.made_at is None:
        st.html(panel("Nobody has looked for gaps yet", _NEVER, kind="note"))
        return
    is_dismissed = listed.is_reviewer and listed.dismissed > 0 and _chosen(listed) == _DISMISSED
    shown = session.client().gaps(dismissed=True) if is_dismissed else listed
    if shown.gaps:
        st.html(gaps_html(shown))
    elif listed.dismissed:
        st.html(panel("No open gaps", "What was not answered was dismissed.", kind="note"))
    else:
        st.html(panel("No gaps", f"Every question of the last {listed.days} days was answered.", kind="note"))


def _look_now() -> None:
    session.client().gaps(now=True)


def _chosen(listed: KnowledgeGapList) -> str:
    names = {_OPEN: f"{_OPEN} ({len(listed.gaps)})", _DISMISSED: f"{_DISMISSED} ({listed.dismissed})"}
    return chosen("Which", names, _OPEN, "gaps-which")


def _show_one(gap_id: str) -> None:
    if st.button("All gaps", icon=":material/arrow_back:", type="tertiary", key="all-gaps"):
        places.go_to("gaps")
    try:
        gap = session.client().gap(gap_id)
    except ClientError as exc:
        if exc.status not in (HTTPStatus.NOT_FOUND, HTTPStatus.FORBIDDEN):
            raise
        st.html(panel("This gap is not shown", sentence(exc.problem.message), kind="note"))
        return
    st.html(head_html(gap))
    _show_whole(gap)
    show_problem()
    if gap.dismissed:
        reopened = GapDecided(assigned_to=gap.assigned_to)
        st.button(
            "Open it again",
            icon=":material/undo:",
            key="reopen",
            on_click=attempt,
            args=(lambda: _decide(gap, reopened),),
        )
    else:
        _show_decision(gap)


def _show_whole(gap: KnowledgeGap) -> None:
    """Offer what was written, where it is kept; each look is recorded, so nothing is fetched without a click."""
    if not session.client().gaps().keeps_whole:
        return
    if st.toggle("Show the whole message", key=f"{_WHOLE}-{gap.id}", help="That you looked is recorded."):
        whole = session.client().gap(gap.id, whole=True).whole
        st.html(render("gaps", "whole", whole or "It is not kept of this question."))


def _show_decision(gap: KnowledgeGap) -> None:
    assigning, dismissing = st.tabs(["Assign", "Dismiss"], key=f"gap-decision-{gap.id}")
    with assigning, st.form(f"assign-{gap.id}", border=False):
        st.text_input(
            "Who sees to it", gap.assigned_to, max_chars=200, key=f"assigned-{gap.id}", help="A user; empty: nobody."
        )
        st.form_submit_button("Assign", type="primary", on_click=attempt, args=(lambda: _assign(gap),))
    with dismissing, st.form(f"dismiss-{gap.id}", border=False):
        st.text_input(
            "Why it is no gap",
            max_chars=1000,
            key=f"reason-{gap.id}",
            help="Other reviewers read it. The gap returns when it was asked three times again.",
        )
        st.form_submit_button("Dismiss", type="primary", on_click=attempt, args=(lambda: _dismiss(gap),))


def _assign(gap: KnowledgeGap) -> None:
    _decide(gap, GapDecided(assigned_to=st.session_state[f"assigned-{gap.id}"]))


def _dismiss(gap: KnowledgeGap) -> None:
    reason = st.session_state[f"reason-{gap.id}"].strip()
    if not reason:
        raise missing("say why it is no gap")
    _decide(gap, GapDecided(assigned_to=gap.assigned_to, dismissed=True, reason=reason))


def _decide(gap: KnowledgeGap, decided: GapDecided) -> None:
    session.client().decide_gap(gap.id, decided)
