"""While the service does not answer: the page says so, keeps a question that was sent, and goes on once it answers."""

import time

import streamlit as st

from app.client import ServiceDownError
from app.page import session
from app.page.failures import AWAY, panel

_LOOK_SECONDS = 3
"""A service that is started again is ready after several."""


def line(*, has_question: bool) -> str:
    """What readers are told beside what they have read; ``has_question``: one of theirs waits."""
    kept = "Your question is kept, and is sent as soon as it answers again." if has_question else _NOTHING_LOST
    is_own = session.page_settings().is_only_local
    advice, command = (f"{kept} Start it with this command.", "kb serve") if is_own else (kept, "")
    return panel(AWAY, advice, command, kind="note")


_NOTHING_LOST = "What you have read stays here. A question that you send is kept until it answers again."


def go_on_when_back() -> None:
    """Run the page again once the service answers."""
    st.fragment(_look, run_every=_LOOK_SECONDS)(time.monotonic())


def _look(since: float) -> None:
    if time.monotonic() - since < _LOOK_SECONDS / 2:
        return  # as part of the page, which was just refused
    try:
        session.client().health()
    except ServiceDownError:
        return
    st.rerun()
