"""The page of knowledge gaps: what was asked and not answered, most asked first."""

import streamlit as st

from app.page import places, session
from app.page.failures import panel
from app.page.templates import render
from app.schema.gaps import KnowledgeGapList

_NEVER = "They are looked for every night, and whenever a reviewer wants it."
_FOUND = "gaps-found-now"
_WORDS_OF_OTHERS = "Only reviewers see the words of questions (KB_REVIEWERS)."
_NO_WORDS = "Words of people who are signed in are not kept (KB_RECORD_CONTENT)."


def gaps_html(found: KnowledgeGapList) -> str:
    """The gaps as a list: the question, how often and when it was asked, and the nearest article."""
    note = "" if all(gap.question for gap in found.gaps) else _NO_WORDS if found.is_reviewer else _WORDS_OF_OTHERS
    return render("gaps", "list", found, note, [contribution_link(gap.question, gap.article_id) for gap in found.gaps])


def contribution_link(question: str, article_id: str | None) -> str | None:
    """The address where a reader can write what is missing, if there is such a page."""
    query = {places.QUESTION: question, places.ARTICLE: article_id or ""}
    return places.link_to("contributions", {name: value for name, value in query.items() if value})


def _look_now() -> None:
    st.session_state[_FOUND] = session.client().gaps(now=True)


def show() -> None:
    """Show the gaps."""
    places.begin_wide_page()
    st.title("Gaps", anchor=False)
    listed, now = session.client().gaps(), st.session_state.get(_FOUND)
    if now and now.made_at > (listed.made_at or ""):
        listed = now
    if listed.is_reviewer:
        st.button("Look now", icon=":material/refresh:", type="tertiary", key="look-now", on_click=_look_now)
    if listed.made_at is None:
        st.html(panel("Nobody has looked for gaps yet", _NEVER, kind="note"))
    elif not listed.gaps:
        st.html(panel("No gaps", f"Every question of the last {listed.days} days was answered.", kind="note"))
    else:
        st.html(gaps_html(listed))
