"""Panels for errors: what happened and what to do, never a traceback."""

import logging
from collections.abc import Callable

import streamlit as st

from app.client import ClientError, ServiceDownError
from app.page import session
from app.page.templates import render
from app.schema.wire import Problem

_log = logging.getLogger(__name__)
_TITLES = {
    "index_unavailable": "The articles cannot be searched",
    "service_down": "The agent service is not running",
}
AWAY = "The knowledge base does not answer at the moment"
_DID_NOT_WORK = "This did not work"
_PROBLEM = "problem-of-last-attempt"
INGEST = "kb ingest"


def show_failure(failure: Exception) -> bool:
    """Show a failure in place of the content that failed. Always true: Streamlit then shows no traceback of its own."""
    if not isinstance(failure, ClientError):
        _log.error("the page failed", exc_info=failure)
    st.html(failure_html(failure))
    return True


def attempt(decide: Callable[[], object]) -> None:
    """Do what a button decides; if that does not work, :func:`show_problem` says why when the page is shown next."""
    try:
        decide()
    except ClientError as exc:
        st.session_state[_PROBLEM] = exc.problem.message


def missing(what: str) -> ClientError:
    """What is raised in place of a request that lacks something."""
    return ClientError(Problem(code="invalid_request", message=what))


def show_problem(problem: str = "") -> None:
    """Show this problem, or the one of the last attempt, if there is one."""
    if problem := problem or st.session_state.pop(_PROBLEM, ""):
        st.html(panel(_DID_NOT_WORK, sentence(problem)))


def failure_html(failure: Exception) -> str:
    """A failure as the HTML of a panel."""
    if not isinstance(failure, ClientError):
        advice = "The page's log has the details at this time. Reload the page to continue."
        return panel("Something went wrong", advice)
    title = _TITLES.get(failure.problem.code, _DID_NOT_WORK)
    message = sentence(failure.problem.message)
    if isinstance(failure, ServiceDownError):
        if not session.page_settings().is_only_local:
            return panel(AWAY, "Try again in a minute.")
        return panel(title, f"{message} Start it with this command, then try again.", "kb serve")
    if failure.problem.code == "index_unavailable":
        return panel(title, message, ingest_if_advised(failure.problem.message))
    return panel(title, message)


def ingest_if_advised(problem: str) -> str:
    """The command that fills the index, if this problem of the index says that it helps; else none."""
    return INGEST if problem.endswith(f": {INGEST}") else ""


def panel(title: str, message: str, command: str = "", *, kind: str = "problem") -> str:
    """A message with a title and, optionally, a command to run."""
    return render("panel", "panel", title, message, command, kind)


def sentence(text: str) -> str:
    """The text with a capital letter and a full stop."""
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")
