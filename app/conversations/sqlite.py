"""Conversations in one SQLite file, the default. Any number of service processes on one machine can share it."""

import asyncio
import errno
import json
import os
import shutil
import sqlite3
import threading
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from app.conversations.base import ConversationStore, has_words
from app.conversations.entries import Addition, Entry, Kind, Position, StoredEntry
from app.schema.conversations import ConversationSummary
from kb_pipeline.errors import StorageError, remedy

SCHEMA_VERSION = 1
_BUSY_SECONDS = 10
"""Seconds for other processes' writes, which take milliseconds each."""
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
_DAMAGED = "it is damaged; put a backup in its place, or move it away to begin an empty one"
_LEAST_ROOM = 1_000_000
"""Bytes on its disk; a long conversation is a few hundred thousand."""
_WHOLE_SECONDS = 60.0
"""A file of 100 MB is read in a quarter of a second."""
_ADVICE = {
    sqlite3.SQLITE_BUSY: "another program keeps it locked; close that one, then try again",
    sqlite3.SQLITE_LOCKED: "another program keeps it locked; close that one, then try again",
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_NOTADB: _DAMAGED,
    sqlite3.SQLITE_READONLY: "the service may not write to it; give it the right to, on the file and its folder",
    sqlite3.SQLITE_CANTOPEN: "give the service the right to read and write the file and its folder",
    sqlite3.SQLITE_TOOBIG: "this is too long to be kept; ask something shorter",
}
_PRIMARY_CODE = 0xFF  # SQLite's extended codes have the primary one in their lowest byte


def open_file(path: Path) -> sqlite3.Connection:
    """Open the file, which is created if it is missing, readable by its owner only.

    Deleted text is overwritten in the file.

    Raises:
        StorageError: the file cannot be used, or a newer version of this program created it.
    """
    with translated_errors(path):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _make_private(path)
        connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            _use_wal(connection)
            connection.create_function("has_words", 2, lambda text, words: has_words(text, json.loads(words)))
            for pragma in ("synchronous=FULL", "secure_delete=ON", "foreign_keys=ON", "temp_store=MEMORY"):
                connection.execute(f"PRAGMA {pragma}")
            _ensure_schema(connection, path)
        except BaseException:
            connection.close()
            raise
        return connection


@contextmanager
def translated_errors(path: Path) -> Iterator[None]:
    """Turn failures of SQLite and of the file system into our errors, which say what to do."""
    try:
        yield
    except sqlite3.Error as exc:
        code = getattr(exc, "sqlite_errorcode", 0) & _PRIMARY_CODE
        advice = remedy(exc, _ADVICE.get(code, "see what its file system says, then try again"))
        if path.is_dir():  # SQLite does not say so
            advice = remedy(os.strerror(errno.EISDIR), advice)
        if "decode" in (reason := str(exc)):  # it repeats what a conversation says
            reason, advice = "a text in it is no UTF-8", _DAMAGED
        raise StorageError(f"conversations cannot be kept in {path} ({reason}): {advice}") from exc
    except OSError as exc:
        advice = remedy(exc, "give the service the right to read and write the file and its folder")
        raise StorageError(f"conversations cannot be kept in {path} ({exc}): {advice}") from exc


def _problem_with(place: Path) -> int:
    """Return the number of the error that writing a file in this folder would give, or 0."""
    if not place.is_dir():
        return errno.ENOTDIR
    if os.statvfs(place).f_flag & os.ST_RDONLY:
        return errno.EROFS
    if not os.access(place, os.W_OK | os.X_OK):
        return errno.EACCES
    return errno.ENOSPC if shutil.disk_usage(place).free < _LEAST_ROOM else 0


@contextmanager
def transaction(connection: sqlite3.Connection, *, write: bool) -> Iterator[sqlite3.Connection]:
    """Commit everything or nothing. A writer waits for other writers at the beginning, before it has read anything."""
    connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
    try:
        yield connection
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _make_private(path: Path) -> None:
    """Create the file if it is missing. An existing file must not be opened outside of SQLite.

    Closing it would release all locks that this process has on it (https://sqlite.org/howtocorrupt.html, 2.2).
    """
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))


def _use_wal(connection: sqlite3.Connection) -> None:
    """Let readers and a writer work at once. SQLite does not wait for other processes that switch too, so we do."""
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
                f"{path} was created by a newer version of this program (its schema is {version}, this version "
                f"supports {SCHEMA_VERSION}): install that version again, or move the file away to begin an empty one"
            )
        if version == 0:
            if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                raise StorageError(f"{path} is the database of another program; move it away to begin an empty one")
            for statement in filter(str.strip, _SCHEMA.split(";")):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


Row = tuple[str, str, str, str, int]
StoredConversation = tuple[ConversationSummary, list[Entry]]

_MAKE = """
INSERT INTO conversations (user_id, id, title, created_at, updated_at, turns)
VALUES (:user, :conversation, :title, :at, :at, 0) ON CONFLICT DO NOTHING
"""
_CONTINUE = """
UPDATE conversations SET turns = turns + :questions, updated_at = max(updated_at, coalesce(:at, ''))
WHERE user_id = :user AND id = :conversation
"""
_ADD = """
INSERT INTO entries (user_id, conversation_id, kind, key, response_id, body, at) VALUES (?, ?, ?, ?, ?, ?, ?)
"""
_HEAD = """
SELECT id, title, created_at, updated_at, turns FROM conversations WHERE user_id = ? AND id = ?
"""
_ENTRIES = """
SELECT kind, key, response_id, body, at FROM entries
WHERE user_id = ? AND conversation_id = ? AND kind IN (SELECT value FROM json_each(?)) ORDER BY place
"""
_BY_KEY = """
SELECT conversation_id, kind, key, response_id, body, at FROM entries
WHERE user_id = ? AND kind = ? AND key IN (SELECT value FROM json_each(?)) ORDER BY place
"""
_OF_ANYBODY = """
SELECT users.user_id, conversation_id, kind, key, response_id, body, at
FROM (SELECT DISTINCT user_id FROM conversations) AS users CROSS JOIN entries ON entries.user_id = users.user_id
WHERE kind = ? AND key = ? ORDER BY place
"""  # users first, one by one: the index of keys begins with them
_SINCE = """
SELECT kind, key, response_id, body, at FROM entries
WHERE at >= :at AND kind IN (SELECT value FROM json_each(:kinds)) AND user_id = coalesce(:user, user_id) ORDER BY place
"""
_EACH_SINCE = """
SELECT kind, key, response_id, body, at, place FROM entries
WHERE place > :after AND at >= :at AND kind IN (SELECT value FROM json_each(:kinds)) ORDER BY place LIMIT :most
"""
_NEWEST = """
SELECT id, title, created_at, updated_at, turns FROM conversations
WHERE user_id = :user {further} ORDER BY updated_at DESC, id DESC LIMIT :limit
"""
_AFTER = "AND (updated_at, id) < (:updated_at, :id)"
_CONTAINING = """
AND (has_words(title, :words) OR EXISTS (
    SELECT 1 FROM entries
    WHERE entries.user_id = :user AND conversation_id = conversations.id AND kind = 'question'
    AND has_words(json_extract(body, '$.question'), :words)
))
"""
_ALL_BODIES = "SELECT body, json_valid(body) FROM entries"  # those that are no UTF-8 cannot be read at all
_RENAME = "UPDATE conversations SET title = ? WHERE user_id = ? AND id = ?"
_DELETE = "DELETE FROM conversations WHERE user_id = ? AND id = ?"  # and its entries with it
_DELETE_ALL = "DELETE FROM conversations"
_COUNT = "SELECT count(*) FROM conversations"
_COUNT_LESS = """
UPDATE conversations SET turns = turns - (
    SELECT count(*) FROM entries
    WHERE user_id = :user AND conversation_id = :conversation AND response_id = :response AND kind = 'question'
) WHERE user_id = :user AND id = :conversation
"""
_FORGET = """
DELETE FROM entries WHERE user_id = :user AND conversation_id = :conversation AND response_id = :response
"""


Result = TypeVar("Result")

_AT_ONCE = 500
"""Entries that are read at once: an answer with its passages has some ten thousand characters."""
_THREADS = 4
"""Readers; SQLite has one writer at a time anyway."""


class SQLiteConversations(ConversationStore):
    """Conversations in one file. Every call is one short transaction, in a thread of the store's own pool."""

    def __init__(self, path: Path) -> None:
        """The first call opens the file, and creates it if it is missing."""
        self._path = path
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="conversations")
        self._of_thread = threading.local()
        self._open: set[sqlite3.Connection] = set()
        self._found_whole_at = float("-inf")

    async def close(self) -> None:
        """Wait for running calls, then close the file."""
        await asyncio.to_thread(self._pool.shutdown)
        while self._open:
            self._open.pop().close()

    async def probe(self) -> None:
        """Whether the file may be written to, each time; whether all of it can be read, at most once a minute.

        Before the first conversation there is no file, and none is made.
        """
        with translated_errors(self._path):
            if problem := _problem_with(next(folder for folder in self._path.parents if folder.exists())):
                raise OSError(problem, os.strerror(problem))
        if not self._path.exists():
            return
        now = time.monotonic()
        reads_all = now - self._found_whole_at >= _WHOLE_SECONDS
        await asyncio.get_running_loop().run_in_executor(self._pool, _look_at, self._path, reads_all)
        if reads_all:
            self._found_whole_at = now

    async def count(self) -> int:
        if not self._path.exists():
            return 0  # and the file is not made
        return await self._do(lambda file: int(file.execute(_COUNT).fetchone()[0]), write=False)

    async def clear(self) -> None:
        if self._path.exists():
            await self._do(lambda file: file.execute(_DELETE_ALL).rowcount)
            await self._empty_log()

    async def _append(self, user_id: str, conversation_id: str, addition: Addition) -> bool:
        change = {
            "user": user_id,
            "conversation": conversation_id,
            "title": addition.title,
            "at": addition.active_at,
            "questions": addition.questions,
        }
        rows = [(user_id, conversation_id, e.kind, e.key, e.response_id, e.body, e.at) for e in addition.entries]

        def append(file: sqlite3.Connection) -> bool:
            if addition.title is not None:
                file.execute(_MAKE, change)
            if not file.execute(_CONTINUE, change).rowcount:
                return False
            file.executemany(_ADD, rows)
            return True

        return await self._do(append)

    async def _read(self, user_id: str, conversation_id: str, kinds: Collection[Kind]) -> StoredConversation | None:
        def read(file: sqlite3.Connection) -> StoredConversation | None:
            head = file.execute(_HEAD, (user_id, conversation_id)).fetchone()
            if head is None:
                return None
            rows = file.execute(_ENTRIES, (user_id, conversation_id, json.dumps(sorted(kinds))))
            return _summary(head), [Entry(*row) for row in rows]

        return await self._do(read, write=False)

    async def _find(self, user_id: str, kind: Kind, keys: Sequence[str]) -> list[StoredEntry]:
        def find(file: sqlite3.Connection) -> list[StoredEntry]:
            rows = file.execute(_BY_KEY, (user_id, kind, json.dumps(keys)))
            return [StoredEntry(row[0], Entry(*row[1:])) for row in rows]

        return await self._do(find, write=False)

    async def _of_anybody(self, kind: Kind, key: str) -> list[tuple[str, StoredEntry]]:
        def find(file: sqlite3.Connection) -> list[tuple[str, StoredEntry]]:
            rows = file.execute(_OF_ANYBODY, (kind, key))
            return [(row[0], StoredEntry(row[1], Entry(*row[2:]))) for row in rows]

        return await self._do(find, write=False)

    async def _since(self, at: str, kinds: Collection[Kind], user_id: str | None) -> list[Entry]:
        values = {"at": at, "kinds": json.dumps(sorted(kinds)), "user": user_id}

        def read(file: sqlite3.Connection) -> list[Entry]:
            return [Entry(*row) for row in file.execute(_SINCE, values)]

        return await self._do(read, write=False)

    async def each_since(self, at: str, kinds: Collection[Kind]) -> AsyncIterator[Sequence[Entry]]:
        values = {"at": at, "kinds": json.dumps(sorted(kinds)), "after": 0, "most": _AT_ONCE}

        def read(file: sqlite3.Connection) -> list[tuple[Any, ...]]:
            return file.execute(_EACH_SINCE, values).fetchall()

        # one transaction for each part, so that no writer's log grows meanwhile
        while self._path.exists() and (rows := await self._do(read, write=False)):
            yield [Entry(*row[:-1]) for row in rows]
            values["after"] = rows[-1][-1]

    async def _list(
        self, user_id: str, limit: int, after: Position | None, words: Sequence[str]
    ) -> list[ConversationSummary]:
        values = {"user": user_id, "limit": limit, "words": json.dumps(words)} | (after._asdict() if after else {})
        query = _NEWEST.format(further=(_AFTER if after else "") + (_CONTAINING if words else ""))
        return await self._do(lambda file: list(map(_summary, file.execute(query, values))), write=False)

    async def _rename(self, user_id: str, conversation_id: str, title: str) -> bool:
        return await self._do(lambda file: file.execute(_RENAME, (title, user_id, conversation_id)).rowcount > 0)

    async def _delete(self, user_id: str, conversation_id: str) -> bool:
        deleted = await self._do(lambda file: file.execute(_DELETE, (user_id, conversation_id)).rowcount > 0)
        await self._empty_log()
        return deleted

    async def _forget(self, user_id: str, conversation_id: str, response_id: str) -> None:
        values = {"user": user_id, "conversation": conversation_id, "response": response_id}

        def forget(file: sqlite3.Connection) -> None:
            file.execute(_COUNT_LESS, values)
            file.execute(_FORGET, values)

        await self._do(forget)
        await self._empty_log()

    async def _empty_log(self) -> None:
        """Empty the write-ahead log, which still contains what was deleted from the file."""
        await self._run(lambda file: file.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone())

    async def _do(self, work: Callable[[sqlite3.Connection], Result], *, write: bool = True) -> Result:
        def within(file: sqlite3.Connection) -> Result:
            with transaction(file, write=write):
                return work(file)

        return await self._run(within)

    async def _run(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._in_thread, work)

    def _in_thread(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        file: sqlite3.Connection | None = getattr(self._of_thread, "file", None)
        if file is None:
            file = self._of_thread.file = open_file(self._path)
            self._open.add(file)
        try:
            with translated_errors(self._path):
                return work(file)
        except Exception:
            # the next call opens the file again: it may have been repaired or replaced by then
            self._of_thread.file = None
            self._open.discard(file)
            file.close()
            raise


def _look_at(path: Path, reads_all: bool) -> None:
    """Open the file anew, because an open connection remembers pages; begin to write, and perhaps read all of it."""
    with closing(open_file(path)) as file, translated_errors(path), transaction(file, write=True):
        if reads_all:
            (found,) = file.execute("PRAGMA quick_check(1)").fetchone()
            if found == "ok" and not all(is_valid for _, is_valid in file.execute(_ALL_BODIES)):
                found = "an entry in it is no JSON"
            if found != "ok":
                raise StorageError(f"conversations cannot be kept in {path} ({' '.join(found.split())}): {_DAMAGED}")


def _summary(row: Row) -> ConversationSummary:
    conversation_id, title, created_at, updated_at, turns = row
    return ConversationSummary(
        id=conversation_id, title=title, created_at=created_at, updated_at=updated_at, turns=turns
    )
