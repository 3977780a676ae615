"""The page of one article: its text, its chunks and its provenance; opened from a source, at the cited section."""

from dataclasses import dataclass

import streamlit as st

from app.client import ClientError
from app.page import places, session
from app.page.failures import panel
from app.page.markup import images_not_in, passage_html, without_title
from app.page.sections import cited_sections, section_of, split_at_section
from app.page.templates import is_web, render
from app.schema import Article, ArticleChunk


@dataclass(frozen=True)
class Cited:
    """What a link to an article points at: a chunk, and of its section the headings and the quoted sentences.

    Who may not see the answer, or opens a link without one, knows only the chunk.
    """

    chunk_id: str
    heading_path: tuple[str, ...] = ()
    quotes: tuple[str, ...] = ()


def show_article(article_id: str) -> None:
    """Show the article, or a note that it was not found."""
    if st.button("All articles", icon=":material/arrow_back:", type="tertiary", key="all-articles"):
        places.go_to("knowledge-base")
    try:
        article = session.client().article(article_id)
    except ClientError as exc:
        if exc.status != 404:
            raise
        st.html(panel("This article was not found", "It was removed, or never published.", kind="note"))
        return
    st.html(head_html(article))
    if is_web(article.source_url):
        st.link_button("Original", article.source_url, icon=":material/open_in_new:")
    text, chunks, origin = st.tabs(["Article", f"Chunks ({len(article.chunks)})", "Provenance"], key="article-tabs")
    with text:
        st.html(article_html(article, _cited(article_id)))
    with chunks:
        st.html("".join(map(chunk_html, article.chunks)) or panel("No chunks", "It is not in the index.", kind="note"))
    with origin:
        facts = article.converter, article.run_id, article.run_url, None, article.content_hash
        st.html(render("source", "facts", None, article.published_at, *facts))


def _cited(article_id: str) -> Cited | None:
    """What the URL points at."""
    chunk_id = st.query_params.get(places.SECTION)
    if not chunk_id:
        return None
    response_id, number = places.parse_reference(st.query_params.get(places.SOURCE))
    try:
        answer = session.client().answer(response_id) if response_id else None
    except ClientError:
        answer = None  # somebody else's, or deleted
    section = section_of(cited_sections(answer), number) if answer else None
    if section is None or section.first.article_id != article_id:
        return Cited(chunk_id)
    quotes = tuple(quote for citation in section.citations for quote in citation.quotes)
    return Cited(chunk_id, section.first.heading_path, quotes)


def article_html(article: Article, cited: Cited | None = None) -> str:
    """The text of an article; a cited section is set off, and its quoted sentences are marked."""
    parts = split_at_section(article, cited.chunk_id, cited.heading_path) if cited else None
    if cited is None or parts is None:
        gone = "It was changed or removed after it was cited. This is the whole article as it is now."
        note = panel("The cited section is not here any more", gone, kind="note") if cited else ""
        markdown = without_title(article.markdown, article.title)
        return note + render("articles", "text", passage_html(markdown, links=article.links))
    before, section, after = parts
    # the title stands above the text, whichever part begins with it
    before, section = without_title(before, article.title), section if before else without_title(section, article.title)
    note = ""
    if cited.quotes and not any(quote in section for quote in cited.quotes):
        note = panel("This section has changed since it was cited", "What was quoted is not in it.", kind="note")
    html = (
        passage_html(before, links=article.links),
        render("articles", "cited", note, passage_html(section, cited.quotes, article.links)),
        passage_html(after, links=article.links),
    )
    return render("articles", "text", "".join(html))


def head_html(article: Article) -> str:
    """Title, id and facts of an article."""
    return render("articles", "head", article)


def chunk_html(chunk: ArticleChunk) -> str:
    """A chunk as it is in the index."""
    html = passage_html(chunk.content)
    return render("articles", "chunk", chunk, html, images_not_in(html, chunk.images))
