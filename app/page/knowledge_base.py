"""The knowledge base to browse: its articles, one of them whole, and what searches find in it."""

import streamlit as st

from app.page import article, bridge, places, searching, session
from app.page.articles import articles_html
from app.page.failures import panel

_PAGE = 50


def show() -> None:
    """Show the article that the address names, or all of them."""
    clicked = bridge.clicked()
    if clicked and clicked[0] == "article":
        places.go_to_article(clicked[1])
    st.html("<style>[data-testid='stMainBlockContainer'] { max-width: 64rem; }</style>")
    if article_id := st.query_params.get(places.ARTICLE):
        article.show(article_id)
        return
    st.title("Knowledge base", anchor=False)
    articles, search = st.tabs(["Articles", "Search"], key="kb-tabs")
    with articles:
        _show_articles()
    with search:
        searching.show()


def _show_articles() -> None:
    wanted = st.text_input(
        "Filter", placeholder="Filter by title or id", key="article-filter", label_visibility="collapsed"
    )
    client = session.client()
    offset = (st.session_state.get("article-page", 1) - 1) * _PAGE
    found = client.articles(wanted or "", limit=_PAGE, offset=offset)
    if offset and not found.articles:
        found, offset = client.articles(wanted or "", limit=_PAGE), 0
    if not found.total:
        _show_none(wanted)
        return
    st.html(articles_html(found))
    if (pages := -(-found.total // _PAGE)) > 1:
        st.pagination(pages, key="article-page")


def _show_none(wanted: str | None) -> None:
    if wanted:
        st.html(panel("No article is called that", "Search finds words inside of articles.", kind="note"))
    else:
        st.html(
            panel("There are no articles yet", "Put articles into the knowledge base with:", "kb ingest", kind="note")
        )
