"""What the searches find: keyword, vector and hybrid scores side by side, then the passages."""

from collections.abc import Mapping
from html import escape
from typing import get_args

import pandas as pd
import streamlit as st

from app.client import ServiceError
from app.page import session
from app.page.failures import panel, show_failure
from app.page.markup import passage_html
from app.schema import SearchResult, SearchResults
from kb_pipeline.records import SearchMode

_TOP = 10
_MODES: tuple[SearchMode, ...] = get_args(SearchMode)
_NUMBER = st.column_config.NumberColumn
_COLUMNS = {
    "#": _NUMBER("#", width=40),
    "Hybrid": _NUMBER("Hybrid", format="%.4f", width=90, help="Both rankings as one; comparable in one search only."),
    "Keyword": _NUMBER("Keyword", format="%.2f", width=90, help="BM25 of the words."),
    "Vector": _NUMBER("Vector", format="%.3f", width=90, help="Cosine of the meanings."),
}


def show() -> None:
    """Show a box to search in, and what is found."""
    query = st.text_input(
        "Search", placeholder="Search inside of the articles", key="search", label_visibility="collapsed"
    )
    if not query or not query.strip():
        st.html(
            '<p class="kb-how">Each hit shows how well its words match, how near its meaning is, and both as one.</p>'
        )
        return
    try:
        client = session.client()
        found = {mode: client.search(query.strip()[:2000], mode=mode, top=_TOP) for mode in _MODES}
    except ServiceError as exc:
        show_failure(exc)
        return
    hits = merged(found)
    if not hits:
        st.html(panel("Nothing was found", "Try other words.", kind="note"))
        return
    st.dataframe(score_table(found), hide_index=True, column_config=_COLUMNS, placeholder="–", width="stretch")
    st.html("".join(hit_html(at, hit) for at, hit in enumerate(hits.values(), 1)))


def merged(found: Mapping[SearchMode, SearchResults]) -> dict[str, SearchResult]:
    """The hits of all searches by chunk: those of the hybrid search first, in its order."""
    hits: dict[str, SearchResult] = {}
    for mode in sorted(found, key=lambda mode: mode != "hybrid"):
        for hit in found[mode].results:
            hits.setdefault(hit.chunk_id, hit)
    return hits


def score_table(found: Mapping[SearchMode, SearchResults]) -> pd.DataFrame:
    """A row for each hit, a column for each search; empty where that search did not find it among its best."""
    scores = {mode: {hit.chunk_id: hit.score for hit in results.results} for mode, results in found.items()}
    hits = merged(found)
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
    """A hit that unfolds to its passage."""
    path = " › ".join(dict.fromkeys((hit.title, *hit.heading_path)))
    article = escape(hit.article_id)
    link = f'<a href="?article={article}" data-kb="article:{article}">Open the article</a>'
    return (
        f'<details class="kb-card"{" open" if at == 1 else ""}><summary><b>{at}</b> {escape(path)}</summary>'
        f'<div class="kb-passage">{passage_html(hit.passage)}</div><p class="kb-how">{link}</p></details>'
    )
