"""The dialog of a source: the cited passage with the supporting sentences marked, its images and its provenance."""

from collections.abc import Mapping, Sequence

import streamlit as st

from app.client import ClientError
from app.page import places, session
from app.page.markup import images_not_in, passage_html, without_title
from app.page.templates import is_web, render
from app.schema import Article, Citation, Turn


def open_source(stored: Sequence[Turn], reference: str) -> None:
    """Open the source of a reference; ``reference`` is its turn and its number, such as ``2.1``."""
    at, _, number = reference.partition(".")
    if not (at.isdecimal() and number.isdecimal()) or int(at) >= len(stored):
        return
    answer = stored[int(at)].answer
    for citation in answer.citations if answer else ():
        if citation.number == int(number):
            st.dialog(f"Source {citation.number}", width="medium", position="right")(_show)(citation)
            return


def _show(citation: Citation) -> None:
    article = _article(citation.article_id)
    st.html(source_html(citation, article.links if article else {}))
    with st.container(horizontal=True, key="source-actions"):
        if article and st.button("Open the article", icon=":material/menu_book:", key="open-article"):
            places.go_to_article(citation.article_id)
        if is_web(citation.source_url):
            st.link_button("Original", citation.source_url, icon=":material/open_in_new:")
    origin, published_at = citation.origin, article.published_at if article else None
    facts = origin.converter, origin.run_id, origin.run_url, origin.embedding_model, origin.content_hash
    st.html(render("source", "facts", citation.article_id, published_at, *facts))


def _article(article_id: str) -> Article | None:
    try:
        return session.client().article(article_id)
    except ClientError:
        return None  # removed after it was cited; the citation still has the passage


def source_html(citation: Citation, links: Mapping[str, str] | None = None) -> str:
    """The passage as HTML; ``links`` are article ids by the link targets in the passage."""
    markdown = without_title(citation.passage, citation.title)
    path = [step for step in citation.heading_path if step != citation.title]
    if path and without_title(markdown, path[-1]) != markdown:
        del path[-1]  # the passage begins with this heading
    html = passage_html(markdown, citation.quotes, links)
    return render("source", "source", citation.title, path, html, images_not_in(html, citation.images))
