"""The panel of a source, beside the conversation: the cited section with the supporting sentences marked, its images
and its provenance.

It is a place of its own: its reference is in the URL, so that it can be reloaded, and left with the browser's Back.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress

import streamlit as st

from app.client import ClientError
from app.grounding.page_pictures import has_page_pictures
from app.page import places, session
from app.page.failures import panel
from app.page.labels import moment
from app.page.markup import breaks_behind, images_not_in, passage_html, without_title
from app.page.page_picture import show_page_picture
from app.page.sections import CitedSection, cited_page, cited_sections, section_of
from app.page.templates import is_web, render
from app.schema.articles import Article
from app.schema.conversations import Turn
from app.schema.documents import DocumentDetails
from app.schema.passages import Citation


def open_source(stored: Sequence[Turn], clicked: str) -> None:
    """Put the reference that was clicked into the URL; ``clicked`` is its turn and its number, such as ``2.1``."""
    at, _, number = clicked.partition(".")
    if at.isdecimal() and number.isdecimal() and int(at) < len(stored):
        response_id = stored[int(at)].response_id
        st.query_params[places.SOURCE] = places.reference(response_id, int(number))
        with suppress(ClientError):  # a source that nobody counts is opened all the same
            session.client().source_opened(response_id, int(number))


def show_source(stored: Sequence[Turn]) -> None:
    """Show the panel of the reference in the URL, if it is one of an answer of this conversation."""
    reference = st.query_params.get(places.SOURCE)
    response_id, number = places.parse_reference(reference)
    turn = next((turn for turn in stored if turn.response_id == response_id), None)
    if reference and turn and turn.answer:
        show_panel(cited_sections(turn.answer, turn.stale), number, turn.asked_at, reference)


def show_panel(sections: Sequence[CitedSection], number: int, asked_at: str, reference: str) -> None:
    """Show the panel of the section with this number, if there is one; ``reference`` is the one in the URL."""
    if section := section_of(sections, number):
        numbers = ", ".join(map(str, section.numbers))
        title = f"Source {numbers}" if len(section.numbers) == 1 else f"Sources {numbers}"
        with st.container(key="source-panel"):
            with st.container(horizontal=True, vertical_alignment="center", key="source-panel-head"):
                st.html(f"<h2>{title}</h2>")
                st.button(
                    "Close", icon=":material/close:", type="tertiary", key="close-source", on_click=places.leave_source
                )
            _show(section, number, asked_at, reference)


@st.fragment
def _show(section: CitedSection, number: int, asked_at: str, reference: str) -> None:
    citation = section.first
    if citation.is_of_web:
        st.html(source_html(section, number))
        st.html(render("source", "of_web", citation.source_url, citation.fetched))
        return
    article = _article(citation)
    if section.stale:
        st.html(stale_html(section, asked_at))
    show_page_picture(section, number, article, reference)
    st.html(source_html(section, number, article))
    with st.container(horizontal=True, key="source-actions"):
        if article:
            link = places.article_link(citation.article_id, citation.chunk_id, reference)
            st.html(render("source", "open_article", link), width="content")
        if citation.document_url and not has_page_pictures(citation):
            url = citation.document_url.partition("#")[0]
            st.html(render("source", "download", url, f"Download {citation.filename}"), width="content")
        if is_web(citation.source_url):
            st.link_button("Original", citation.source_url, icon=":material/open_in_new:")
    origin, published_at = citation.origin, article.published_at if article else None
    facts = origin.converter, origin.run_id, origin.run_url, origin.embedding_model, origin.content_hash
    document = _document(citation)
    st.html(render("source", "facts", citation.article_id, published_at, *facts, citation.filename, document))


def _article(citation: Citation) -> Article | None:
    try:
        return session.client().article(citation.article_id, page=cited_page(citation))
    except ClientError:
        return None  # removed after it was cited; the citation still has the passage


def _document(citation: Citation) -> DocumentDetails | None:
    try:
        return session.client().document(citation.article_id)
    except ClientError:
        return None  # removed after it was cited, or it came into the index before its facts did


def stale_html(section: CitedSection, asked_at: str) -> str:
    """What became of a section since it was cited: the difference, that it is gone, or what contradicts it."""
    if section.contradictions:
        links = [places.article_link(each.other_article_id, each.other_chunk_id) for each in section.contradictions]
        advice = "Both cannot be right. This is what each says; below is what was cited."
        note = panel("Another article contradicts this section", advice, kind="note")
        return note + render("source", "contradictions", section.contradictions, links)
    differences = [reference.difference for reference in section.stale if reference.difference]
    if not differences:
        advice = f"Below is what it said when the answer was given, on {moment(asked_at)}."
        return panel("This section is not available to you any more", advice, kind="note")
    advice = f"This is how it differs from what was cited on {moment(asked_at)}. Below is what was cited."
    note = panel("This section has changed since the answer", advice, kind="note")
    return note + render("source", "differences", differences)


def source_html(section: CitedSection, number: int, article: Article | None = None) -> str:
    """The cited passages of the section as HTML, in the order of the article, if it is known.

    The passage with this number is the one that the reader chose.
    """
    citation = section.first
    places_in_article = {chunk.chunk_id: chunk.chunk_index for chunk in article.chunks} if article else {}
    in_order = sorted(section.citations, key=lambda each: places_in_article.get(each.chunk_id, each.number))
    links = article.links if article else {}
    path = [step for step in citation.heading_path if step != citation.title]
    if path and _begins_with(in_order[0], path[-1]):
        del path[-1]
    passages = "".join(_passage_html(each, links, is_chosen=each.number == number) for each in in_order)
    return render("source", "source", citation.title, path, passages)


def _passage_html(citation: Citation, links: Mapping[str, str], *, is_chosen: bool) -> str:
    text = without_title(citation.passage, citation.title)
    html = passage_html(
        text, citation.quotes, links, breaks_behind(citation.page_breaks, citation.passage, text), citation.part
    )
    return render("source", "passage", html, images_not_in(html, citation.images), is_chosen)


def _begins_with(citation: Citation, heading: str) -> bool:
    markdown = without_title(citation.passage, citation.title)
    return without_title(markdown, heading) != markdown
