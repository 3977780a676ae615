"""The page of one article: its text, at the cited section if a source leads to it; what authors and engineers need."""

import json
from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from app.client import ClientError
from app.page import audience, places, session
from app.page.failures import panel, sentence
from app.page.for_authors import warnings_of
from app.page.gaps import contribution_link
from app.page.markup import breaks_behind, images_not_in, passage_html, without_title
from app.page.sections import cited_sections, section_of, split_at_section
from app.page.templates import is_web, render
from app.schema.articles import Article, ArticleChunk, ArticleUse
from kb_pipeline.steps.formats import SHOWN_IN_BROWSERS, media_type_of, part_of


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
        article = session.client().article(article_id, page=_page(), chunk=st.query_params.get(places.SECTION))
    except ClientError as exc:
        if exc.status != 404:
            raise
        st.html(panel("This article was not found", "It was removed, or never published.", kind="note"))
        return
    st.html(head_html(article))
    if article.failure:
        st.html(render("articles", "failing", article.failure, sentence(article.failure.reason), article.published_at))
    if not article.published_at:
        return
    if article.document_url:
        is_shown = media_type_of(article.filename) in SHOWN_IN_BROWSERS
        macro, verb = ("open_original", "Open") if is_shown else ("download", "Download")
        st.html(render("source", macro, article.document_url, f"{verb} {article.filename}"), width="content")
    if is_web(article.source_url):
        st.link_button("Original", article.source_url, icon=":material/open_in_new:")
    may = audience.permissions()
    more = {name: show for name, (whom, show) in _MORE.items() if whom(may)}
    text, *others = st.tabs(["Article", *more], key="article-tabs") if more else [st.container()]
    with text:
        if (article.first_page, article.last_page) != (1, article.page_count):
            _show_parts(article)
        st.html(article_html(article, _cited(article_id)))
    for tab, show in zip(others, more.values(), strict=True):
        with tab:
            show(article)


def _show_use(article: Article) -> None:
    st.html(use_html(article, session.client().article_use(article.article_id)))
    st.html(pictures_html(article))


def _show_making(article: Article) -> None:
    facts = article.converter, article.run_id, article.run_url, None, article.content_hash
    st.html(render("source", "facts", None, article.published_at, *facts, article.filename))
    st.html("".join(map(chunk_html, article.chunks)) or panel("No chunks", "It is not in the index.", kind="note"))


_MORE: dict[str, tuple[audience.Audience, Callable[[Article], None]]] = {
    "For authors": (audience.authors, _show_use),
    "For engineers": (audience.engineers, _show_making),
}
"""What stands beside the text of an article, and for whom."""


def _page() -> int:
    """The page of a document in the URL, or else the first."""
    page = st.query_params.get(places.PAGE, "")
    return int(page) if page.isdecimal() and page.isascii() and 0 < len(page) < 8 and int(page) else 1


def _show_parts(article: Article) -> None:
    """Lead through a long document part by part: back, on, and to any page."""

    def go_to(page: int) -> None:
        for place in (places.SECTION, places.SOURCE):
            st.query_params.pop(place, None)
        st.query_params[places.PAGE] = str(page)

    def go_to_chosen() -> None:
        go_to(int(st.session_state["chosen-page"]))

    if article.page_count:
        st.html(render("articles", "part", article))
        with st.container(horizontal=True, vertical_alignment="bottom", key="parts"):
            first, last, count = article.first_page, article.last_page, article.page_count
            back, on = ":material/chevron_left:", ":material/chevron_right:"
            st.button("Back", icon=back, key="part-back", on_click=go_to, args=(first - 1,), disabled=first <= 1)
            st.button("On", icon=on, key="part-on", on_click=go_to, args=(last + 1,), disabled=last >= count)
            st.number_input(
                "Go to page",
                1,
                count,
                min(max(_page(), first), last),
                key="chosen-page",
                on_change=go_to_chosen,
                width=140,
            )


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
        return note + render("articles", "text", _text_html(article, article.markdown, 0))
    before, section, after = parts
    note = ""
    if cited.quotes and not any(quote in section for quote in cited.quotes):
        note = panel("This section has changed since it was cited", "What was quoted is not in it.", kind="note")
    html = (
        _text_html(article, before, 0),
        render("articles", "cited", note, _text_html(article, section, len(before), cited.quotes)),
        _text_html(article, after, len(before) + len(section)),
    )
    return render("articles", "text", "".join(html))


def _text_html(article: Article, text: str, start: int, quotes: tuple[str, ...] = ()) -> str:
    """Return a piece of the article that begins there, with the labels of the pages that begin in it."""
    within = (each for each in article.page_breaks if start <= each.offset < start + len(text))
    breaks = tuple(each.model_copy(update={"offset": each.offset - start}) for each in within)
    # the title stands above the text, whichever piece begins with it
    shown = without_title(text, article.title) if start == 0 else text
    pages = breaks_behind(breaks, text, shown)
    return passage_html(shown, quotes, article.links, pages, part_of(article.filename))


def head_html(article: Article) -> str:
    """Title, id and facts of an article."""
    return render("articles", "head", article)


def use_html(article: Article, used: ArticleUse) -> str:
    """What authors want to know of an article: how often it is cited, what it should answer, and what to mend."""
    contributions = [contribution_link(gap.question, article.article_id) for gap in used.gaps]
    return render("articles", "use", used, contributions, warnings_of(article))


def pictures_html(article: Article) -> str:
    """What the pictures of the shown text were read as, each beside it; nothing if there are none."""
    pictures = [picture for picture in article.pictures if picture.url in article.markdown]
    if not pictures:
        return ""
    example = {"images": {pictures[0].file.rpartition("/")[2]: "What this picture shows, in a sentence."}}
    return render("articles", "pictures", pictures, json.dumps(example, ensure_ascii=False))


def chunk_html(chunk: ArticleChunk) -> str:
    """A chunk as it is in the index."""
    html = passage_html(chunk.content)
    return render("articles", "chunk", chunk, html, images_not_in(html, chunk.images))
