"""The page to browse the knowledge base: the list of articles, and search. One article: :mod:`app.page.article`."""

from collections.abc import Mapping
from datetime import date
from typing import TypedDict, get_args

import pandas as pd
import streamlit as st

from app.client import ClientError
from app.page import places, session
from app.page.article import show_article
from app.page.failures import ingest_if_advised, panel, sentence, show_failure
from app.page.markup import passage_html
from app.page.templates import render
from app.schema.articles import ArticleList, ArticleSort, ArticleStatus
from app.schema.search import SearchResult, SearchResults
from kb_pipeline.records import SearchMode


def articles_html(listing: ArticleList) -> str:
    """A page of the list of articles, with their total; a badge says which text of each readers see."""
    return render("articles", "list", listing)


_TOP = 10
"""Hits: their table fits on a screen."""
_MODES: tuple[SearchMode, ...] = get_args(SearchMode)
_NUMBER = st.column_config.NumberColumn
_COLUMNS = {
    "#": _NUMBER("#", width=40),
    "Hybrid": _NUMBER("Hybrid", format="%.4f", width=90, help="Both rankings combined; comparable only in one search."),
    "Keyword": _NUMBER("Keyword", format="%.2f", width=90, help="BM25 score of the words."),
    "Vector": _NUMBER("Vector", format="%.3f", width=90, help="Cosine similarity of the meanings."),
}


def show_search() -> None:
    """Show the search box and the hits."""
    query = st.text_input("Search", placeholder="Search in the articles", key="search", label_visibility="collapsed")
    if not query or not query.strip():
        return
    try:
        client = session.client()
        searches = {mode: client.search(query.strip()[:2000], mode=mode, top=_TOP) for mode in _MODES}
    except ClientError as exc:
        show_failure(exc)
        return
    hits = merged(searches)
    if not hits:
        st.html(panel("Nothing found", "Try other words.", kind="note"))
        return
    if any(hit.score is not None for hit in hits.values()):  # only who runs the service gets scores
        st.html('<p class="kb-how">Each hit has a score for its words, one for its meaning, and a combined one.</p>')
        st.dataframe(score_table(searches), hide_index=True, column_config=_COLUMNS, placeholder="–", width="stretch")
    st.html("".join(hit_html(at, hit) for at, hit in enumerate(hits.values(), 1)))


def merged(searches: Mapping[SearchMode, SearchResults]) -> dict[str, SearchResult]:
    """The hits of all searches by chunk: those of the hybrid search first, in its order."""
    hits: dict[str, SearchResult] = {}
    for mode in sorted(searches, key=lambda mode: mode != "hybrid"):
        for hit in searches[mode].results:
            hits.setdefault(hit.chunk_id, hit)
    return hits


def score_table(searches: Mapping[SearchMode, SearchResults]) -> pd.DataFrame:
    """A row for each hit, a column for each search; empty if the hit is not among that search's best."""
    scores = {mode: {hit.chunk_id: hit.score for hit in results.results} for mode, results in searches.items()}
    hits = merged(searches)
    table = pd.DataFrame(
        {
            "Hybrid": [scores["hybrid"].get(chunk_id) for chunk_id in hits],
            "Keyword": [scores["keyword"].get(chunk_id, hit.keyword_score) for chunk_id, hit in hits.items()],
            "Vector": [scores["vector"].get(chunk_id, hit.vector_score) for chunk_id, hit in hits.items()],
        },
        dtype="float64",
    )
    table.insert(0, "Section", [hit.section for hit in hits.values()])
    table.insert(0, "Article", [hit.title for hit in hits.values()])
    table.insert(0, "#", range(1, len(table) + 1))
    return table


def hit_html(at: int, hit: SearchResult) -> str:
    """A hit; it opens to show its passage."""
    path = " › ".join(dict.fromkeys((hit.title, *hit.heading_path)))
    return render("articles", "hit", at, hit, path, passage_html(hit.passage))


_PAGE = 50
"""Rows of a page of the list."""
_NOT_LISTED = "another program made the articles of the index, or you may see none; Search finds what you may see"


def show() -> None:
    """Show the article of the URL, or the list of all articles and the search."""
    places.begin_wide_page()
    if article_id := st.query_params.get(places.ARTICLE):
        show_article(article_id)
        return
    st.title("Knowledge base", anchor=False)
    articles, search = st.tabs(["Articles", "Search"], key="kb-tabs")
    with articles:
        _show_articles()
    with search:
        show_search()


_ORDERS: dict[str, tuple[ArticleSort, bool]] = {
    "Title": ("title", False),
    "Newest": ("date", True),
    "Oldest": ("date", False),
    "Type": ("type", False),
    "File": ("file", False),
    "Most pages": ("pages", True),
}
_ANY = ""
_FILTER = 160
"""Pixels of a filter: two stand side by side on a phone, and all of them on a desk."""
_NOTHING_OF: dict[ArticleStatus, tuple[str, str]] = {
    "published": ("No article is published as it is", "Those that fail show an older version, or none."),
    "failing": ("No article fails", "The newest version of each is published."),
    "waiting": ("No article waits", "Every article is as it lies in the staging folder."),
    "withheld": ("No article is withheld", "Of each it is known who may read it."),
}


class _Limits(TypedDict):
    status: ArticleStatus | None
    document_type: str
    department: str
    since: date | None


def _show_filters(listing: ArticleList, limits: _Limits) -> None:
    """Show what the list can be limited to and sorted by; a fact that no article has is not offered."""
    facts = [
        ("Type", "article-type", listing.document_types, limits["document_type"]),
        ("Department", "article-department", listing.departments, limits["department"]),
    ]
    offered = [fact for fact in facts if fact[2] or fact[3]]
    # a choice that is made stays to be undone, whatever it leaves of the list
    statuses = listing.statuses or ((limits["status"],) if limits["status"] else ())
    with st.container(horizontal=True):
        if statuses:
            st.selectbox(
                "Status",
                [None, *statuses],
                key="article-status",
                format_func=lambda one: (one or "all").capitalize(),
                width=_FILTER,
            )
        for label, key, values, chosen in offered:
            options = [_ANY, *values, *([chosen] if chosen not in values else [])] if chosen else [_ANY, *values]
            st.selectbox(label, options, key=key, format_func=lambda value: value or "All", width=_FILTER)
        st.date_input("Came in since", value=None, key="article-since", width=_FILTER)
        st.selectbox("Sort by", list(_ORDERS), key="article-order", width=_FILTER)


def _show_articles() -> None:
    words = st.text_input(
        "Filter", placeholder="Filter by title, id or file", key="article-filter", label_visibility="collapsed"
    )
    client = session.client()
    chosen = st.session_state
    sort, descending = _ORDERS[chosen.get("article-order") or "Title"]
    limits: _Limits = {
        "status": chosen.get("article-status"),
        "document_type": chosen.get("article-type") or "",
        "department": chosen.get("article-department") or "",
        "since": chosen.get("article-since"),
    }
    offset = (chosen.get("article-page", 1) - 1) * _PAGE
    try:
        listing = client.articles(words or "", **limits, sort=sort, descending=descending, limit=_PAGE, offset=offset)
    except ClientError as exc:
        if not limits["status"]:
            raise
        # what waits is not known where the staging folder is out of reach; the choice can still be undone
        _show_filters(ArticleList(total=0, articles=()), limits)
        show_failure(exc)
        return
    if offset and not listing.articles:
        listing = client.articles(words or "", **limits, sort=sort, descending=descending, limit=_PAGE)
    if listing.total or any(limits.values()):
        _show_filters(listing, limits)
    if listing.total:
        st.html(articles_html(listing))
    elif (status := limits["status"]) and not words and sum(map(bool, limits.values())) == 1:
        st.html(panel(*_NOTHING_OF[status], kind="note"))
    elif any(limits.values()):
        st.html(panel("No article meets these filters", "Choose another type, department or day.", kind="note"))
    elif words:
        st.html(panel("No article has this title or id", "Use Search to find words in the articles.", kind="note"))
    else:
        problem = client.health().index.problem or _NOT_LISTED
        st.html(panel("There are no articles to list", sentence(problem), ingest_if_advised(problem), kind="note"))
    if (pages := -(-listing.total // _PAGE)) > 1:
        st.pagination(pages, key="article-page")
