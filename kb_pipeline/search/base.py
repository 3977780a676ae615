"""The search index role: entries go in by article, hits come out by query.

Here: the contract, and the checks that every index shares. Not here: anything about one product.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np
import numpy.typing as npt

from kb_pipeline.errors import IndexMismatchError, SearchError
from kb_pipeline.records import Chunk, Record, SearchHit, SearchMode
from kb_pipeline.steps.late_interaction import packed_size

INDEX_NAME = "kb-articles"

Vector = npt.NDArray[np.float32]

_MAX_WORDS = 64
_MAX_CHARACTERS = 4000


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """What the index holds of a chunk: the chunk and its vector, made by the index's embedding model.

    ``words`` are the vectors of its words as :func:`~kb_pipeline.steps.late_interaction.pack_words` packs them; empty
    from a model that has none.
    """

    chunk: Chunk
    vector: Vector
    words: bytes = b""


class IndexedChunk(Record):
    """A chunk as it lies in the index, and the model that made its vector."""

    chunk: Chunk
    embedding_model: str


class SearchFilter(Record):
    """Which chunks a query may find. ``None`` does not restrict; an empty list lets nothing through.

    ``key_topics``: at least one of them. ``principals``: who asks (user and groups); a chunk with an access
    control list must name one of them, a chunk without one is for everybody, also for an empty list.
    """

    article_ids: tuple[str, ...] | None = None
    section_header: str | None = None
    key_topics: tuple[str, ...] | None = None
    principals: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """A checked query: ``words`` is empty or ``vector`` is ``None`` where the mode does not use them.

    ``question`` is what was asked, for an index that embeds it; empty where the mode needs no vector, or has one.
    ``word_vectors`` are unit vectors of the question's words, shape (words, dimensions); ``None`` where there are none,
    or the mode is not hybrid.
    """

    words: str
    vector: Vector | None
    top: int
    filters: SearchFilter
    question: str = ""
    word_vectors: Vector | None = None


class SearchIndex(ABC):
    """An index of chunks with vectors of one embedding model.

    An article's entries change all at once for every reader. A missing index is an empty one to everything
    but :meth:`search`. All methods raise ``IndexMismatchError`` when the index that is there was built with another
    embedding model, and ``SearchError`` when it cannot be reached.
    """

    def __init__(self, embedding_model: str, dimensions: int) -> None:
        """Say which model's vectors the index must hold; nothing is read or made yet."""
        self.embedding_model = embedding_model
        self.dimensions = dimensions

    @property
    def embeds_questions(self) -> bool:
        """Whether the index makes a question's vector itself, so that a search needs none."""
        return False

    def publish(self, articles: Mapping[str, Sequence[IndexEntry]]) -> None:
        """Replace the entries of each of these articles by the given ones, all of them in one commit.

        An article without entries is removed. The index is made if it is missing.

        Raises:
            SearchError: an entry is of another article, doubled, or its vector is unusable; nothing was published.
        """
        for article_id, entries in articles.items():
            self._check_entries(article_id, entries)
        if articles:
            self._replace(articles)

    def remove(self, article_ids: Collection[str]) -> None:
        """Remove the entries of these articles; those that have none are no error."""
        self.publish(dict.fromkeys(article_ids, ()))

    def search(
        self,
        text: str,
        vector: Vector | Sequence[float] | None = None,
        *,
        word_vectors: Vector | None = None,
        mode: SearchMode = "hybrid",
        top: int = 10,
        filters: SearchFilter | None = None,
    ) -> list[SearchHit]:
        """The ``top`` best chunks for a question, best first, all from one state of the index.

        ``text`` is words, never syntax; ``vector`` is its embedding, needed except by mode "keyword" and by an index
        that embeds questions itself. ``word_vectors`` are the unit vectors of its words, shape (words, dimensions): an
        index that holds those of its entries orders the hits of a hybrid search by them, others may ignore them.

        Raises:
            IndexMissingError: nothing was ever published.
            SearchError: the vector is missing or unusable.
        """
        if mode not in get_args(SearchMode):
            raise SearchError(f"search mode is {mode!r}; it must be one of: {', '.join(get_args(SearchMode))}")
        unembedded = mode != "keyword" and vector is None
        if unembedded and not self.embeds_questions:
            raise SearchError(f"search mode {mode!r} needs the question's embedding; without one use mode 'keyword'")
        words = "" if mode == "vector" else query_words(text)
        asked = None if mode == "keyword" or vector is None else self._checked_vector(vector, "the question")
        question = readable(text) if unembedded else ""
        covering = word_vectors if mode == "hybrid" and word_vectors is not None and len(word_vectors) else None
        if covering is not None:
            self._check_words(covering)
        return self._search(Query(words, asked, max(0, top), filters or SearchFilter(), question, covering))

    @abstractmethod
    def entries(self, article_ids: Collection[str] | None = None) -> dict[str, dict[str, str]]:
        """What is indexed: article id -> chunk id -> content hash; of all articles, or of those that are given."""

    @abstractmethod
    def find(self, chunk_ids: Collection[str]) -> list[IndexedChunk]:
        """The chunks with these ids, each once, in the order they are asked for; ids that are not there are left out.

        For tracing a citation: access control lists are not looked at.
        """

    @abstractmethod
    def count(self) -> int:
        """Number of entries."""

    @abstractmethod
    def doubled(self) -> set[str]:
        """Ids of the articles of which an entry is there more than once, however that came about."""

    @abstractmethod
    def optimise(self) -> None:
        """Make searching fast again after publishing; readers and writers go on meanwhile."""

    def keep_up(self) -> None:  # noqa: B027  (a service that indexes by itself has nothing to do)
        """The quick part of that, between the batches of a long run, if so much is new that searching gets slow."""

    @abstractmethod
    def drop(self) -> None:
        """Remove the whole index, whichever model it was built with."""

    @abstractmethod
    def _replace(self, articles: Mapping[str, Sequence[IndexEntry]]) -> None:
        """Commit the checked entries of at least one article."""

    @abstractmethod
    def _search(self, query: Query) -> list[SearchHit]:
        """Answer a checked query: by words, by vector, or by both where both are there."""

    def _check_entries(self, article_id: str, entries: Sequence[IndexEntry]) -> None:
        seen: set[str] = set()
        for entry in entries:
            if entry.chunk.article_id != article_id:
                raise SearchError(f"chunk {entry.chunk.id} of {entry.chunk.article_id!r} was given for {article_id!r}")
            if entry.chunk.id in seen:
                raise SearchError(f"article {article_id!r} has two chunks with the id {entry.chunk.id}; chunk it again")
            seen.add(entry.chunk.id)
            self._checked_vector(entry.vector, f"chunk {entry.chunk.id}")
            self._check_packed(entry.words, f"chunk {entry.chunk.id}")

    def _check_packed(self, words: bytes, owner: str) -> None:
        if len(words) % packed_size(self.dimensions):
            raise IndexMismatchError(
                f"the vectors of the words of {owner} take {len(words)} bytes, which are no vectors with "
                f"{self.dimensions} dimensions; embed it with {self.embedding_model}"
            )

    def _check_words(self, vectors: Vector) -> None:
        if vectors.shape[1:] != (self.dimensions,):
            raise IndexMismatchError(
                f"the vectors of the question's words have shape {vectors.shape}, but the index holds vectors of "
                f"{self.embedding_model} with {self.dimensions} dimensions; embed it with that model"
            )
        if not np.isfinite(vectors).all():
            raise SearchError("the vectors of the question's words hold values that are not finite; embed it again")

    def _checked_vector(self, vector: Vector | Sequence[float], owner: str) -> Vector:
        array = np.asarray(vector, np.float32)
        if array.shape != (self.dimensions,):
            raise IndexMismatchError(
                f"the vector of {owner} has shape {array.shape}, but the index holds vectors of {self.embedding_model} "
                f"with {self.dimensions} dimensions; embed it with that model"
            )
        if not np.isfinite(array).all():
            raise SearchError(f"the vector of {owner} holds values that are not finite; embed it again")
        return array


def query_words(text: str) -> str:
    """The distinct words of a question, as many as make sense to look up."""
    return " ".join(list(dict.fromkeys(readable(text).split()))[:_MAX_WORDS])


def readable(text: str) -> str:
    """The beginning of a question, without what is no text."""
    return text[:_MAX_CHARACTERS].encode("utf-8", "replace").decode().replace("\0", " ")
