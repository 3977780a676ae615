"""The sidebar: start, find, open, rename, export and delete conversations."""

from itertools import groupby

import streamlit as st

from app.client import ServiceDownError
from app.page import audience, backlog, language_model, places, session
from app.page.labels import age, label
from app.page.running import runnings
from app.schema.conversations import ConversationSummary
from app.schema.permissions import Permissions

_RENAME, _EXPORT, _DELETE = "Rename", "Export", "Delete"
_ICONS = {
    _RENAME: ":material/edit: Rename",
    _EXPORT: ":material/download: Export",
    _DELETE: ":material/delete: Delete",
}
_ENOUGH_TO_SEARCH = 5
"""Conversations that are found at a glance."""
_TITLE = "new_title"
_WORDS = "conversation_words"
_PAGE = 30
"""Conversations of a page: a screen of them."""
_PAGES = "conversation_pages"


def show(may: Permissions) -> None:
    """Show the sidebar; to those who look after the service or its articles with what changes how answers are made."""
    with st.sidebar:
        if st.button("New conversation", icon=":material/add:", width="stretch", key="new"):
            places.go_to_conversation(None)
        words = str(st.session_state.get(_WORDS) or "").strip()[:200]
        try:
            if audience.authors(may):
                _show_settings(may)
            summaries, more = _conversations(st.session_state.setdefault(_PAGES, 1), words)
        except ServiceDownError:
            return  # the main part of the page shows this error
        if words or len(summaries) > _ENOUGH_TO_SEARCH:
            st.text_input(
                "Search conversations",
                placeholder="Search conversations",
                icon=":material/search:",
                label_visibility="collapsed",
                key=_WORDS,
            )
        if words and not summaries:
            st.caption("No title or question has these words.")
        for heading, group in groupby(summaries, key=lambda summary: age(summary.updated_at)):
            st.html(f'<h2 class="kb-list">{heading}</h2>')
            with st.container(gap=None):
                for summary in group:
                    _row(summary)
        if more and st.button("Show more", type="tertiary", key="more"):
            st.session_state[_PAGES] += 1
            st.rerun()


def _show_settings(may: Permissions) -> None:
    has_backlog, runs_it = backlog.is_there(), audience.engineers(may)
    if has_backlog or runs_it:
        with st.popover("Settings", icon=":material/tune:", type="tertiary", key="settings"):
            if has_backlog:
                backlog.show_switch()
            if runs_it:
                language_model.show_button()


def _conversations(pages: int, words: str) -> tuple[list[ConversationSummary], bool]:
    """The first pages of the conversations with these words, and whether there are more."""
    summaries: list[ConversationSummary] = []
    after: str | None = None
    for _ in range(pages):
        page = session.client().conversations(limit=_PAGE, after=after, search=words)
        summaries += page.conversations
        after = page.next
        if after is None:
            break
    return summaries, after is not None


def _row(summary: ConversationSummary) -> None:
    is_open = st.query_params.get(places.CONVERSATION) == summary.id
    key = f"open-row-{summary.id}" if is_open else f"row-{summary.id}"
    with st.container(horizontal=True, gap=None, key=key, vertical_alignment="center", wrap=False):
        if st.button(label(summary.title), type="tertiary", width="stretch", key=f"open-{summary.id}"):
            places.go_to_conversation(summary.id)
        chosen = st.menu_button(
            f":material/more_horiz: Options of {label(summary.title)}",
            list(_ICONS),
            type="tertiary",
            format_func=_ICONS.__getitem__,
            key=f"menu-{summary.id}",
        )
    if chosen == _RENAME:
        _rename(summary)
    elif chosen == _EXPORT:
        _export(summary)
    elif chosen == _DELETE:
        _delete(summary)


@st.dialog("Rename conversation")
def _rename(summary: ConversationSummary) -> None:
    with st.form("rename", border=False):
        st.text_input("Title", summary.title, max_chars=200, key=_TITLE)
        if st.form_submit_button("Rename", type="primary", on_click=_save_title, args=(summary.id,)):
            st.rerun()


def _save_title(conversation_id: str) -> None:
    if title := st.session_state[_TITLE].strip():
        session.client().rename(conversation_id, title)


@st.dialog("Export conversation")
def _export(summary: ConversationSummary) -> None:
    st.text(summary.title)
    st.caption(
        "A Markdown file with the questions, the answers and their sources. Images stay where they are: "
        "whoever opens the file sees those that they may see."
    )
    st.download_button(
        "Download",
        session.client().conversation_as_markdown(summary.id),
        f"conversation-{summary.created_at[:10]}.md",
        "text/markdown",
        type="primary",
        on_click="ignore",
        key="download-conversation",
    )


@st.dialog("Delete conversation?")
def _delete(summary: ConversationSummary) -> None:
    st.text(summary.title)
    st.caption("This permanently deletes its questions and answers.")
    with st.container(horizontal=True):
        confirmed = st.button("Delete", type="primary", key="really-delete", on_click=_remove, args=(summary.id,))
        if st.button("Cancel", key="keep") or confirmed:
            st.rerun()


def _remove(conversation_id: str) -> None:
    runnings().stop(session.asker(), conversation_id)
    session.client().delete(conversation_id)
    if st.query_params.get(places.CONVERSATION) == conversation_id:
        del st.query_params[places.CONVERSATION]
