"""Which generation is live: one row in a LanceDB table, changed by compare and swap.

LanceDB commits an update as a whole or not at all, and runs it again on the newest version when another writer was
faster. An update that asks for the revision it was made from therefore changes the row only if nobody else did.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pyarrow as pa
from pydantic import ValidationError

from kb_pipeline.errors import IndexMismatchError
from kb_pipeline.records import Record
from kb_pipeline.search.base import INDEX_NAME
from kb_pipeline.search.catalog import POINTER, LiveIndex
from kb_pipeline.search.lancedb_database import Database

if TYPE_CHECKING:
    from lancedb.table import LanceTable

POINTER_TABLE = f"{INDEX_NAME}-{POINTER}"
_SCHEMA = pa.schema([pa.field("revision", pa.int64()), pa.field("pointer", pa.string())])


class Pointer(Record):
    """What the row says: the live index, and the generations that somebody is about to drop."""

    live: LiveIndex | None = None
    dropping: tuple[str, ...] = ()


Change = Callable[[Pointer], Pointer]


class PointerTable:
    """The table ``kb-articles-live``, made by the first change."""

    def __init__(self, database: Database) -> None:
        """Say where it is; nothing is read or made yet."""
        self._database = database

    def read(self) -> Pointer:
        """The pointer as it is now.

        Raises:
            IndexMismatchError: the table is of another program.
        """
        return self._read()[1]

    def change(self, change: Change) -> Pointer:
        """Replace the pointer by what ``change`` makes of it, in one step; called again when others were faster."""
        return self._database.retrying("change its live generation", lambda: self._change(change))

    def _change(self, change: Change) -> Pointer:
        revision, before = self._read()
        after = change(before)
        if after != before and not self._swap(revision, after):
            raise RuntimeError("concurrent changes of the live generation")
        return after

    def _read(self) -> tuple[int, Pointer]:
        table = self._database.table(POINTER_TABLE)
        if table is None:
            return 0, Pointer()
        if not table.schema.equals(_SCHEMA):
            raise self._mismatch("the data of another program")
        with self._database.explaining("read its live generation"):
            (row,) = table.take_offsets([0]).to_list()
        try:
            return row["revision"], Pointer.model_validate_json(row["pointer"])
        except ValidationError as exc:
            raise self._mismatch(f"what this version cannot read: {row['pointer']}") from exc

    def _swap(self, revision: int, after: Pointer) -> bool:
        table = self._database.table_or(POINTER_TABLE, self._create)
        values = {"revision": revision + 1, "pointer": after.model_dump_json()}
        return bool(table.update(where=f"revision = {revision}", values=values).rows_updated)

    def _create(self) -> "LanceTable":
        nothing = [{"revision": 0, "pointer": Pointer().model_dump_json()}]
        return self._database.connection.create_table(POINTER_TABLE, pa.Table.from_pylist(nothing, _SCHEMA))

    def _mismatch(self, holds: str) -> IndexMismatchError:
        return IndexMismatchError(
            f"the table {POINTER_TABLE} at {self._database.uri} holds {holds}; choose another KB_INDEX_URI, "
            "or remove that table and switch again"
        )
