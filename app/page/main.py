"""The frame of all pages: theme, navigation, sidebar, and the panel for errors.

Streamlit runs this file from top to bottom at every interaction.
"""

from pathlib import Path

import streamlit as st
from streamlit.navigation.page import Page

from app.page import chat, contributions, gaps, knowledge_base, network, quality, sidebar
from app.page.failures import show_failure
from app.page.places import Place, set_pages
from app.page.theme import dress

_NAME = "Knowledge base"
_ICON = Path(__file__).with_name("mark.svg")


def main() -> None:
    """Show the page of the current URL."""
    st.set_page_config(page_icon=str(_ICON), layout="centered")
    dress()
    pages: dict[Place, Page] = {
        "ask": st.Page(chat.show, title="Ask", icon=":material/forum:", url_path="ask", default=True),
        "knowledge-base": st.Page(
            knowledge_base.show, title="Knowledge base", icon=":material/menu_book:", url_path="knowledge-base"
        ),
        "gaps": st.Page(gaps.show, title="Gaps", icon=":material/help_center:", url_path="gaps"),
        "contributions": st.Page(
            contributions.show, title="Contributions", icon=":material/rate_review:", url_path="contributions"
        ),
        "quality": st.Page(quality.show, title="Quality", icon=":material/monitoring:", url_path="quality"),
    }
    if network.is_there():
        pages["network"] = st.Page(network.show, title="Network", icon=":material/hub:", url_path="network")
    set_pages(pages)
    page = st.navigation(list(pages.values()))
    if page.title != _NAME:
        st.set_page_config(page_title=f"{page.title} · {_NAME}")
    try:
        sidebar.show()
        page.run()
    except Exception as exc:
        show_failure(exc)
        st.button("Try again", icon=":material/refresh:", key="try-again")


main()
