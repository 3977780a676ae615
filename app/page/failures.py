"""Panels for errors: what happened and what to do, never a traceback."""

import logging

import streamlit as st

from app.client import ClientError, ServiceDownError
from app.page import session
from app.page.templates import render

_log = logging.getLogger(__name__)
_TITLES = {
    "index_unavailable": "The articles cannot be searched",
    "service_down": "The agent service is not running",
}
INGEST = "kb ingest"


def show_failure(failure: Exception) -> bool:
    """Show a failure in place of the content that failed. Always true: Streamlit then shows no traceback of its own."""
    if not isinstance(failure, ClientError):
        _log.error("the page failed", exc_info=failure)
    st.html(failure_html(failure))
    return True


def failure_html(failure: Exception) -> str:
    """A failure as the HTML of a panel."""
    if not isinstance(failure, ClientError):
        advice = "The page's log has the details at this time. Reload the page to continue."
        return panel("Something went wrong", advice)
    title = _TITLES.get(failure.problem.code, "This did not work")
    message = sentence(failure.problem.message)
    if isinstance(failure, ServiceDownError):
        if not session.page_settings().is_only_local:
            return panel("The knowledge base does not answer at the moment", "Try again in a minute.")
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
