"""Conversations in one SQLite file: the default. Any number of service processes on one machine may share it."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from app.conversations import sqlite_rows as rows
from app.conversations.base import ConversationStore
from app.conversations.entries import Addition, Filed, Kind
from app.conversations.paging import Position
from app.conversations.sqlite_file import explained, open_file, transaction
from app.schema import ConversationSummary

Result = TypeVar("Result")

_THREADS = 4


class SQLiteConversations(ConversationStore):
    """A file; every call is one short transaction, in a thread of the store's own."""

    def __init__(self, path: Path) -> None:
        """Say where the file is; it is opened, and made if it is missing, by the first call."""
        self._path = path
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="conversations")
        self._of_thread = threading.local()
        self._open: set[sqlite3.Connection] = set()

    async def close(self) -> None:
        """Let calls end that were begun, then close the file."""
        await asyncio.to_thread(self._pool.shutdown)
        while self._open:
            self._open.pop().close()

    async def _append(self, user_id: str, conversation_id: str, addition: Addition) -> bool:
        return await self._do(lambda file: rows.append(file, user_id, conversation_id, addition))

    async def _read(self, user_id: str, conversation_id: str, kinds: Collection[Kind]) -> rows.Found | None:
        return await self._do(lambda file: rows.read(file, user_id, conversation_id, kinds), write=False)

    async def _find(self, user_id: str, kind: Kind, keys: Sequence[str]) -> list[Filed]:
        return await self._do(lambda file: rows.find(file, user_id, kind, keys), write=False)

    async def _list(self, user_id: str, limit: int, after: Position | None) -> list[ConversationSummary]:
        return await self._do(lambda file: rows.newest(file, user_id, limit, after), write=False)

    async def _rename(self, user_id: str, conversation_id: str, title: str) -> bool:
        return await self._do(lambda file: rows.rename(file, user_id, conversation_id, title))

    async def _delete(self, user_id: str, conversation_id: str) -> bool:
        deleted = await self._do(lambda file: rows.delete(file, user_id, conversation_id))
        await self._empty_log()
        return deleted

    async def _forget(self, user_id: str, conversation_id: str, response_id: str) -> None:
        await self._do(lambda file: rows.forget(file, user_id, conversation_id, response_id))
        await self._empty_log()

    async def _empty_log(self) -> None:
        """What was deleted from the file still stands in its write-ahead log, until that is emptied."""
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
            with explained(self._path):
                return work(file)
        except Exception:
            # opened anew by the next call: the file may have been put right, or replaced, by then
            self._of_thread.file = None
            self._open.discard(file)
            file.close()
            raise
