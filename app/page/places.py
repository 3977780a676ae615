"""Navigation: the places that URLs name (pages, conversations, sources, articles, investigations), and going there.

What is in the URL can be reloaded, sent to others, and left with the browser's Back.
"""

from collections.abc import Mapping
from typing import Literal, NoReturn
from urllib.parse import urlencode

import streamlit as st
from streamlit.navigation.page import Page

from app.page import bridge

CONVERSATION = "conversation"
ARTICLE = "article"
SOURCE = "source"
"""A reference of an answer, as :func:`reference` writes it."""
QUESTION = "question"
"""The question of a gap, from which a contribution is begun."""
CONTRIBUTION = "contribution"
GAP = "gap"
INVESTIGATION = "investigation"
NETWORK = "scenario"
"""The network that is looked at."""
ANSWER = "answer"
"""The link of an answer that somebody shared."""
SCOPE = "in"
"""The collection in which questions are searched, as ``type:Manual``."""
EVERYWHERE = "everything"
SECTION = "section"
"""A chunk of the article that is open."""
PAGE = "page"
"""The page of the document that is open, by its number in the file."""

NOWHERE = "nowhere"
"""The address that led here because there is no page at it."""

Place = Literal["ask", "knowledge-base", "gaps", "contributions", "quality", "usage", "network", "shared"]
_PAGES = "pages"


def set_pages(pages: Mapping[Place, Page]) -> None:
    """Store the pages that :mod:`app.page.main` made in this run of the script."""
    st.session_state[_PAGES] = pages


def link_to(place: str, query: Mapping[str, str]) -> str | None:
    """The address of a page with this query, relative to any page; ``None`` if there is no such page."""
    return f"{place}?{urlencode(query)}" if place in st.session_state.get(_PAGES, {}) else None


def go_to(place: Place, query: Mapping[str, str] | None = None) -> NoReturn:
    """Switch to a page, with this query in its URL."""
    st.switch_page(st.session_state[_PAGES][place], query_params=query)


def go_to_conversation(conversation_id: str | None) -> NoReturn:
    """Open a conversation, or a new one if the id is ``None``."""
    go_to("ask", {CONVERSATION: conversation_id} if conversation_id else {})


def reference(response_id: str, number: int) -> str:
    """A reference of an answer, for a URL."""
    return f"{response_id}.{number}"


def parse_reference(text: str | None) -> tuple[str, int]:
    """The answer and the number of a reference; an empty id and 0 if it is none."""
    response_id, _, number = (text or "").rpartition(".")
    return (response_id, int(number)) if number.isdecimal() and number.isascii() and len(number) < 5 else ("", 0)


def leave_source() -> None:
    """Close the panel of a source."""
    if SOURCE in st.query_params:
        del st.query_params[SOURCE]


def article_link(article_id: str, section: str | None = None, source: str | None = None) -> str:
    """The address of an article, relative to any page: at a section of it if one is given, with the sentences marked
    that a reference quotes."""
    values = {ARTICLE: article_id, SECTION: section, SOURCE: source}
    return f"knowledge-base?{urlencode({name: value for name, value in values.items() if value})}"


def investigation_link(investigation_id: str) -> str:
    """The address of an investigation, relative to any page."""
    return f"network?{urlencode({INVESTIGATION: investigation_id})}"


def network_link() -> str:
    """The address of the network that the reader chose, or of the networks, relative to any page."""
    chosen = st.query_params.get(NETWORK)
    return f"network?{urlencode({NETWORK: chosen})}" if chosen else "network"


def begin_wide_page() -> None:
    """Begin a page that is as wide as its tables."""
    section = st.query_params.get(SECTION)
    bridge.clicked(at=section and f"{section} {st.query_params.get(SOURCE)}")
    st.html("<style>[data-testid='stMainBlockContainer'] { max-width: 64rem; }</style>")
