"""The options of a question that is asked back, as buttons."""

import streamlit as st

from app.grounding.clarification import facts_of
from app.page.labels import label
from app.schema.answers import Clarification

_ALL, _NONE = "All of them", "None of these"
_LONGEST_TITLE, _LONGEST_FACTS = 120, 160
"""Characters on a button: two lines of each."""


def show_options(clarification: Clarification) -> str | None:
    """Show the documents that may be meant; the reply of the reader who chose, as one could type it."""
    place = st.empty()
    with place.container(key="options", gap="small"):
        chosen = _chosen(clarification)
    if chosen:
        place.empty()
    return chosen


def _chosen(clarification: Clarification) -> str | None:
    reply = None
    for option in clarification.options:
        facts = facts_of(option)
        words = f"**{label(option.title, _LONGEST_TITLE)}**"
        if facts:
            words += f"  \n{label(facts, _LONGEST_FACTS)}"
        if st.button(words, key=f"option-{option.number}", width="stretch"):
            reply = option.reply or str(option.number)
    with st.container(horizontal=True, gap="small", key="options-others"):
        if clarification.allows_all and st.button(_ALL, key="option-all", type="tertiary"):
            reply = _ALL
        if st.button(_NONE, key="option-none", type="tertiary"):
            reply = _NONE
    return reply
