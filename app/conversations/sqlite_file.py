"""The SQLite file of conversations: made, opened, checked, and its failures put into words. Not here: its rows."""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from kb_pipeline.errors import StorageError, remedy

SCHEMA_VERSION = 1
_BUSY_SECONDS = 10
_SCHEMA = """
CREATE TABLE conversations (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    title TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    turns INTEGER NOT NULL,
    PRIMARY KEY (user_id, id)
) WITHOUT ROWID;
CREATE INDEX newest ON conversations (user_id, updated_at DESC, id DESC);
CREATE TABLE entries (
    place INTEGER PRIMARY KEY,
    user_id TEXT NOT NULL,
    conversation_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    response_id TEXT NOT NULL,
    at TEXT NOT NULL,
    body TEXT NOT NULL,
    FOREIGN KEY (user_id, conversation_id) REFERENCES conversations ON DELETE CASCADE
);
CREATE INDEX of_conversation ON entries (user_id, conversation_id, kind);
CREATE INDEX by_key ON entries (user_id, kind, key);
"""
_ADVICE = {
    sqlite3.SQLITE_BUSY: "another program keeps it locked; close that one, then try again",
    sqlite3.SQLITE_LOCKED: "another program keeps it locked; close that one, then try again",
    sqlite3.SQLITE_CORRUPT: "it is damaged; put a backup in its place, or move it away to begin an empty one",
    sqlite3.SQLITE_NOTADB: "it is damaged; put a backup in its place, or move it away to begin an empty one",
    sqlite3.SQLITE_READONLY: "the service may not write to it; give it the right to, on the file and its folder",
    sqlite3.SQLITE_CANTOPEN: "give the service the right to read and write the file and its folder",
    sqlite3.SQLITE_TOOBIG: "this is too long to be kept; ask something shorter",
}
_PRIMARY_CODE = 0xFF


def open_file(path: Path) -> sqlite3.Connection:
    """A connection to the file, which is made if it is missing, readable by its owner only.

    Deleted text is overwritten, not only unlinked.

    Raises:
        StorageError: it cannot be used, or a newer version of this program made it.
    """
    with explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        _make_private(path)
        connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            _use_wal(connection)
            for pragma in ("synchronous=FULL", "secure_delete=ON", "foreign_keys=ON", "temp_store=MEMORY"):
                connection.execute(f"PRAGMA {pragma}")
            _ensure_schema(connection, path)
        except BaseException:
            connection.close()
            raise
        return connection


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Failures of SQLite and of the file system become ours, with what to do."""
    try:
        yield
    except sqlite3.Error as exc:
        code = getattr(exc, "sqlite_errorcode", 0) & _PRIMARY_CODE
        advice = remedy(exc, _ADVICE.get(code, "see what its file system says, then try again"))
        raise StorageError(f"conversations cannot be kept in {path} ({exc}): {advice}") from exc
    except OSError as exc:
        advice = remedy(exc, "give the service the right to read and write the file and its folder")
        raise StorageError(f"conversations cannot be kept in {path} ({exc}): {advice}") from exc


@contextmanager
def transaction(connection: sqlite3.Connection, *, write: bool) -> Iterator[sqlite3.Connection]:
    """All of it or nothing. A writer waits its turn at the beginning, where waiting can still help."""
    connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
    try:
        yield connection
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _make_private(path: Path) -> None:
    """Make the file, if it is missing. One that is there must not even be opened past SQLite.

    Closing it again would let go of all locks that this process has on it (https://sqlite.org/howtocorrupt.html, 2.2).
    """
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))


def _use_wal(connection: sqlite3.Connection) -> None:
    """Readers and a writer at once. The switch does not wait for other processes that do the same, so we do."""
    give_up = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as exc:
            if exc.sqlite_errorcode & _PRIMARY_CODE != sqlite3.SQLITE_BUSY or time.monotonic() > give_up:
                raise
            time.sleep(0.02)


def _ensure_schema(connection: sqlite3.Connection, path: Path) -> None:
    if _version(connection) == SCHEMA_VERSION:
        return
    with transaction(connection, write=True):
        version = _version(connection)
        if version > SCHEMA_VERSION:
            raise StorageError(
                f"{path} was made by a newer version of this program (its schema is {version}, this one knows "
                f"{SCHEMA_VERSION}): install that version again, or move the file away to begin an empty one"
            )
        if version == 0:
            if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                raise StorageError(f"{path} is the database of another program; move it away to begin an empty one")
            for statement in filter(str.strip, _SCHEMA.split(";")):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
