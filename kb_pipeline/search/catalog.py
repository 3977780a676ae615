"""The generations of an index: each is built with one embedding model and chunker, and one of them is live.

A new generation is filled next to the live one and replaces it in one step. The previous one stays as a way back until
it is dropped. Here: the contract, and the rules that all backends share. Nothing about a single product belongs here.
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

    ``id`` is 1 to 16 lower-case letters and digits, so that it is legal in every index name. ``embedder`` is the
    setting KB_EMBEDDER. ``word_vectors`` is the format of the packed word vectors, ``image_url`` the address before the
    paths of images; "" without them. ``created_at`` is ISO 8601.
    """

    id: str
    embedder: str
    embedding_model: str
    dimensions: PositiveInt
    chunker: str
    word_vectors: str = ""
    image_url: str = ""
    created_at: str

    @field_validator("id")
    @classmethod
    def _check_id(cls, value: str) -> str:
        if not _ID.fullmatch(value):
            raise ValueError(f"{value!r} is not the id of a generation: 1 to 16 of a-z and 0-9, but not {POINTER!r}")
        return value

    def made_like(self, other: "Generation") -> bool:
        """Whether both have the same settings, so that their entries belong together; ``created_at`` is ignored."""
        return self.model_copy(update={"created_at": other.created_at}) == other

    def __str__(self) -> str:
        model = f"vectors of {self.embedding_model} with {self.dimensions} dimensions"
        words = f", word vectors {self.word_vectors}" if self.word_vectors else ""
        images = f", images at {self.image_url}" if self.image_url else ""
        return f"generation {self.id}: {model}, embedder {self.embedder}, chunker {self.chunker}{words}{images}"


class LiveIndex(Record):
    """The generation that readers use since ``switched_at``, and the previous one if it still exists.

    ``held`` is the id of a generation that must not be promoted automatically, because a person switched back from it.
    """

    generation: Generation
    previous: Generation | None = None
    held: str | None = None
    switched_at: str

    def without(self, generation_id: str) -> "LiveIndex":
        """Return a copy without the given generation as the previous one."""
        is_previous = self.previous is not None and self.previous.id == generation_id
        return self.model_copy(update={"previous": None}) if is_previous else self


class IndexCatalog(ABC):
    """The generations of one index, stored with the index, so that all processes see the same.

    All methods except :meth:`open` raise ``SearchError`` if the index cannot be reached.
    """

    keeps_passages: ClassVar[bool] = False
    """Whether its indexes store several passages of a chunk. In others the embedder must read a chunk at once."""
    keeps_addresses: ClassVar[bool] = False
    """Whether its indexes store addresses of images, for other programs that read them."""
    keeps_word_vectors: ClassVar[bool] = False
    """Whether its indexes store word vectors and rank hits by them."""
    look_again_seconds: ClassVar[float] = 0.5
    """Seconds for which readers may cache what is live: reading it takes a tenth as long as a search."""

    @abstractmethod
    def open(self, generation: Generation) -> SearchIndex:
        """Return the index of the generation; nothing is read or created yet.

        Its methods raise ``IndexMismatchError`` if the index with this id was made with other settings.
        """

    @abstractmethod
    def live(self) -> LiveIndex | None:
        """Return what readers use now; ``None`` before the first switch."""

    def probe(self) -> None:
        """Read anew what is live.

        Raises:
            IndexDamagedError: that is impossible, because files are damaged.
        """
        self.live()

    @abstractmethod
    def switch(self, generation: Generation, *, held: str | None = None, at: str) -> LiveIndex:
        """Make the generation live for all readers in one step; for the live generation, only set ``held``.

        Concurrent switches happen one after the other. The first generation may be empty, and is created if it is
        missing.

        Raises:
            SearchError: the generation has no entries, or is being dropped. Nothing was changed.
        """

    def mend(self, own: Generation) -> list[str]:
        """Remove damaged generations, so that they can be rebuilt; return what was removed and why.

        A generation that readers use and that is not our ``own`` is kept, because nobody could rebuild it.
        """
        return []

    @abstractmethod
    def generations(self) -> list[Generation]:
        """List all generations, oldest first; indexes of other programs in the same place are left out."""

    @abstractmethod
    def drop(self, generation_id: str) -> None:
        """Remove a generation and what an interrupted drop left of it; a missing one is ignored.

        Raises:
            SearchError: the generation is live.
        """

    def contents(self) -> list[str]:
        """Name what :meth:`clear` would remove: one index for each generation, and what points to the live one."""
        return [index_name(generation.id) for generation in self.generations()]

    def clear(self) -> None:
        """Remove all generations, the live one included. Indexes of other programs stay.

        It can be interrupted and repeated. Readers find no index until the next one is filled.
        """
        raise SearchError(f"{type(self).__name__} cannot be emptied; remove its indexes by hand")


def live_after_switch(live: LiveIndex | None, generation: Generation, held: str | None, at: str) -> LiveIndex:
    """Return what is live after a switch to ``generation``."""
    if live is None:
        return LiveIndex(generation=generation, held=held, switched_at=at)
    if live.generation.id == generation.id:
        return live.model_copy(update={"held": held})
    return LiveIndex(generation=generation, previous=live.generation, held=held, switched_at=at)


def index_name(generation_id: str, family: str = INDEX_NAME) -> str:
    """Return the name of the index of a generation; all names begin with ``family``.

    Raises:
        SearchError: the id is not valid.
    """
    if not _ID.fullmatch(generation_id):
        raise SearchError(
            f"{generation_id!r} is not the id of a generation: 1 to 16 of a-z and 0-9, but not {POINTER!r}"
        )
    return f"{family}-{generation_id}"


def check_droppable(live: LiveIndex | None, generation_id: str) -> None:
    """Refuse to drop the live generation.

    Raises:
        SearchError: the generation is live.
    """
    if live is not None and live.generation.id == generation_id:
        raise SearchError(f"generation {generation_id} is live and cannot be dropped; switch to another one first")
