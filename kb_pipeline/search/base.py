"""The contract of a search index: entries are published by article, and queries return hits.

Here: the contract, and the checks that all backends share. Nothing about a single product belongs here.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast, get_args

import numpy as np
import numpy.typing as npt
from pydantic import PositiveInt, field_validator

from kb_pipeline.errors import IndexMismatchError, SearchError
from kb_pipeline.records import (
    HIDDEN,
    BlockType,
    Chunk,
    DocumentSort,
    KnowledgeMode,
    Record,
    SearchHit,
    SearchMode,
    may_read,
)
from kb_pipeline.steps.late_interaction import EmbeddedPassage, packed_size

INDEX_NAME = "kb-articles"

Vector = npt.NDArray[np.float32]

_MAX_WORDS = 64
"""A full-text query of 2,000 words took .8 s; with 64, a pasted page costs no more than a long question."""
_MAX_CHARACTERS = 4000
"""Characters that are read of a question: a pasted page."""


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """A chunk and its embedded passages, at least one, as the index stores them; the best of them ranks the chunk."""

    chunk: Chunk
    passages: tuple[EmbeddedPassage, ...]


class IndexedChunk(Record):
    """A chunk read from the index, and the model that made its vector."""

    chunk: Chunk
    embedding_model: str


class SearchFilter(Record):
    """Limits which chunks a query may return. ``None`` does not limit; an empty list lets nothing through.

    ``block_type`` to ``language`` are facts about a chunk or its document: it must have one of the values, whatever
    their case. ``upload_date`` is the first and the last day on which the document may have come in, as ISO 8601; ""
    leaves an end open. ``page_start`` and ``page_end``: some of the chunk must stand on these pages or between them.

    ``deferred``: whether a chunk must be of a section that is left for later, or must not.

    ``key_topics``: a chunk must have at least one of them. ``principals``: the user and the groups who ask. A chunk
    with an access control list must name one of them; a chunk without a list is public, even if ``principals`` is
    empty. ``granted_articles`` and ``denied_articles`` override these lists, because the access to those articles
    changed after their chunks were indexed.
    """

    article_ids: tuple[str, ...] | None = None
    section_header: str | None = None
    key_topics: tuple[str, ...] | None = None
    block_type: tuple[BlockType, ...] | None = None
    filename: tuple[str, ...] | None = None
    document_type: tuple[str, ...] | None = None
    department: tuple[str, ...] | None = None
    author: tuple[str, ...] | None = None
    language: tuple[str, ...] | None = None
    upload_date: tuple[str, str] | None = None
    page_start: PositiveInt | None = None
    page_end: PositiveInt | None = None
    deferred: bool | None = None
    principals: tuple[str, ...] | None = None
    granted_articles: tuple[str, ...] = ()
    denied_articles: tuple[str, ...] = ()

    @field_validator("principals")
    @classmethod
    def _without_reserved_name(cls, names: tuple[str, ...] | None) -> tuple[str, ...] | None:
        return names and tuple(name for name in names if name != HIDDEN)

    @field_validator("upload_date")
    @classmethod
    def _days(cls, days: tuple[str, str] | None) -> tuple[str, str] | None:
        return days and (_day(days[0]), _day(days[1]))

    @property
    def facts(self) -> dict[str, tuple[str, ...]]:
        """The wanted values of each fact that is limited, folded."""
        limits = {name: getattr(self, name) for name in FACTS}
        return {name: tuple(map(folded, values)) for name, values in limits.items() if values is not None}

    @property
    def lets_nothing_through(self) -> bool:
        """Whether no chunk can pass, so that no request need be sent."""
        lists = (self.article_ids, self.key_topics, self.block_type, *self.facts.values())
        return any(values == () for values in lists)

    def lets_read(self, chunk: Chunk) -> bool:
        """Whether a query with this filter may return the chunk as far as access lists decide."""
        if self.principals is None or chunk.article_id in self.granted_articles:
            return True
        return chunk.article_id not in self.denied_articles and may_read(chunk.access_control_list, self.principals)


FACTS = ("filename", "document_type", "department", "author", "language")
"""The facts about a document by whose values every row can be filtered."""


def folded(value: str) -> str:
    """Return a fact as it is stored and compared, without regard to case and spaces."""
    return " ".join(value.casefold().split())


def _day(text: str) -> str:
    """Return the day of an ISO 8601 date.

    Raises:
        ValueError: it is none.
    """
    try:
        return datetime.fromisoformat(text).date().isoformat() if text else ""
    except ValueError:
        raise ValueError(f"{text[:40]!r} is not a date like 2024-05-31") from None


def of_mode(mode: KnowledgeMode) -> bool | None:
    """Return what :attr:`SearchFilter.deferred` is in this mode."""
    return False if mode == "poc" else None


def split_modes(names: Iterable[str]) -> tuple[SearchMode, KnowledgeMode | None]:
    """Return how to search, "hybrid" unless it is named, and in which mode of knowledge, if that is named.

    Both are called modes where people write them; of several names of a kind the last one counts.

    Raises:
        SearchError: a name is neither.
    """
    how: SearchMode = "hybrid"
    of_what: KnowledgeMode | None = None
    for name in names:
        if name in get_args(SearchMode):
            how = cast(SearchMode, name)
        elif name in get_args(KnowledgeMode):
            of_what = cast(KnowledgeMode, name)
        else:
            modes = ", ".join((*get_args(SearchMode), *get_args(KnowledgeMode)))
            raise SearchError(f"mode is {name[:80]!r}; it must be one of: {modes}")
    return how, of_what


def filter_values(entries: Iterable[IndexEntry]) -> dict[str, dict[str, str]]:
    """Map article id -> the values by which its rows are filtered: the facts, folded, and ``upload_date``.

    They are those of the article's document row, with which all its rows are published. Articles without one have none.
    """
    documents = {entry.chunk.article_id: entry.chunk.document for entry in entries if entry.chunk.document}
    return {
        article_id: {name: folded(getattr(document, name)) for name in FACTS} | {"upload_date": document.upload_date}
        for article_id, document in documents.items()
    }


def pages_of(chunk: Chunk) -> tuple[int | None, int | None]:
    """Return the first and the last page of a row; ``None`` if it has none."""
    if chunk.document:
        return (1, chunk.document.page_count) if chunk.document.page_count else (None, None)
    return (chunk.pages[0], chunk.pages[-1]) if chunk.pages else (None, None)


class DocumentPage(Record):
    """Some of the documents that meet a filter, as rows of the index, and how many do in all."""

    total: int
    documents: tuple[Chunk, ...]


@dataclass(frozen=True, slots=True)
class Query:
    """A checked query. ``words`` is empty and ``vector`` is ``None`` if the mode does not use them.

    ``question`` is the text that the index itself must embed; empty if the mode needs no vector or ``vector`` is set.
    ``word_vectors`` are unit vectors of the words of the question, shape (words, dimensions); ``None`` if there are
    none or the mode is not hybrid. ``telling`` are those of each word that says something about the matter.
    """

    words: str
    vector: Vector | None
    top: int
    filters: SearchFilter
    question: str = ""
    word_vectors: Vector | None = None
    telling: Sequence[Sequence[int]] = ()


class SearchIndex(ABC):
    """An index of chunks with vectors of one embedding model.

    All entries of an article change at once for every reader. A missing index behaves like an empty one, except in
    :meth:`search`. All methods raise ``IndexMismatchError`` if the index was built with another embedding model, and
    ``SearchError`` if it cannot be reached.
    """

    def __init__(self, embedding_model: str, dimensions: int) -> None:
        """Set the model whose vectors the index must hold; nothing is read or created yet."""
        self.embedding_model = embedding_model
        self.dimensions = dimensions

    @property
    def embeds_questions(self) -> bool:
        """Whether the index embeds questions itself, so that :meth:`search` needs no vector."""
        return False

    @property
    def without_access_lists(self) -> tuple[str, ...]:
        """The names of the indexes that say of no row who may read it, so that everybody may; ours all do."""
        return ()

    def publish(self, articles: Mapping[str, Sequence[IndexEntry]]) -> None:
        """Replace all entries of these articles in one commit.

        An article without entries is removed. A missing index is created.

        Raises:
            SearchError: an entry belongs to another article, has the same id as another, or has an unusable vector.
                Nothing was published.
        """
        for article_id, entries in articles.items():
            self._check_entries(article_id, entries)
        if articles:
            self._replace(articles)

    def remove(self, article_ids: Collection[str]) -> None:
        """Remove the entries of these articles; articles that are not indexed are ignored."""
        self.publish(dict.fromkeys(article_ids, ()))

    def set_readers(self, readers: Mapping[str, Sequence[str]]) -> None:
        """Replace the users and groups who may read these articles; an empty list makes an article public.

        Articles that are not indexed are ignored. The content hashes of the entries change with their readers.
        """
        if readers:
            self._set_readers(readers)

    def search(
        self,
        text: str,
        vector: Vector | Sequence[float] | None = None,
        *,
        word_vectors: Vector | None = None,
        telling: Sequence[Sequence[int]] = (),
        mode: SearchMode = "hybrid",
        top: int = 10,
        filters: SearchFilter | None = None,
    ) -> list[SearchHit]:
        """Return the ``top`` best chunks for a question, best first, all from one state of the index.

        ``text`` is plain words, never query syntax. ``vector`` is its embedding; it is required unless the mode is
        "keyword" or the index embeds questions itself. ``word_vectors`` are unit vectors of its words, shape (words,
        dimensions): an index that stores word vectors ranks the hits of a hybrid search by them, others ignore them.
        ``telling`` are the positions in these of each word that says something about the matter.

        Raises:
            IndexMissingError: nothing has been published yet.
            SearchError: the vector is missing or unusable.
        """
        if mode not in get_args(SearchMode):
            raise SearchError(f"search mode is {mode!r}; it must be one of: {', '.join(get_args(SearchMode))}")
        needs_embedding = mode != "keyword" and vector is None
        if needs_embedding and not self.embeds_questions:
            raise SearchError(f"search mode {mode!r} needs the question's embedding; without one use mode 'keyword'")
        words = "" if mode == "vector" else query_words(text)
        checked = None if mode == "keyword" or vector is None else self._checked_vector(vector, "the question")
        question = readable(text) if needs_embedding else ""
        if mode != "hybrid" or word_vectors is None or not len(word_vectors):
            word_vectors = None
        else:
            self._check_words(word_vectors)
        limits = filters or SearchFilter()
        hits = self._search(Query(words, checked, max(0, top), limits, question, word_vectors, telling))
        # An index that knows no kinds of rows, or no deferred ones, may return others.
        return [
            hit
            for hit in hits
            if (limits.block_type is None or hit.chunk.block_type in limits.block_type)
            and limits.deferred in (None, hit.chunk.deferred)
        ]

    def documents(
        self,
        filters: SearchFilter | None = None,
        *,
        sort: DocumentSort = "upload_date",
        descending: bool = False,
        limit: int = 50,
        offset: int = 0,
    ) -> DocumentPage:
        """List the document rows that meet the filter, sorted by a fact and then in a fixed order.

        Texts are sorted without regard to case. Documents without the fact come last, in either direction. A missing
        index lists nothing.

        Raises:
            SearchError: ``sort`` is none of the facts, or a number is negative.
        """
        if sort not in get_args(DocumentSort):
            raise SearchError(
                f"documents are sorted by {str(sort)[:80]!r}; it must be one of: {', '.join(get_args(DocumentSort))}"
            )
        if limit < 0 or offset < 0:
            raise SearchError(f"limit is {limit} and offset is {offset}; neither can be negative")
        wanted = (filters or SearchFilter()).model_copy(update={"block_type": ("document",)})
        return self._documents(wanted, sort, descending, limit, offset)

    @abstractmethod
    def entries(self, article_ids: Collection[str] | None = None) -> dict[str, dict[str, str]]:
        """Map article id -> chunk id -> content hash, of all articles or only of the given ones."""

    @abstractmethod
    def find(self, chunk_ids: Collection[str]) -> list[IndexedChunk]:
        """Return the chunks with these ids, each once, in the order of the ids; missing ids are left out.

        This is for tracing citations: it ignores access control lists.
        """

    @abstractmethod
    def count(self) -> int:
        """Number of entries."""

    def count_of(self, block_type: BlockType) -> int:
        """Number of entries of one kind; an index that knows no kinds has only sections."""
        return self.count() if block_type == "text" else 0

    def doubled(self) -> set[str]:
        """Return the ids of articles that have an entry more than once; a service with unique keys has none."""
        return set()

    def probe(self) -> None:
        """Run a small search by words and by vector to see whether the index can answer; a missing index passes.

        Raises:
            IndexDamagedError: it cannot, because its files are damaged.
        """
        self.count()

    def inspect(self) -> None:
        """Do what :meth:`probe` does, and read everything in the index.

        Raises:
            IndexDamagedError: something is not as it was written.
        """
        self.probe()

    def stored(self, article_ids: Collection[str]) -> list[IndexEntry]:
        """Return the entries of these articles with their vectors; empty if the index does not return vectors."""
        return []

    def mismatched(self, entries: Sequence[IndexEntry]) -> set[str]:
        """Return the ids of the entries that differ from what the index holds, as far as it returns what it holds.

        Who made an entry does not count: the run of an earlier version may have made the same content.
        """
        indexed = {hit.chunk.id: hit.chunk for hit in self.find([entry.chunk.id for entry in entries])}
        alike = [
            chunk.id
            for chunk in (entry.chunk for entry in entries)
            if chunk.id in indexed and made_like(chunk, indexed[chunk.id].model_dump()) == indexed[chunk.id]
        ]
        return {entry.chunk.id for entry in entries} - set(alike)

    # a service that maintains its index by itself has nothing to do in the next two
    def optimise(self) -> None:  # noqa: B027
        """Make searching fast again after publishing; readers and writers can continue meanwhile."""

    def index_new_rows(self) -> None:  # noqa: B027
        """Do the quick part of :meth:`optimise` between the batches of a long run, if many rows are new."""

    @abstractmethod
    def _replace(self, articles: Mapping[str, Sequence[IndexEntry]]) -> None:
        """Commit the checked entries of at least one article."""

    @abstractmethod
    def _set_readers(self, readers: Mapping[str, Sequence[str]]) -> None:
        """Commit the readers of at least one article."""

    @abstractmethod
    def _search(self, query: Query) -> list[SearchHit]:
        """Answer a checked query by words, by vector, or by both."""

    def _documents(
        self, filters: SearchFilter, sort: DocumentSort, descending: bool, limit: int, offset: int
    ) -> DocumentPage:
        """List document rows; an index that knows none lists none."""
        return DocumentPage(total=0, documents=())

    def _check_entries(self, article_id: str, entries: Sequence[IndexEntry]) -> None:
        ids: set[str] = set()
        for entry in entries:
            if entry.chunk.article_id != article_id:
                raise SearchError(f"chunk {entry.chunk.id} of {entry.chunk.article_id!r} was given for {article_id!r}")
            if entry.chunk.id in ids:
                raise SearchError(f"article {article_id!r} has two chunks with the id {entry.chunk.id}; chunk it again")
            ids.add(entry.chunk.id)
            if not entry.passages:
                raise SearchError(f"chunk {entry.chunk.id} has no vector; embed it again")
            for passage in entry.passages:
                self._check_passage(passage, entry.chunk.id)

    def _check_passage(self, passage: EmbeddedPassage, chunk_id: str) -> None:
        self._checked_vector(passage.vector, f"chunk {chunk_id}")
        if len(passage.words) % packed_size(self.dimensions):
            raise IndexMismatchError(
                f"the word vectors of chunk {chunk_id} take {len(passage.words)} bytes, which does not fit "
                f"vectors with {self.dimensions} dimensions; embed it with {self.embedding_model}"
            )

    def _check_words(self, vectors: Vector) -> None:
        if vectors.shape[1:] != (self.dimensions,):
            raise IndexMismatchError(
                f"the vectors of the question's words have shape {vectors.shape}, but the index holds vectors of "
                f"{self.embedding_model} with {self.dimensions} dimensions; embed it with that model"
            )
        if not np.isfinite(vectors).all():
            raise SearchError("the vectors of the question's words contain values that are not finite; embed it again")

    def _checked_vector(self, vector: Vector | Sequence[float], owner: str) -> Vector:
        right = f"vectors of {self.embedding_model} with {self.dimensions} dimensions; embed it with that model"
        return checked_vector(vector, owner, self.dimensions, f"the index holds {right}")


def made_like(chunk: Chunk, stored: Mapping[str, Any]) -> Chunk:
    """Return the chunk as if it had been made by whoever made the stored one: no content hash covers that."""
    return chunk.model_copy(update={name: stored[name] for name in ("converter", "run_id")})


def checked_vector(vector: Vector | Sequence[float], owner: str, width: int, otherwise: str) -> Vector:
    """Return the vector as an array.

    Raises:
        IndexMismatchError: it is not ``width`` wide; ``otherwise`` says what the index holds, and what to do.
        SearchError: it contains values that are not finite.
    """
    array = np.asarray(vector, np.float32)
    if array.shape != (width,):
        raise IndexMismatchError(f"the vector of {owner} has shape {array.shape}, but {otherwise}")
    if not np.isfinite(array).all():
        raise SearchError(f"the vector of {owner} contains values that are not finite; embed it again")
    return array


def query_words(text: str) -> str:
    """Return the distinct words of a question, at most 64."""
    return " ".join(list(dict.fromkeys(readable(text).split()))[:_MAX_WORDS])


def readable(text: str) -> str:
    """Return the beginning of a question as valid text without NUL characters."""
    return text[:_MAX_CHARACTERS].encode("utf-8", "replace").decode().replace("\0", " ")


def literal(value: str) -> str:
    """Quote a string for SQL or OData; lone surrogates, which are not valid text, become U+FFFD."""
    readable = value.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return "'" + readable.replace("'", "''") + "'"


SPARE = 5
"""Extra hits to request, because some of them may repeat others."""


def without_repeats(hits: Iterable[SearchHit]) -> list[SearchHit]:
    """Drop each hit whose passage a better hit repeats word for word under the same title and headings."""
    best: dict[tuple[object, ...], SearchHit] = {}
    for hit in hits:
        chunk = hit.chunk
        # The title counts too: the same sentence on the pages of two commands is about two commands.
        best.setdefault((chunk.title, chunk.heading_path, " ".join(chunk.content.split())), hit)
    return list(best.values())
