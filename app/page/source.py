"""The dialog of a source: the cited passage with the supporting sentences marked, its images and its provenance."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import TypeGuard
from urllib.parse import urlsplit

import streamlit as st

from app.client import ClientError
from app.page import places, session
from app.page.labels import moment
from app.page.markup import image_html, passage_html, without_title
from app.schema import Article, Citation, Turn

_SHORT_HASH = 12


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
    st.html(facts_html(_origin(citation, article)))


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
    crumbs = "".join(f"<li>{escape(step)}</li>" for step in path)
    passage = passage_html(markdown, citation.quotes, links)
    more = "".join(image_html(image.url, image.alt) for image in citation.images if escape(image.url) not in passage)
    return (
        f'<div class="kb-source-head"><h2>{escape(citation.title)}</h2><ol class="kb-crumbs">{crumbs}</ol></div>'
        f'<div class="kb-passage">{passage}{more}</div>'
    )


def _origin(citation: Citation, article: Article | None) -> Iterator[tuple[str, str]]:
    origin = citation.origin
    yield "Article", escape(citation.article_id)
    if article:
        yield "Published", escape(moment(article.published_at))
    yield "Converter", escape(origin.converter)
    yield "Run", run_html(origin.run_id, origin.run_url)
    yield "Embedding", escape(origin.embedding_model)
    yield "Content hash", hash_html(origin.content_hash)


def facts_html(facts: Iterator[tuple[str, str]]) -> str:
    """A list of names and values; the values are HTML."""
    rows = "".join(f"<div><dt>{escape(name)}</dt><dd>{value}</dd></div>" for name, value in facts)
    return f'<dl class="kb-facts">{rows}</dl>'


def run_html(run_id: str, url: str | None) -> str:
    """The id of a pipeline run, linked to the Dagster UI where there is a URL."""
    if not is_web(url):
        return escape(run_id)
    label = f"{escape(run_id[:8])} in Dagster"
    return f'<a href="{escape(url)}" target="_blank" rel="noopener noreferrer">{label}</a>'


def hash_html(content_hash: str) -> str:
    """The beginning of a hash; the whole hash is its tooltip."""
    return f'<code title="{escape(content_hash)}">{escape(content_hash[:_SHORT_HASH])}</code>'


def is_web(url: str | None) -> TypeGuard[str]:
    """Whether this is an HTTP address, which is safe to link to."""
    return url is not None and urlsplit(url).scheme in ("http", "https")
