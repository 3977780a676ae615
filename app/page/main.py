"""The frame of all pages: theme, navigation, conversations at the side, and what is shown when something fails.

Streamlit runs this file from its top for whatever a reader does.
"""

from pathlib import Path

import streamlit as st

from app.page import places, sidebar
from app.page.failures import show_failure
from app.page.theme import dress

_NAME = "Knowledge base"
_ICON = Path(__file__).with_name("mark.svg")


def main() -> None:
    """Show the page that the address names."""
    st.set_page_config(page_icon=str(_ICON), layout="centered")
    dress()
    page = st.navigation([places.chat_page(), places.knowledge_base_page(), places.quality_page()])
    if page.title != _NAME:
        st.set_page_config(page_title=f"{page.title} · {_NAME}")
    try:
        sidebar.show()
        page.run()
    except Exception as exc:
        show_failure(exc)
        st.button("Try again", icon=":material/refresh:", key="try-again")


main()
