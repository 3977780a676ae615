"""The hits of a search."""

from app.schema.passages import Passage
from app.schema.wire import Wire
from kb_pipeline.records import SearchMode


class SearchResult(Passage):
    """A hit with its scores, which only operators get; ``None`` if that search did not find it."""

    score: float | None = None
    keyword_score: float | None = None
    vector_score: float | None = None


class SearchResults(Wire):
    """The hits of one search, best first."""

    query: str
    mode: SearchMode
    results: tuple[SearchResult, ...]
