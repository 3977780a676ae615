"""An answer while it is worded: complete paragraphs stay as they are, the last one grows."""

import time

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.client import ServiceError
from app.page import bridge, turns
from app.page.failures import failure_html, panel
from app.page.markup import answer_blocks
from app.page.running import Running

_AT_ONCE_SECONDS = 2.0
_TICK_SECONDS = 0.06
_SILENT_TICK_SECONDS = 0.25


def show(running: Running, at: int) -> bool:
    """Show the answer until it is whole. Answers whether the reader wants it tried again, after it failed.

    ``at`` is the place that it will have in the conversation.
    """
    with st.container(key="turn-live", gap="small"):
        turns.show_question(running.question)
        paper = _Paper()
        if running.done:
            paper.write(running.text)
            return _end(running)
        status = st.empty()
        st.button("Stop", icon=":material/stop_circle:", key="stop", on_click=running.stop)
        began = time.monotonic()
        _follow(running, paper, status)
    if time.monotonic() - began < _AT_ONCE_SECONDS:
        bridge.reveal(f"turn-{at}")
    st.rerun()


def _follow(running: Running, paper: "_Paper", status: DeltaGenerator) -> None:
    while not running.done:
        text = running.text
        paper.write(text)
        # said again at each turn: it is where Streamlit lets go of this run when the reader does something else
        status.html(_status(running))
        running.wait(_TICK_SECONDS if text else _SILENT_TICK_SECONDS, seen=len(text))


def _status(running: Running) -> str:
    said = "Writing" if running.text else "Reading what was found" if running.searches else "Searching the articles"
    return f'<p class="kb-pulse" role="status"><span></span>{said} …</p>'


def _end(running: Running) -> bool:
    if running.stopped:
        st.html(panel("You stopped this answer", "What was written until then is above.", kind="note"))
        return False
    if running.problem is None:
        return False
    st.html(failure_html(ServiceError(running.problem)))
    return ask_again()


def ask_again() -> bool:
    """Offer to ask once more. Answers whether the reader does."""
    return st.button("Ask again", icon=":material/refresh:", key="again")


class _Paper:
    """Places for the paragraphs of an answer; what did not change is not sent again."""

    def __init__(self) -> None:
        self._paper = st.container(key="paper", gap=None)
        self._places: list[DeltaGenerator] = []
        self._written: list[str] = []

    def write(self, text: str) -> None:
        """Show the text as it is now."""
        for at, block in enumerate(answer_blocks(text)):
            if at == len(self._places):
                self._places.append(self._paper.empty())
                self._written.append("")
            if self._written[at] != block:
                self._places[at].html(f'<div class="kb-answer">{block}</div>')
                self._written[at] = block
