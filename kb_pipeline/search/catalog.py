"""Generations of the index: each made with one embedding model and chunker, one of them live.

Here: the contract, and the rules that every backend shares. A new generation is filled beside the live one and takes
its place in one step; the one before stays for a way back until it is dropped. Not here: anything about one product.
"""

import re
from abc import ABC, abstractmethod
from typing import ClassVar

from pydantic import PositiveInt, field_validator

from kb_pipeline.errors import SearchError
from kb_pipeline.records import Record
from kb_pipeline.search.base import INDEX_NAME, SearchIndex

POINTER = "live"
_ID = re.compile(rf"(?!{POINTER}$)[a-z0-9]{{1,16}}", re.ASCII)


class Generation(Record):
    """How the entries of one generation are made.

    ``id`` is up to 16 lower-case letters and digits, so that it is legal in every index name; ``embedder`` is the
    setting KB_EMBEDDER; ``word_vectors`` says how the vectors of words are packed, "" without them; ``created_at`` is
    ISO 8601.
    """

    id: str
    embedder: str
    embedding_model: str
    dimensions: PositiveInt
    chunker: str
    word_vectors: str = ""
    created_at: str

    @field_validator("id")
    @classmethod
    def _usable(cls, value: str) -> str:
        if not _ID.fullmatch(value):
            raise ValueError(f"{value!r} is no generation's id: 1 to 16 of a-z and 0-9, but not {POINTER!r}")
        return value

    def made_like(self, other: "Generation") -> bool:
        """Whether entries of both belong together: all but the time is equal."""
        return self.model_copy(update={"created_at": other.created_at}) == other

    def __str__(self) -> str:
        """What it holds, for messages."""
        model = f"vectors of {self.embedding_model} with {self.dimensions} dimensions"
        words = f", word vectors {self.word_vectors}" if self.word_vectors else ""
        return f"generation {self.id}: {model}, embedder {self.embedder}, chunker {self.chunker}{words}"


class LiveIndex(Record):
    """What readers use since ``switched_at``, and what they used before, if it is still there.

    ``held`` is the id of a generation that must not be promoted automatically, because a person switched back from it.
    """

    generation: Generation
    previous: Generation | None = None
    held: str | None = None
    switched_at: str

    def without(self, generation_id: str) -> "LiveIndex":
        """The same once that generation is gone."""
        gone = self.previous is not None and self.previous.id == generation_id
        return self.model_copy(update={"previous": None}) if gone else self


class IndexCatalog(ABC):
    """The generations of one index, as the index itself knows them: all processes see the same at once.

    All methods but :meth:`open` raise ``SearchError`` when the index cannot be reached.
    """

    keeps_word_vectors: ClassVar[bool] = False
    """Whether its indexes hold the vectors of words and order hits by them."""
    look_again_seconds: ClassVar[float] = 0.5
    """How long readers may go on with what they know to be live: asking costs a tenth of a search."""

    @abstractmethod
    def open(self, generation: Generation) -> SearchIndex:
        """The index of that generation; nothing is read or made yet.

        Its methods raise ``IndexMismatchError`` when what bears this id was made in another way.
        """

    @abstractmethod
    def live(self) -> LiveIndex | None:
        """What readers use now; ``None`` before the first switch."""

    @abstractmethod
    def switch(self, generation: Generation, *, held: str | None = None, at: str) -> LiveIndex:
        """Make it live for all readers in one step; switching to the live one only sets ``held``.

        Of switches at the same time each comes before or after the others. The first generation may be empty,
        and is made if it is missing.

        Raises:
            SearchError: the generation has no entries, or is being dropped; nothing was changed.
        """

    @abstractmethod
    def generations(self) -> list[Generation]:
        """All that exist, oldest first; what other programs keep at the same place is left out."""

    @abstractmethod
    def drop(self, generation_id: str) -> None:
        """Remove a generation, and what a killed drop left of it; one that is not there is no error.

        Raises:
            SearchError: it is the live one.
        """


def switched(live: LiveIndex | None, generation: Generation, held: str | None, at: str) -> LiveIndex:
    """What is live after a switch to ``generation``."""
    if live is None:
        return LiveIndex(generation=generation, held=held, switched_at=at)
    if live.generation.id == generation.id:
        return live.model_copy(update={"held": held})
    return LiveIndex(generation=generation, previous=live.generation, held=held, switched_at=at)


def index_name(generation_id: str, family: str = INDEX_NAME) -> str:
    """Name of a generation's index; ``family`` is what the names of all of them begin with.

    Raises:
        SearchError: there can be no such generation.
    """
    if not _ID.fullmatch(generation_id):
        raise SearchError(f"{generation_id!r} is no generation's id: 1 to 16 of a-z and 0-9, but not {POINTER!r}")
    return f"{family}-{generation_id}"


def check_droppable(live: LiveIndex | None, generation_id: str) -> None:
    """Refuse to drop what readers use.

    Raises:
        SearchError: it is the live one.
    """
    if live is not None and live.generation.id == generation_id:
        raise SearchError(f"generation {generation_id} is live and cannot be dropped; switch to another one first")
