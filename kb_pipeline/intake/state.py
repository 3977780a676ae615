"""What was made of which item of a source, in a file of SQLite below ``KB_HOME/intake``, with flat memory.

An item keeps its row, and so its article's id, also when it is gone. The row says what was made last; whether that is
what is listed now follows from comparing.
"""

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

from kb_pipeline.intake.base import Item, Unused
from kb_pipeline.records import Record
from kb_pipeline.steps.fingerprint import fingerprint
from kb_pipeline.store.sqlite_file import SqliteFile

Outcome = Literal["", "article", "left out", "gone"]
"""What became of an item; "" if it was never fetched."""

_TABLES = """
CREATE TABLE IF NOT EXISTS items (
    item TEXT PRIMARY KEY, article_id TEXT NOT NULL UNIQUE, listed INTEGER NOT NULL, listing TEXT NOT NULL,
    made TEXT NOT NULL DEFAULT '', outcome TEXT NOT NULL DEFAULT '', note TEXT NOT NULL DEFAULT '',
    parts TEXT NOT NULL DEFAULT '{}'
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS unused (
    item TEXT PRIMARY KEY, listed INTEGER NOT NULL, reason TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS runs (number INTEGER PRIMARY KEY, at TEXT NOT NULL, summary TEXT NOT NULL DEFAULT '');
"""
_AT_A_TIME = 500
"""Rows that are read at a time: memory stays flat, and nobody waits for the lock."""
_LINKS = 50_000
"""Items whose articles are remembered: navigation leads to the same pages from every page."""


class ListedItem(NamedTuple):
    """An item as it was listed last, and what was made of it.

    ``made`` is the token of what was listed then; ``note`` why it was left out, or why its newest version is not taken.
    """

    item: Item
    article_id: str
    made: str
    outcome: Outcome
    note: str
    parts: Mapping[str, str]


class Counts(Record):
    """How many articles of a source are staged, and how many items are in trouble."""

    articles: int
    refused: int


class WhyLeftOut(Record):
    """Why items are no articles: how many, and one of them by its title, or else its id."""

    reason: str
    count: int
    example: str


class IntakeState(SqliteFile):
    """The state of one source."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, _TABLES, "remove it, and run this again: what is staged is recognised")
        self.article_of = lru_cache(_LINKS)(self.known_id)

    def is_empty(self) -> bool:
        """Whether nothing was ever listed."""
        return self._one("SELECT NOT EXISTS (SELECT 1 FROM items)") == 1

    def begin(self, at: str) -> int:
        """The number of a new run."""
        return int(self._one("INSERT INTO runs (at) VALUES (?) RETURNING number", at))

    def end(self, run: int, summary: str) -> None:
        """Record how a run ended, and forget those long ago."""
        self._change("UPDATE runs SET summary = ? WHERE number = ?", summary, run)
        self._change("DELETE FROM runs WHERE number <= ?", run - 100)

    def last_run(self) -> tuple[str, str] | None:
        """When the last run that ended began, and its summary."""
        rows = self._rows("SELECT at, summary FROM runs WHERE summary <> '' ORDER BY number DESC LIMIT 1")
        return rows[0] if rows else None

    def is_taken(self, article_id: str) -> bool:
        """Whether an item has this article."""
        return self._one("SELECT EXISTS (SELECT 1 FROM items WHERE article_id = ?)", article_id) == 1

    def list_item(self, item: Item, article_id: str, run: int) -> None:
        """Record that an item was listed; one that has an article's id keeps it."""
        self._change(
            "INSERT INTO items (item, article_id, listed, listing) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (item) DO UPDATE SET listed = excluded.listed, listing = excluded.listing",
            item.id, article_id, run, item.model_dump_json(),
        )  # fmt: skip

    def list_unused(self, item: Unused, run: int) -> None:
        """Record that a file was listed that becomes no article."""
        self._change("INSERT OR REPLACE INTO unused (item, listed, reason) VALUES (?, ?, ?)", item.id, run, item.reason)

    def why_left_out(self) -> tuple[WhyLeftOut, ...]:
        """Why items and files are no articles, and are shown by none; what is said of most comes first."""
        rows = self._rows(
            "SELECT reason, count(*), min(item), name FROM ("  # the name is that of the least item
            "SELECT note AS reason, item, coalesce(nullif(json_extract(listing, '$.title'), ''), item) AS name "
            "FROM items WHERE outcome = 'left out' UNION ALL "
            "SELECT reason, item, item FROM unused WHERE item NOT IN "
            "(SELECT part.key FROM items, json_each(items.parts) AS part WHERE outcome = 'article')"
            ") GROUP BY reason ORDER BY count(*) DESC, reason"
        )
        return tuple(WhyLeftOut(reason=reason, count=count, example=example) for reason, count, _, example in rows)

    def adopt(self, item: Item, article_id: str) -> None:
        """Record an article that is staged already, of which nothing else is known."""
        self.list_item(item, article_id, 0)
        self._change("UPDATE items SET outcome = 'article' WHERE item = ?", item.id)

    def listed(self, run: int) -> Iterator[ListedItem]:
        """The items that this run listed, in order."""
        yield from self._each(f"{_ROW} WHERE item > ? AND listed = ? ORDER BY item LIMIT {_AT_A_TIME}", run)

    def not_listed(self, run: int) -> Iterator[ListedItem]:
        """The items with articles that this run did not list, in order."""
        yield from self._each(
            f"{_ROW} WHERE item > ? AND listed <> ? AND outcome = 'article' ORDER BY item LIMIT {_AT_A_TIME}", run
        )

    def in_trouble(self) -> Iterator[ListedItem]:
        """The items whose newest version is not taken, in order."""
        yield from self._each(
            f"{_ROW} WHERE item > ? AND outcome <> ? AND note <> '' AND outcome <> 'left out' ORDER BY item "
            f"LIMIT {_AT_A_TIME}",
            "gone",
        )

    def made(self, row: ListedItem, outcome: Outcome, note: str = "", parts: Mapping[str, str] | None = None) -> None:
        """Record what was made of an item as it was listed."""
        self._change(
            "UPDATE items SET made = ?, outcome = ?, note = ?, parts = ? WHERE item = ?",
            "" if outcome == "gone" else row.made, outcome, note, json.dumps(parts or {}), row.item.id,
        )  # fmt: skip

    def failed(self, row: ListedItem, reason: str) -> None:
        """Record why the newest version of an item is not taken; the next run tries again."""
        self._change("UPDATE items SET made = '', note = ? WHERE item = ?", reason, row.item.id)

    def forget_unlisted(self, run: int) -> None:
        """Forget what was said of items without an article that this run did not list; they keep their ids."""
        self._change(
            "UPDATE items SET made = '', outcome = 'gone', note = '' WHERE listed <> ? AND outcome <> 'article'", run
        )
        self._change("DELETE FROM unused WHERE listed <> ?", run)

    def counts(self) -> Counts:
        """How many articles there are, and how many items are in trouble."""
        articles, refused = self._rows(
            "SELECT count(*) FILTER (WHERE outcome = 'article'), "
            "count(*) FILTER (WHERE note <> '' AND outcome IN ('', 'article')) FROM items"
        )[0]
        return Counts(articles=articles, refused=refused)

    def known_id(self, item_id: str) -> str | None:
        """The id of the article that an item has already."""
        rows = self._rows("SELECT article_id FROM items WHERE item = ?", item_id)
        return str(rows[0][0]) if rows else None

    def _each(self, query: str, value: object) -> Iterator[ListedItem]:
        last = ""
        while found := self._rows(query, last, value):
            yield from map(_row, found)
            last = found[-1][0]

    def _one(self, query: str, *values: object) -> int:
        return int(self._rows(query, *values)[0][0])


_ROW = "SELECT item, article_id, listing, made, outcome, note, parts FROM items"


def _row(found: tuple) -> ListedItem:  # type: ignore[type-arg]
    _, article_id, listing, made, outcome, note, parts = found
    return ListedItem(Item.model_validate_json(listing), article_id, made, outcome, note, json.loads(parts))


def token_of(item: Item, made_by: str) -> str:
    """What an article is made from: it changes with all that the source lists of the item, and with the code."""
    return fingerprint(made_by, item.model_dump(mode="json"))
