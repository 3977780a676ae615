"""The knowledge base as its readers see it: articles, their chunks, what a search finds."""

from typing import Literal

from pydantic import Field

from app.schema.answers import CitedImage, Passage
from app.schema.base import Wire
from kb_pipeline.records import SearchMode


class ArticleSummary(Wire):
    """An article in a list. ``state`` is what a reader gets: the newest text, an older one, or none."""

    article_id: str
    title: str
    state: Literal["published", "behind", "failed", "pinned"]
    published_at: str | None = None
    images: int = 0
    chunks: int = 0
    error: str | None = None


class ArticleList(Wire):
    """A page of the articles that match, by title; ``total`` counts all of them."""

    total: int
    articles: tuple[ArticleSummary, ...]


class ArticleChunk(Wire):
    """A chunk as it lies in the index, its images as URLs below the service."""

    chunk_id: str
    chunk_index: int
    heading_path: tuple[str, ...]
    content: str
    images: tuple[CitedImage, ...] = ()
    content_hash: str


class Article(Wire):
    """An article as its readers see it: markdown whose images are URLs below the service.

    ``links`` are the link targets in it that lead to other articles, with the ids of those.
    """

    article_id: str
    title: str
    source_url: str | None
    markdown: str
    images: tuple[CitedImage, ...]
    chunks: tuple[ArticleChunk, ...]
    links: dict[str, str] = Field(default_factory=dict)
    published_at: str | None
    run_id: str
    run_url: str | None
    converter: str
    content_hash: str


class SearchResult(Passage):
    """A hit with the scores of each search; ``None`` where that search did not find it."""

    keyword_score: float | None = None
    vector_score: float | None = None


class SearchResults(Wire):
    """The hits of one search, best first."""

    query: str
    mode: SearchMode
    results: tuple[SearchResult, ...]
