"""One article: as its readers see it, as the index holds it, and what made it."""

from collections.abc import Iterator
from html import escape

import streamlit as st

from app.client import ServiceError
from app.page import places, session
from app.page.failures import panel
from app.page.figures import image_html
from app.page.labels import count, moment
from app.page.markup import passage_html, without_title
from app.page.source import facts_html, hash_html, is_web, run_html
from app.schema import Article, ArticleChunk


def show(article_id: str) -> None:
    """Show the article, or that it is not there."""
    if st.button("All articles", icon=":material/arrow_back:", type="tertiary", key="all-articles"):
        st.switch_page(places.knowledge_base_page())
    try:
        article = session.client().article(article_id)
    except ServiceError as exc:
        if exc.status != 404:
            raise
        st.html(panel("This article is not here", "It was removed, or never published.", kind="note"))
        return
    st.html(head_html(article))
    if is_web(article.source_url):
        st.link_button("Original", article.source_url, icon=":material/open_in_new:")
    text, chunks, origin = st.tabs(["Article", f"Chunks ({len(article.chunks)})", "Provenance"], key="article-tabs")
    with text:
        body = passage_html(without_title(article.markdown, article.title), links=article.links)
        st.html(f'<div class="kb-passage kb-article">{body}</div>')
    with chunks:
        st.html("".join(map(chunk_html, article.chunks)) or panel("No chunks", "It is not in the index.", kind="note"))
    with origin:
        st.html(facts_html(_origin(article)))


def head_html(article: Article) -> str:
    """Title, id, and what there is of it."""
    facts = f"{count(len(article.images), 'image')} · published {escape(moment(article.published_at))}"
    return (
        f'<div class="kb-source-head"><h1>{escape(article.title)}</h1>'
        f'<p class="kb-how"><code>{escape(article.article_id)}</code> · {facts}</p></div>'
    )


def chunk_html(chunk: ArticleChunk) -> str:
    """A chunk as it lies in the index."""
    path = " › ".join(map(escape, chunk.heading_path)) or "Beginning"
    content = passage_html(chunk.content)
    more = "".join(image_html(image.url, image.alt) for image in chunk.images if escape(image.url) not in content)
    return (
        f'<section class="kb-card"><header><b>{chunk.chunk_index + 1}</b> {path}'
        f"{hash_html(chunk.content_hash)}</header>"
        f'<div class="kb-passage">{content}{more}</div></section>'
    )


def _origin(article: Article) -> Iterator[tuple[str, str]]:
    yield "Published", escape(moment(article.published_at))
    yield "Converter", escape(article.converter)
    yield "Run", run_html(article.run_id, article.run_url)
    yield "Content hash", f"<code>{escape(article.content_hash)}</code>"
