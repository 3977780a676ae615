"""What a reader sees when something fails: what happened and what to do, never a trace."""

import logging
from html import escape

import streamlit as st

from app.client import ServiceDownError, ServiceError

_log = logging.getLogger(__name__)
_COMMANDS = {
    "index_unavailable": ("Nothing can be found yet", "kb ingest"),
    "service_down": ("The agent service is not running", "kb serve"),
}


def show_failure(failure: Exception) -> bool:
    """Show a failure in the place of what failed. Answers whether it was shown, as Streamlit asks of a handler."""
    if not isinstance(failure, ServiceError):
        _log.error("the page failed", exc_info=failure)
    st.html(failure_html(failure))
    return True


def failure_html(failure: Exception) -> str:
    """A failure as a panel."""
    if not isinstance(failure, ServiceError):
        advice = "The log of the page says what, by the time of this message. Reload the page to go on."
        return panel("Something went wrong that should not have", advice)
    title, command = _COMMANDS.get(failure.problem.code, ("That did not work", ""))
    said = sentence(failure.problem.message)
    if isinstance(failure, ServiceDownError):
        said += " Start it with the command below, then try again."
    return panel(title, said, command)


def panel(title: str, said: str, command: str = "", *, kind: str = "problem") -> str:
    """A message with a title and, where one helps, a command to type."""
    shown = f'<code class="kb-command">{escape(command)}</code>' if command else ""
    role = "alert" if kind == "problem" else "note"
    return (
        f'<div class="kb-panel kb-{kind}" role="{role}"><strong>{escape(title)}</strong>'
        f"<p>{escape(said)}</p>{shown}</div>"
    )


def sentence(text: str) -> str:
    """The text as a sentence."""
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")
