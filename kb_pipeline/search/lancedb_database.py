"""The LanceDB database that holds the tables: reaching it, and living with other writers.

Not here: what any of its tables means.
"""

import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from kb_pipeline.errors import SearchError, remedy

if TYPE_CHECKING:
    from lancedb.db import LanceDBConnection
    from lancedb.table import LanceTable

_ATTEMPTS = 12
_LONGEST_PAUSE = 2.0
_SDK_ERRORS = (RuntimeError, OSError, ValueError)
_CONFLICTS = ("conflict", "concurrent", "already exists")

T = TypeVar("T")


class Database:
    """A folder, or ``az://container/path`` with its ``storage_options``."""

    def __init__(self, uri: str, storage_options: Mapping[str, str] | None = None) -> None:
        """Name the place; nothing is read or made yet."""
        self.uri = uri
        self.storage_options = dict(storage_options or {})

    @cached_property
    def connection(self) -> "LanceDBConnection":
        """LanceDB's own handle."""
        import lancedb

        return cast("LanceDBConnection", lancedb.connect(self.uri, storage_options=self.storage_options or None))

    def table(self, name: str) -> "LanceTable | None":
        """The newest version of a table, fixed for as long as the handle is used; ``None`` if there is none."""
        with self.explaining(f"open its table {name}"):
            try:
                return self.connection.open_table(name)
            except ValueError as exc:  # LanceDB has no exception of its own for this
                if "not found" not in str(exc):
                    raise
                return None

    def table_or(self, name: str, make: Callable[[], "LanceTable"]) -> "LanceTable":
        """The table, made if it is missing.

        LanceDB first looks whether there is one, and then overwrites what somebody else made in the meantime: so in a
        folder one process makes tables at a time. Object storage knows no such lock; let one machine publish first.
        """
        found = self.table(name)
        if found is None:
            with self._making():
                found = self.table(name)
                return make() if found is None else found  # an empty table is false
        return found

    def names(self) -> Iterator[str]:
        """Names of all tables, also of those that cannot be opened."""
        page = None
        with self.explaining("list its tables"):
            while True:
                listed = self.connection.list_tables(page_token=page)
                yield from listed.tables
                page = listed.page_token
                if not page:
                    return

    def drop(self, name: str) -> None:
        """Remove a table, whoever made it."""
        with self.explaining(f"drop its table {name}"):
            self.connection.drop_table(name, ignore_missing=True)

    def retrying(self, action: str, work: Callable[[], T]) -> T:
        """Do the work; again, after random pauses of growing length, while another writer was faster."""
        with self.explaining(action):
            for attempt in range(_ATTEMPTS - 1):
                try:
                    return work()
                except _SDK_ERRORS as exc:
                    if not any(word in str(exc).lower() for word in _CONFLICTS):
                        raise
                time.sleep(random.uniform(0, min(_LONGEST_PAUSE, 0.05 * 2**attempt)))  # noqa: S311
            return work()

    def _making(self) -> AbstractContextManager[object]:
        from filelock import FileLock

        self.connection  # noqa: B018 - makes the folder
        return nullcontext() if "://" in self.uri else FileLock(Path(self.uri) / ".making.lock")

    @contextmanager
    def explaining(self, action: str) -> Iterator[None]:
        """Wrap LanceDB's errors in ours."""
        try:
            yield
        except _SDK_ERRORS as exc:
            raise SearchError(f"the search index at {self.uri} could not {action}: {_explained(exc)}") from exc


def _explained(exc: Exception) -> str:
    # an error of Lance ends with the place in its source, which helps nobody here
    return remedy(exc, "") or str(exc)
