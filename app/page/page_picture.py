"""The picture of a cited page in the panel of a source: marked sentences, the pages before and after, the original."""

from dataclasses import dataclass

import streamlit as st

from app.client import ClientError
from app.grounding.page_pictures import has_page_pictures, page_picture_url
from app.page import session
from app.page.sections import CitedSection, cited_page
from app.page.templates import render
from app.schema.articles import Article
from app.schema.passages import Citation

_WIDTH = 1100
"""Pixels: sharp on a phone and in a panel that is 550 points wide."""


@dataclass(frozen=True)
class ShownPage:
    """A page of a document, for people: its number in the file, what is printed on it, and what is marked there.

    ``is_marked``: all cited sentences are.
    """

    number: int
    label: str
    url: str
    note: str
    is_marked: bool


def show_page_picture(section: CitedSection, number: int, article: Article | None, reference: str) -> None:
    """Show the page of a citation, if it has one; its buttons turn pages."""
    citation = next(each for each in section.citations if each.number == number)
    first = cited_page(citation)
    if first is None or not has_page_pictures(citation):
        return
    key = f"page-of-{reference}"
    page = int(st.session_state.get(key, first))
    count = article.page_count if article else max(citation.pages)
    try:
        shown = shown_page(citation, page, article, is_changed=section.is_changed)
    except ClientError as exc:
        st.html(render("source", "no_page", exc.problem.message))
        return
    with st.container(horizontal=True, key="page-actions", vertical_alignment="center"):
        _turn(key, page - 1, "Previous page", ":material/chevron_left:", disabled=page <= 1)
        _turn(key, page + 1, "Next page", ":material/chevron_right:", disabled=page >= count)
        if page != first:
            _turn(key, first, f"Back to page {citation.label_of(first)}", ":material/undo:")
        if citation.document_url:
            url = f"{citation.document_url.partition('#')[0]}#page={page}"
            st.html(render("source", "open_original", url, f"Open at page {shown.label}"), width="content")
    st.html(render("source", "page", shown, citation.filename))


def _turn(key: str, page: int, text: str, icon: str, *, disabled: bool = False) -> None:
    def turn() -> None:
        st.session_state[key] = page

    st.button(text, icon=icon, key=f"{key}-{text}", on_click=turn, disabled=disabled, type="tertiary")


def shown_page(citation: Citation, page: int, article: Article | None, *, is_changed: bool) -> ShownPage:
    """A page as it can be shown; the article knows what is printed on pages that the citation does not have.

    Sentences of a section that has changed since are not looked for on it.

    Raises:
        ClientError: there is no picture of it.
    """
    url = page_picture_url(citation.article_id, page, width=_WIDTH, citation=None if is_changed else citation)
    headers = session.client().file(url, "HEAD").headers
    marked, wanted = map(int, headers.get("kb-marked", "0/0").split("/"))
    is_cited_scan = headers.get("kb-scan") == "true" and page in citation.pages
    note = note_on_marks(marked, wanted, is_cited_scan=is_cited_scan)
    printed = {each.page: each.label for each in article.page_breaks if each.label} if article else {}
    return ShownPage(page, printed.get(page, citation.label_of(page)), url, note, is_marked=0 < wanted == marked)


def note_on_marks(marked: int, wanted: int, *, is_cited_scan: bool) -> str:
    """What a reader has to know about the marks; nothing if all sentences are marked."""
    if is_cited_scan and not marked:
        return "The page is a scan; the cited sentences are not marked on it."
    if not wanted or marked == wanted:
        return ""
    if marked:
        return f"{marked} of {wanted} cited sentences are marked; the others stand below, but were not found here."
    return "Nothing is marked: the page is a scan, or its text reads differently. The cited sentences stand below."
