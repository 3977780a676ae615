"""Navigation: go to a page, a conversation or an article."""

from collections.abc import Mapping
from typing import Literal, NoReturn

import streamlit as st
from streamlit.navigation.page import Page

from app.page import bridge

CONVERSATION = "conversation"
ARTICLE = "article"

Place = Literal["ask", "knowledge-base", "quality"]
_PAGES = "pages"


def set_pages(pages: Mapping[Place, Page]) -> None:
    """Store the pages that :mod:`app.page.main` made in this run of the script."""
    st.session_state[_PAGES] = pages


def go_to(place: Place, query: Mapping[str, str] | None = None) -> NoReturn:
    """Switch to a page, with this query in its URL."""
    st.switch_page(st.session_state[_PAGES][place], query_params=query)


def go_to_conversation(conversation_id: str | None) -> NoReturn:
    """Open a conversation, or a new one if the id is ``None``."""
    go_to("ask", {CONVERSATION: conversation_id} if conversation_id else {})


def go_to_article(article_id: str) -> NoReturn:
    """Open an article."""
    go_to("knowledge-base", {ARTICLE: article_id})


def begin_wide_page() -> None:
    """Open the article that was clicked, or begin a page that is as wide as its tables."""
    clicked = bridge.clicked()
    if clicked and clicked[0] == "article":
        go_to_article(clicked[1])
    st.html("<style>[data-testid='stMainBlockContainer'] { max-width: 64rem; }</style>")
