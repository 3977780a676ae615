"""The newest lines of the service's log, which go on while a reader looks at them."""

import streamlit as st

from app.client import ClientError
from app.page import session
from app.page.failures import sentence
from app.page.templates import render

_SECONDS = 2.0
"""Seconds: lines are read, not watched."""
_FOLLOWS = "network-log-follows"


def show() -> None:
    """Show the log, and follow it unless the reader paused it."""
    with st.container(key="network-log", gap="small"):
        with st.container(key="network-log-switch", width="content"):
            follows = st.toggle("Follow", value=True, key=_FOLLOWS)
        st.fragment(_lines, run_every=_SECONDS if follows else None)(is_paused=not follows)


def _lines(*, is_paused: bool) -> None:
    try:
        lines, problem = session.client().log_lines(), ""
    except ClientError as exc:
        lines, problem = (), sentence(exc.problem.message)
    with st.container(gap="xsmall"):
        st.html(log_head_html(problem, is_paused=is_paused))
        with st.container(key="network-log-lines"):
            st.html(log_html(lines))


def log_head_html(problem: str, *, is_paused: bool) -> str:
    """Whether the log is connected, and if not, why."""
    tone, state = ("bad", "not connected") if problem else ("warn", "paused") if is_paused else ("good", "connected")
    return render("network", "log_head", tone, state, problem)


def log_html(lines: tuple[str, ...]) -> str:
    """Lines of a log as they are."""
    return render("network", "log", lines)
