"""The switch that adds sections which are left for later to the next answers; it is there only if such sections are."""

from datetime import timedelta

import streamlit as st

from app.page import session
from app.schema.context import Mode
from kb_pipeline.records import KnowledgeMode

_SWITCH = "with-backlog"
_FRESH = timedelta(seconds=30)
"""Asked once for all reruns of half a minute: a click makes several."""


def is_there() -> bool:
    """Whether the reader may see sections that are left for later."""
    return _mode(session.asker()).has_backlog


def show_switch() -> None:
    """Show the switch."""
    st.toggle("Include planned work", _mode(session.asker()).mode != "poc", key=_SWITCH)


def wanted() -> KnowledgeMode | None:
    """The mode that the reader chose; ``None`` if there was nothing to choose."""
    chosen = st.session_state.get(_SWITCH)
    return None if chosen is None else "production" if chosen else "poc"


@st.cache_resource(ttl=_FRESH, max_entries=200, show_spinner=False)
def _mode(who: session.Who) -> Mode:
    # ``who`` is not read here, but each reader needs a cache entry of their own.
    return session.client().mode()
