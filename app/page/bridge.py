"""Connects Python with the page's own HTML: clicks on elements with ``data-kb="<action>:<target>"``, and scrolling.

Links with ``data-kb="open"`` are followed in the browser.
"""

import time
from pathlib import Path

import streamlit as st

_JS = Path(__file__).with_name("bridge.js")
_REVEALED = "revealed"


def clicked(at: str | None = None) -> tuple[str, str] | None:
    """The action and the target of the click that caused this run; call it once in each run of the page.

    ``at`` names the place of the URL within the page, if it has one: a source or a section, to which the browser
    scrolls when it arrives there.
    """
    mount = st.components.v2.component("kb_bridge", js=_JS.read_text(encoding="utf-8"))
    with st.container(key="bridge"):
        result = mount(
            key="kb_clicks",
            data={"reveal": st.session_state.get(_REVEALED), "at": at},
            on_clicked_change=lambda: None,
        )
    value = result.clicked
    if not isinstance(value, str):
        return None
    action, _, target = value.partition(":")
    return action, target


def reveal(*keys: str) -> None:
    """Scroll to the top of the element that has one of these keys, once, when the page is drawn next."""
    st.session_state[_REVEALED] = " ".join((*keys, str(time.monotonic_ns())))
