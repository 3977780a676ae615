"""A file of SQLite below ``KB_HOME`` that can be done without: it is made anew if it is removed."""

import sqlite3
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kb_pipeline.errors import StorageError, remedy


class SqliteFile:
    """It may be used by several threads; one process at a time writes. ``advice`` is for a file that is damaged."""

    def __init__(self, path: Path, tables: str, advice: str) -> None:
        self._path, self._advice = path, advice
        self._lock = threading.RLock()
        with self._translated_errors():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=60)
            weakref.finalize(self, self._db.close)
            for command in ("journal_mode = WAL", "synchronous = NORMAL", "foreign_keys = ON"):
                self._db.execute(f"PRAGMA {command}")
            self._db.executescript(tables)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    @contextmanager
    def transaction(self, *, keep: bool = True) -> Iterator[None]:
        """What is written inside is stored as one, or not at all with ``keep=False`` or after an error."""
        with self._lock, self._translated_errors():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT" if keep else "ROLLBACK")

    def _rows(self, query: str, *values: object) -> list[tuple]:  # type: ignore[type-arg]
        with self._lock, self._translated_errors():
            return self._db.execute(query, values).fetchall()

    def _change(self, query: str, *values: object) -> None:
        self._rows(query, *values)

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error) as exc:
            raise StorageError(f"cannot use {self._path}: {exc}; {remedy(exc, self._advice)}") from exc
