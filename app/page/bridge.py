"""Between Python and the page's own HTML: clicks on elements that carry ``data-kb="<what>:<which>"``, and scrolling."""

import time
from pathlib import Path

import streamlit as st

_JS = Path(__file__).with_name("bridge.js")


_REVEALED = "revealed"


def clicked() -> tuple[str, str] | None:
    """What was clicked just now, and which one of it; call this once in a run of the page."""
    mount = st.components.v2.component("kb_bridge", js=_JS.read_text(encoding="utf-8"))
    with st.container(key="bridge"):
        result = mount(
            key="kb_clicks", data={"reveal": st.session_state.get(_REVEALED)}, on_clicked_change=lambda: None
        )
    value = result.clicked
    if not isinstance(value, str):
        return None
    what, _, which = value.partition(":")
    return what, which


def reveal(key: str) -> None:
    """In the next run, show the element of that key from its beginning, once."""
    st.session_state[_REVEALED] = f"{key} {time.monotonic_ns()}"
