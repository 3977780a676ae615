"""The generations in LanceDB: one table each (``kb-articles-<id>``), and ``kb-articles-live`` with the live one.

The metadata of a table records how its generation was made, so no other list of generations is needed.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import pyarrow as pa
from pydantic import ValidationError

from kb_pipeline.errors import IndexDamagedError, IndexMismatchError, SearchError
from kb_pipeline.records import Record
from kb_pipeline.search.base import INDEX_NAME
from kb_pipeline.search.catalog import (
    POINTER,
    Generation,
    IndexCatalog,
    LiveIndex,
    check_droppable,
    index_name,
    live_after_switch,
)
from kb_pipeline.search.lance.database import Database, TableFiles
from kb_pipeline.search.lance.index import LanceDBIndex
from kb_pipeline.search.lance.table import TableStore, generation_of
from kb_pipeline.steps.fingerprint import is_sealed, seal, unseal

if TYPE_CHECKING:
    from lancedb.table import LanceTable


POINTER_TABLE = f"{INDEX_NAME}-{POINTER}"
_SCHEMA = pa.schema([pa.field("revision", pa.int64()), pa.field("pointer", pa.string())])


class LivePointer(Record):
    """The content of the pointer's row: the live index, and the generations that are being dropped."""

    live: LiveIndex | None = None
    dropping: tuple[str, ...] = ()


def _sealed(pointer: LivePointer) -> str:
    return seal(POINTER_TABLE, pointer.model_dump_json().encode()).decode()


Change = Callable[[LivePointer], LivePointer]


class PointerTable:
    """The table ``kb-articles-live``; the first change creates it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._files = TableFiles(database.uri, POINTER_TABLE)

    def read(self) -> LivePointer:
        """Return the current pointer.

        Raises:
            IndexMismatchError: the table belongs to another program.
            IndexDamagedError: its files are not as they were written.
        """
        pointer = self._read()[1]
        if pointer.live is None:  # either before the first switch, or because the newest version of the table is gone
            self.inspect()
        return pointer

    def inspect(self, *, quickly: bool = False) -> None:
        """Compare the table's files with the hashes recorded when they were written.

        Raises:
            IndexDamagedError: a file has changed.
        """
        if damaged := self._database.access_files(lambda: self._files.damaged(quickly=quickly)):
            raise self._database.damaged(
                f"does not say which generation is live: {damaged[0]} is not as it was written"
            )

    def change(self, change: Change) -> LivePointer:
        """Replace the pointer by ``change(pointer)`` in one step; call it again if another process was faster."""
        changed = self._database.retrying("change the live generation of", lambda: self._change(change))
        self._database.access_files(self._files.remember)
        return changed

    def _change(self, change: Change) -> LivePointer:
        revision, before = self._read()
        after = change(before)
        if after != before:
            table = self._database.table_or(POINTER_TABLE, self._create)
            values = {"revision": revision + 1, "pointer": _sealed(after)}
            if not table.update(where=f"revision = {revision}", values=values).rows_updated:
                raise RuntimeError("concurrent changes of the live generation")
        return after

    def _read(self) -> tuple[int, LivePointer]:
        table = self._database.table(POINTER_TABLE)
        if table is None:
            return 0, LivePointer()
        if not table.schema.equals(_SCHEMA):
            self.inspect()
            raise self._mismatch("the data of another program")
        with self._database.translated_errors("read the live generation of"):
            (row,) = table.take_offsets([0]).to_list()
        try:
            return row["revision"], LivePointer.model_validate_json(unseal(POINTER_TABLE, row["pointer"].encode()))
        except ValueError as exc:
            if isinstance(exc, ValidationError) or not is_sealed(row["pointer"].encode()):
                raise self._mismatch(f"a pointer that this version cannot read: {row['pointer']}") from exc
            raise self._database.damaged(f"does not say which generation is live: {exc}") from exc

    def _create(self) -> "LanceTable":
        row = {"revision": 0, "pointer": _sealed(LivePointer())}
        return self._database.connection.create_table(POINTER_TABLE, pa.Table.from_pylist([row], _SCHEMA))

    def forget(self) -> None:
        """Delete the table, because it cannot be read."""
        self._database.drop(POINTER_TABLE)

    def _mismatch(self, holds: str) -> IndexMismatchError:
        return IndexMismatchError(
            f"the table {POINTER_TABLE} at {self._database.uri} holds {holds}; choose another KB_INDEX_URI, "
            "or remove that table and switch again"
        )


class LanceDBCatalog(IndexCatalog):
    """The generations at ``uri``, as in :class:`Database`."""

    keeps_passages: ClassVar[bool] = True
    keeps_word_vectors: ClassVar[bool] = True

    def __init__(self, uri: str) -> None:
        self._database = Database(uri)
        self._pointer = PointerTable(self._database)

    def open(self, generation: Generation) -> LanceDBIndex:
        return LanceDBIndex(self._database, generation)

    def live(self) -> LiveIndex | None:
        return self._pointer.read().live

    def probe(self) -> None:
        fresh = PointerTable(Database(self._database.uri))  # this process may have read files that are gone now
        fresh.read()
        fresh.inspect(quickly=True)

    def switch(self, generation: Generation, *, held: str | None = None, at: str) -> LiveIndex:
        def change(pointer: LivePointer) -> LivePointer:
            ready = self._ready(generation, pointer)
            return pointer.model_copy(update={"live": live_after_switch(pointer.live, ready, held, at)})

        live = self._pointer.change(change).live
        assert live is not None
        return live

    def mend(self, own: Generation) -> list[str]:
        messages: list[str] = []
        live = None
        if damage := _damage(self._check_pointer):
            messages.append(damage)
            self._pointer.forget()
        else:
            live = self.live()
        kept = {POINTER_TABLE} | ({index_name(live.generation.id)} if live else set())
        others = [name for name in self._database.names() if name.startswith(f"{INDEX_NAME}-") and name not in kept]
        checks = {name: partial(self._generation_in, name) for name in others} | {
            index_name(own.id): self.open(own).inspect
        }
        for name, check in checks.items():
            if damage := _damage(check):
                messages.append(damage)
                self._database.drop(name)
        return messages

    def generations(self) -> list[Generation]:
        names = [name for name in self._database.names() if name.startswith(f"{INDEX_NAME}-") and name != POINTER_TABLE]
        generations = [generation for name in names if (generation := self._generation_in(name))]
        return sorted(generations, key=lambda generation: (generation.created_at, generation.id))

    def drop(self, generation_id: str) -> None:
        table = index_name(generation_id)

        # The pointer names the generation first, so that no switch can choose the table while its files are deleted.
        def announce(pointer: LivePointer) -> LivePointer:
            check_droppable(pointer.live, generation_id)
            live = pointer.live and pointer.live.without(generation_id)
            return LivePointer(live=live, dropping=tuple(sorted({*pointer.dropping, generation_id})))

        def conclude(pointer: LivePointer) -> LivePointer:
            still_dropping = tuple(other for other in pointer.dropping if other != generation_id)
            return pointer.model_copy(update={"dropping": still_dropping})

        self._pointer.change(announce)
        self._database.drop(table)
        self._pointer.change(conclude)

    def contents(self) -> list[str]:
        return [name for name in self._database.names() if name == POINTER_TABLE or self._is_ours(name)]

    def clear(self) -> None:
        # the pointer first, so that readers are told that there is no index, and not that a table is missing
        for name in sorted(self.contents(), key=POINTER_TABLE.__ne__):
            self._database.drop(name)

    def _is_ours(self, name: str) -> bool:
        """Whether a table holds a generation, be it damaged."""
        try:
            return name.startswith(f"{INDEX_NAME}-") and self._generation_in(name) is not None
        except IndexDamagedError:
            return True

    def _check_pointer(self) -> None:
        self.live()
        self._pointer.inspect()

    def _generation_in(self, name: str) -> Generation | None:
        table = self._database.table(name)
        generation = generation_of(table.schema) if table is not None else None
        return generation if generation and index_name(generation.id) == name else None

    def _ready(self, generation: Generation, pointer: LivePointer) -> Generation:
        """Return the generation as the metadata of its table records it.

        Raises:
            SearchError: readers would find nothing in it.
        """
        if generation.id in pointer.dropping:
            raise SearchError(f"generation {generation.id} is being dropped; drop it again, then fill it again")
        store = TableStore(self._database, generation)
        table = store.open() if pointer.live else store.open_or_create()
        with self._database.translated_errors("count the entries of"):
            if table is None or (pointer.live and not table.count_rows()):
                raise SearchError(f"generation {generation.id} has no entries; fill it before readers use it")
        return generation_of(table.schema) or generation


def _damage(check: Callable[[], object]) -> str:
    """Return what is damaged, or "". It checks twice, because a writer may remove a file that is being read."""
    for _ in range(2):
        try:
            check()
        except IndexDamagedError as exc:
            damage = str(exc)
        else:
            return ""
    return damage
