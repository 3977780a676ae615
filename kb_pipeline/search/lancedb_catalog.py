"""Generations in LanceDB: a table for each (``kb-articles-<id>``), and one that names the live (``kb-articles-live``).

A table's metadata says how its generation was made, so that the tables are the only list of them.
"""

from collections.abc import Mapping
from typing import ClassVar

from kb_pipeline.errors import SearchError
from kb_pipeline.search.base import INDEX_NAME
from kb_pipeline.search.catalog import Generation, IndexCatalog, LiveIndex, check_droppable, index_name, switched
from kb_pipeline.search.lancedb import LanceDBIndex
from kb_pipeline.search.lancedb_database import Database
from kb_pipeline.search.lancedb_pointer import POINTER_TABLE, Pointer, PointerTable
from kb_pipeline.search.lancedb_rows import generation_of
from kb_pipeline.search.lancedb_table import TableStore


class LanceDBCatalog(IndexCatalog):
    """The generations at ``uri``: a folder, or ``az://container/path`` with its ``storage_options``."""

    keeps_word_vectors: ClassVar[bool] = True

    def __init__(self, uri: str, storage_options: Mapping[str, str] | None = None) -> None:
        """Name the place; nothing is read or made yet."""
        self._database = Database(uri, storage_options)
        self._pointer = PointerTable(self._database)

    def open(self, generation: Generation) -> LanceDBIndex:
        """The table ``kb-articles-<id>`` as an index."""
        return LanceDBIndex(self._database, generation)

    def live(self) -> LiveIndex | None:
        """Read anew each time."""
        return self._pointer.read().live

    def switch(self, generation: Generation, *, held: str | None = None, at: str) -> LiveIndex:
        """One commit to the pointer's table."""

        def change(pointer: Pointer) -> Pointer:
            ready = self._ready(generation, pointer)
            return pointer.model_copy(update={"live": switched(pointer.live, ready, held, at)})

        live = self._pointer.change(change).live
        assert live is not None
        return live

    def generations(self) -> list[Generation]:
        """What the tables' own metadata says."""
        names = [name for name in self._database.names() if name.startswith(f"{INDEX_NAME}-") and name != POINTER_TABLE]
        found = [generation for name in names if (generation := self._made(name))]
        return sorted(found, key=lambda generation: (generation.created_at, generation.id))

    def drop(self, generation_id: str) -> None:
        """The pointer says so first, so that no switch can choose the table while its files go."""
        table = index_name(generation_id)

        def announce(pointer: Pointer) -> Pointer:
            check_droppable(pointer.live, generation_id)
            live = pointer.live and pointer.live.without(generation_id)
            return Pointer(live=live, dropping=tuple(sorted({*pointer.dropping, generation_id})))

        def conclude(pointer: Pointer) -> Pointer:
            left = tuple(each for each in pointer.dropping if each != generation_id)
            return pointer.model_copy(update={"dropping": left})

        self._pointer.change(announce)
        self._database.drop(table)
        self._pointer.change(conclude)

    def _made(self, name: str) -> Generation | None:
        table = self._database.table(name)
        generation = generation_of(table.schema) if table is not None else None
        return generation if generation and index_name(generation.id) == name else None

    def _ready(self, generation: Generation, pointer: Pointer) -> Generation:
        """The generation as its table tells it.

        Raises:
            SearchError: readers would find nothing in it.
        """
        if generation.id in pointer.dropping:
            raise SearchError(f"generation {generation.id} is being dropped; drop it again, then fill it anew")
        store = TableStore(self._database, generation)
        table = store.open() if pointer.live else store.open_or_create()
        with self._database.explaining("count its entries"):
            if table is None or (pointer.live and not table.count_rows()):
                raise SearchError(f"generation {generation.id} has no entries; fill it before readers use it")
        return generation_of(table.schema) or generation
