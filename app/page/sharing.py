"""The dialog in which a reader makes and takes back the link of an answer."""

from urllib.parse import urlencode, urljoin

import streamlit as st

from app.page import places, session
from app.schema.conversations import Turn

_LINK = "shared_link"
"""The id of the link that the open dialog shows; empty if there is none."""


def offer(turn: Turn, conversation_id: str | None) -> None:
    """Show the button that opens the dialog, for an answer that the service keeps."""
    if not conversation_id or turn.answer is None or turn.answer.clarification or not session.client().keeps_answers:
        return
    name, icon = ("Shared", ":material/link:") if turn.share else ("Share", ":material/share:")
    if st.button(name, icon=icon, type="tertiary", key=f"share-{turn.response_id}"):
        st.session_state[_LINK] = turn.share or ""
        _dialog(turn, conversation_id)


@st.dialog("Share this answer", on_dismiss="rerun")
def _dialog(turn: Turn, conversation_id: str) -> None:
    asked = (conversation_id, turn.response_id)
    if share_id := st.session_state.get(_LINK):
        st.caption("Whoever has this link and may use this page can read the question and its answer:")
        st.code(link_of(share_id), language=None, wrap_lines=True)
        st.caption(_WHAT_THEY_SEE)
        st.button("Stop sharing", icon=":material/link_off:", key="stop-sharing", on_click=_take_back, args=asked)
    else:
        st.caption("A link lets others read this question and its answer.")
        st.caption(_WHAT_THEY_SEE)
        st.button("Make a link", icon=":material/link:", type="primary", key="make-link", on_click=_make, args=asked)


_WHAT_THEY_SEE = (
    "What they may not read of its sources is left out, each time they open it. They see nothing else of this "
    "conversation, and a picture that came with the question stays yours. The link ends with the conversation."
)


def link_of(share_id: str) -> str:
    """The whole address at which others read a shared answer."""
    return urljoin(st.context.url or "", f"shared?{urlencode({places.ANSWER: share_id})}")


def _make(conversation_id: str, response_id: str) -> None:
    st.session_state[_LINK] = session.client().share(conversation_id, response_id).id


def _take_back(conversation_id: str, response_id: str) -> None:
    session.client().take_back(conversation_id, response_id)
    st.session_state[_LINK] = ""
