"""Where a reader can go: the pages, and how to get to a conversation or an article on them."""

from typing import NoReturn

import streamlit as st
from streamlit.navigation.page import Page

CONVERSATION = "conversation"
ARTICLE = "article"


def chat_page() -> Page:
    """Questions and answers."""
    from app.page import chat

    return st.Page(chat.show, title="Ask", icon=":material/forum:", url_path="ask", default=True)


def knowledge_base_page() -> Page:
    """Articles and searches."""
    from app.page import knowledge_base

    return st.Page(knowledge_base.show, title="Knowledge base", icon=":material/menu_book:", url_path="knowledge-base")


def quality_page() -> Page:
    """What was measured."""
    from app.page import quality

    return st.Page(quality.show, title="Quality", icon=":material/monitoring:", url_path="quality")


def go_to_conversation(conversation_id: str | None) -> NoReturn:
    """Show a conversation; none: begin a new one."""
    st.switch_page(chat_page(), query_params={CONVERSATION: conversation_id} if conversation_id else {})


def go_to_article(article_id: str) -> NoReturn:
    """Show an article."""
    st.switch_page(knowledge_base_page(), query_params={ARTICLE: article_id})
