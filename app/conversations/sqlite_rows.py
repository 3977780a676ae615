"""What is read and written in a transaction on the SQLite file of conversations: every statement there is."""

import json
import sqlite3
from collections.abc import Collection, Sequence

from app.conversations.entries import Addition, Entry, Filed, Kind
from app.conversations.paging import Position
from app.schema import ConversationSummary

Row = tuple[str, str, str, str, int]
Found = tuple[ConversationSummary, list[Entry]]

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
_NEWEST = """
SELECT id, title, created_at, updated_at, turns FROM conversations
WHERE user_id = ? ORDER BY updated_at DESC, id DESC LIMIT ?
"""
_NEWEST_AFTER = """
SELECT id, title, created_at, updated_at, turns FROM conversations
WHERE user_id = ? AND (updated_at, id) < (?, ?) ORDER BY updated_at DESC, id DESC LIMIT ?
"""
_RENAME = "UPDATE conversations SET title = ? WHERE user_id = ? AND id = ?"
_DELETE = "DELETE FROM conversations WHERE user_id = ? AND id = ?"  # and its entries with it
_COUNT_LESS = """
UPDATE conversations SET turns = turns - (
    SELECT count(*) FROM entries
    WHERE user_id = :user AND conversation_id = :conversation AND response_id = :response AND kind = 'question'
) WHERE user_id = :user AND id = :conversation
"""
_FORGET = """
DELETE FROM entries WHERE user_id = :user AND conversation_id = :conversation AND response_id = :response
"""


def append(file: sqlite3.Connection, user: str, conversation: str, addition: Addition) -> bool:
    """Add; ``False``: the conversation is missing and may not be made."""
    change = {
        "user": user,
        "conversation": conversation,
        "title": addition.title,
        "at": addition.active_at,
        "questions": addition.questions,
    }
    if addition.title is not None:
        file.execute(_MAKE, change)
    if not file.execute(_CONTINUE, change).rowcount:
        return False
    said = addition.entries
    file.executemany(_ADD, [(user, conversation, e.kind, e.key, e.response_id, e.body, e.at) for e in said])
    return True


def read(file: sqlite3.Connection, user: str, conversation: str, kinds: Collection[Kind]) -> Found | None:
    """A conversation and its entries of these kinds."""
    head = file.execute(_HEAD, (user, conversation)).fetchone()
    if head is None:
        return None
    rows = file.execute(_ENTRIES, (user, conversation, json.dumps(sorted(kinds))))
    return _summary(head), [Entry(*row) for row in rows]


def find(file: sqlite3.Connection, user: str, kind: Kind, keys: Sequence[str]) -> list[Filed]:
    """Entries by key."""
    rows = file.execute(_BY_KEY, (user, kind, json.dumps(keys)))
    return [Filed(row[0], Entry(*row[1:])) for row in rows]


def newest(file: sqlite3.Connection, user: str, limit: int, after: Position | None) -> list[ConversationSummary]:
    """Conversations behind a position."""
    if after is None:
        return list(map(_summary, file.execute(_NEWEST, (user, limit))))
    return list(map(_summary, file.execute(_NEWEST_AFTER, (user, *after, limit))))


def rename(file: sqlite3.Connection, user: str, conversation: str, title: str) -> bool:
    """Change the title; ``False``: there is no such conversation."""
    return file.execute(_RENAME, (title, user, conversation)).rowcount > 0


def delete(file: sqlite3.Connection, user: str, conversation: str) -> bool:
    """Remove a conversation and its entries; ``False``: there is no such conversation."""
    return file.execute(_DELETE, (user, conversation)).rowcount > 0


def forget(file: sqlite3.Connection, user: str, conversation: str, response: str) -> None:
    """Remove a response's entries."""
    whose = {"user": user, "conversation": conversation, "response": response}
    file.execute(_COUNT_LESS, whose)
    file.execute(_FORGET, whose)


def _summary(row: Row) -> ConversationSummary:
    conversation_id, title, created_at, updated_at, turns = row
    return ConversationSummary(
        id=conversation_id, title=title, created_at=created_at, updated_at=updated_at, turns=turns
    )
