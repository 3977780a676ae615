"""Asks an index, ours or somebody else's, and makes hits of what it found."""

from kb_pipeline.records import SearchHit
from kb_pipeline.search.azure_fields import VECTOR
from kb_pipeline.search.azure_hits import hits
from kb_pipeline.search.azure_queries import Searching, has_vector, is_futile, plain_words, request
from kb_pipeline.search.azure_service import SearchService
from kb_pipeline.search.base import Query


class Searcher:
    """Searches one index."""

    def __init__(self, service: SearchService, index: str, how: Searching) -> None:
        """Name the index and say how it is searched; nothing is sent yet."""
        self._service = service
        self._index = index
        self._how = how

    def search(self, query: Query) -> list[SearchHit]:
        """The best hits, best first.

        Raises:
            IndexMissingError: there is no such index.
            SearchError: it cannot answer.
        """
        words, vector = bool(plain_words(query.words)), has_vector(query) and VECTOR in self._how.fields
        if is_futile(query) or not (words or vector):
            return []
        with self._service.explained(self._index):
            found = list(self._service.documents(self._index).search(**request(query, self._how)))
        return hits(found, self._how.fields, words=words, vector=vector)[: query.top]
