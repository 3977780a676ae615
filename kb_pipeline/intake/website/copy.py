"""The copy of a site below ``KB_HOME``: what was answered for each address last, in a file of SQLite, and the contents
as files named by their hashes. A killed crawl goes on where it was; contents come before the rows that name them.
"""

import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

from upath import UPath

from kb_pipeline.intake.website.page import PageFacts
from kb_pipeline.steps.fingerprint import sha256
from kb_pipeline.store.files import write_bytes
from kb_pipeline.store.sqlite_file import SqliteFile

Kind = Literal["", "page", "document", "picture"]
"""What is at an address; "" if nothing that is taken in."""
Role = Literal["page", "picture"]
"""What an address is named as: a link to a page or document, or the address of a picture."""

_TABLES = """
CREATE TABLE IF NOT EXISTS things (
    address TEXT PRIMARY KEY, as_page INTEGER NOT NULL DEFAULT 0, as_picture INTEGER NOT NULL DEFAULT 0,
    asked INTEGER NOT NULL DEFAULT 0, kind TEXT NOT NULL DEFAULT '', digest TEXT NOT NULL DEFAULT '',
    etag TEXT NOT NULL DEFAULT '', modified TEXT NOT NULL DEFAULT '', charset TEXT NOT NULL DEFAULT '',
    leads_to TEXT NOT NULL DEFAULT '', problem TEXT NOT NULL DEFAULT '', facts TEXT NOT NULL DEFAULT '',
    canonical TEXT NOT NULL DEFAULT '', verdict TEXT NOT NULL DEFAULT '', is_item INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS pages ON things (as_page, asked);
CREATE INDEX IF NOT EXISTS pictures ON things (as_picture, asked);
CREATE TABLE IF NOT EXISTS crawls (
    number INTEGER PRIMARY KEY, began REAL NOT NULL, options TEXT NOT NULL, reader TEXT NOT NULL,
    ended INTEGER NOT NULL DEFAULT 0
);
"""
MOST_STEPS = 5
"""Redirects that are followed."""
_RESUMED = 24 * 3600.0
"""Seconds within which a crawl that did not end goes on; later all is asked again."""


class Thing(NamedTuple):
    """What was answered for an address; ``canonical`` and ``verdict`` say which other page it may be the same as."""

    address: str
    as_page: int
    as_picture: int
    asked: int = 0
    kind: Kind = ""
    digest: str = ""
    etag: str = ""
    modified: str = ""
    charset: str = ""
    leads_to: str = ""
    problem: str = ""
    facts: str = ""
    canonical: str = ""
    verdict: str = ""
    is_item: int = 0

    def read(self) -> PageFacts:
        """What the page says of itself."""
        return PageFacts.model_validate_json(self.facts) if self.facts else PageFacts(base=self.address)


_FIELDS = ", ".join(Thing._fields)
_STORED = ", ".join(f"{name} = :{name}" for name in Thing._fields[3:])


class SiteCopy(SqliteFile):
    """The copy of one source."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        super().__init__(folder / "copy.sqlite", _TABLES, "remove its folder, and run this again")

    def begin(self, options: str, reader: str) -> int:
        """The number of a crawl with these options: of the last one if it did not end and is not old, or a new one.

        With another ``reader`` of pages all are fetched again, as they may lead elsewhere than what is known of them.
        """
        now = time.time()
        last = self._rows("SELECT number, began, options, reader, ended FROM crawls ORDER BY number DESC LIMIT 1")
        if last and last[0][3] != reader:
            self._change("UPDATE things SET etag = '', modified = ''")
        if last and not last[0][4] and now - last[0][1] < _RESUMED and last[0][2:4] == (options, reader):
            self._change("UPDATE things SET asked = 0 WHERE problem <> ''")
            return int(last[0][0])
        number = int(last[0][0]) + 1 if last else 1
        self._change(
            "INSERT INTO crawls (number, began, options, reader) VALUES (?, ?, ?, ?)", number, now, options, reader
        )
        return number

    def end(self, crawl: int) -> None:
        """Record that a crawl reached its end, and forget what it did not come to."""
        with self.transaction():
            self._change("DELETE FROM things WHERE as_page <> ? AND as_picture <> ?", crawl, crawl)
            self._change("UPDATE crawls SET ended = 1 WHERE number = ?", crawl)
            self._change("DELETE FROM crawls WHERE number < ?", crawl)
        used = {digest for (digest,) in self._rows("SELECT DISTINCT digest FROM things WHERE digest <> ''")}
        for path in self.folder.glob("??/*"):
            if path.name not in used:
                with suppress(OSError):
                    path.unlink()

    def found(self, addresses: Iterable[str], role: Role, crawl: int) -> None:
        """Record that a crawl came to these addresses."""
        column = "as_page" if role == "page" else "as_picture"
        with self._lock, self._translated_errors():
            self._db.executemany(
                f"INSERT INTO things (address, {column}) VALUES (?, ?) "  # noqa: S608
                f"ON CONFLICT (address) DO UPDATE SET {column} = excluded.{column} "
                f"WHERE {column} <> excluded.{column}",
                ((address, crawl) for address in addresses),
            )

    def pending(self, crawl: int, most: int) -> list[Thing]:
        """Some addresses that a crawl came to and has not asked for; pages first."""
        for column in ("as_page", "as_picture"):
            query = f"SELECT {_FIELDS} FROM things WHERE {column} = ? AND asked < ? ORDER BY asked LIMIT ?"  # noqa: S608
            if found := self._rows(query, crawl, crawl, most):
                return [Thing(*row) for row in found]
        return []

    def count(self, crawl: int) -> int:
        """How many pages a crawl came to."""
        return int(self._rows("SELECT count(*) FROM things WHERE as_page = ?", crawl)[0][0])

    def store(self, thing: Thing) -> None:
        """Record what was answered for an address."""
        with self._lock, self._translated_errors():
            self._db.execute(f"UPDATE things SET {_STORED} WHERE address = :address", thing._asdict())  # noqa: S608

    def get(self, address: str) -> Thing | None:
        """What is known of an address."""
        rows = self._rows(f"SELECT {_FIELDS} FROM things WHERE address = ?", address)  # noqa: S608
        return Thing(*rows[0]) if rows else None

    def picture(self, address: str) -> Thing | None:
        """The picture at an address, wherever that leads; ``None`` if there is none."""
        thing = self.get(address)
        for _ in range(MOST_STEPS):
            if thing is None or not thing.leads_to:
                break
            thing = self.get(thing.leads_to)
        return thing if thing and thing.kind == "picture" and self.has(thing) else None

    def pages(self) -> Iterator[Thing]:
        """All addresses of pages and documents; those of one content together, the likeliest name of each first."""
        # the name that the page gives itself, the one it had, the shortest
        yield from self._each("ORDER BY digest, canonical <> address, is_item = 0, length(address), address")

    def _each(self, order: str) -> Iterator[Thing]:
        """All pages in an order, whatever is changed meanwhile."""
        addresses = [address for (address,) in self._rows(f"SELECT address FROM things WHERE as_page > 0 {order}")]  # noqa: S608
        for address in addresses:
            if thing := self.get(address):
                yield thing

    def set_items(self, addresses: Iterable[str]) -> None:
        """Record which addresses are those of items."""
        with self.transaction():
            self._change("UPDATE things SET is_item = 0 WHERE is_item = 1")
            self._db.executemany("UPDATE things SET is_item = 1 WHERE address = ?", ((each,) for each in addresses))

    def keep(self, content: bytes) -> str:
        """Keep a content, and return its hash."""
        digest = sha256(content)
        path = self.path(digest)
        if not path.is_file() or path.stat().st_size != len(content):
            write_bytes(UPath(path), content)
        return digest

    def path(self, digest: str) -> Path:
        """Where a content is."""
        return self.folder / digest[:2] / digest

    def has(self, thing: Thing) -> bool:
        """Whether the content of an address is here and whole, as far as a look at it tells."""
        return bool(thing.digest) and self.path(thing.digest).is_file()
