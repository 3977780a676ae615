"""A copy of what libraries list, brought up to date by what has changed since.

Microsoft Graph tells changes since a token, so a run that finds nothing changed costs one answer for each library. When
it does not know the token any more, the library is listed as a whole. A run that is killed goes on where it was.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from kb_pipeline.errors import IntakeError
from kb_pipeline.intake.sharepoint.graph import GraphApi
from kb_pipeline.store.sqlite_file import SqliteFile

_TABLES = """
CREATE TABLE IF NOT EXISTS entries (
    library TEXT NOT NULL, id TEXT NOT NULL, parent TEXT NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL,
    version TEXT NOT NULL, size INTEGER NOT NULL, link TEXT NOT NULL, author TEXT NOT NULL, date TEXT NOT NULL,
    problem TEXT NOT NULL, listing INTEGER NOT NULL, PRIMARY KEY (library, id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS names ON entries (library, parent, name COLLATE NOCASE);
CREATE TABLE IF NOT EXISTS libraries (
    library TEXT PRIMARY KEY, goes_on TEXT NOT NULL, listing INTEGER NOT NULL, is_whole INTEGER NOT NULL
) WITHOUT ROWID;
"""
_FIELDS = (
    "id,name,eTag,cTag,size,webUrl,lastModifiedBy,lastModifiedDateTime,parentReference,file,folder,root,deleted,"
    "package,remoteItem,malware,publication"
)
_A_PAGE = "1000"
_A_TIME = 500
"""Rows that are read at a time."""
_DEEPEST = 200
"""Folders above a file: a path in SharePoint has 400 characters at most, so 200 folders; in a circle it ends here."""


class Library(NamedTuple):
    """A library, and where its files are: the path of its address."""

    id: str
    name: str
    path: str


class File(NamedTuple):
    """A file; ``path`` is where it is in its library. ``problem`` is why it cannot be taken in now."""

    library: str
    id: str
    path: str
    version: str
    size: int
    link: str
    author: str
    date: str
    problem: str

    @property
    def item(self) -> str:
        """The id of the item that it is."""
        return f"{self.library}/{self.id}"


class Libraries(SqliteFile):
    """The copy."""

    def __init__(self, path: Path, api: GraphApi) -> None:
        super().__init__(path, _TABLES, "remove it, and run this again: the libraries are listed anew")
        self._api = api

    def update(self, library: str) -> None:
        """Ask what has changed in a library.

        Raises:
            IntakeError: it cannot be listed to its end.
            TransientError: the service did not answer, also when asked again.
        """
        goes_on, listing, is_whole = self._state(library)
        if goes_on:
            try:
                self._follow(library, goes_on, {}, listing, is_whole=is_whole)
                return
            except IntakeError:  # the place to go on from is not known any more
                pass
        path = f"/drives/{library}/items/root/delta()"
        self._follow(library, path, {"$select": _FIELDS, "$top": _A_PAGE}, listing + 1, is_whole=False)

    def _follow(self, library: str, path: str, parameters: Mapping[str, str], listing: int, *, is_whole: bool) -> None:
        for answer in self._api.answers(path, **parameters):
            following, end = (str(answer.get(f"@odata.{name}") or "") for name in ("nextLink", "deltaLink"))
            if not following and not end.startswith(f"{self._api.base}/"):
                raise IntakeError(f"the library {library} does not say where its changes go on")
            with self.transaction():
                for entry in answer["value"]:
                    self._store(library, entry, listing)
                if end and not is_whole:  # what a listing of the whole has not named is gone
                    self._change("DELETE FROM entries WHERE library = ? AND listing <> ?", library, listing)
                self._change(
                    "INSERT OR REPLACE INTO libraries VALUES (?, ?, ?, ?)",
                    library, following or end, listing, is_whole or bool(end),
                )  # fmt: skip

    def _store(self, library: str, entry: Mapping[str, Any], listing: int) -> None:
        if "deleted" in entry:
            self._change("DELETE FROM entries WHERE library = ? AND id = ?", library, str(entry["id"]))
            return
        parent = (entry.get("parentReference") or {}).get("id") or ""
        by = (entry.get("lastModifiedBy") or {}).get("user") or {}
        values = (
            library, str(entry["id"]), "" if "root" in entry else str(parent), str(entry.get("name") or ""),
            _kind_of(entry), str(entry.get("cTag") or entry.get("eTag") or ""), int(entry.get("size") or 0),
            str(entry.get("webUrl") or ""), str(by.get("displayName") or ""),
            str(entry.get("lastModifiedDateTime") or ""), _problem_of(entry), listing,
        )  # fmt: skip
        self._change("INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", *values)

    def _state(self, library: str) -> tuple[str, int, bool]:
        rows = self._rows("SELECT goes_on, listing, is_whole FROM libraries WHERE library = ?", library)
        return (rows[0][0], rows[0][1], bool(rows[0][2])) if rows else ("", 0, False)

    def root(self, library: str) -> tuple[str, str]:
        """The id of a library's own folder, and the path of its address; empty if it was never listed."""
        rows = self._rows("SELECT id, link FROM entries WHERE library = ? AND kind = 'root'", library)
        return (rows[0][0], path_of(rows[0][1])) if rows else ("", "")

    def files(self, library: str) -> Iterator[File]:
        """The files of a library, in the order of their ids."""
        folders = {
            row[0]: (row[1], row[2])
            for row in self._rows(
                "SELECT id, parent, name FROM entries WHERE library = ? AND kind IN ('folder', 'root')", library
            )
        }
        last = ""
        query = f"{_FILE} WHERE library = ? AND id > ? AND kind = 'file' ORDER BY id LIMIT {_A_TIME}"
        while rows := self._rows(query, library, last):
            for row in rows:
                path = _path(row[2], row[3], folders.get)
                if path is not None:
                    yield File(row[0], row[1], path, *row[4:])
            last = rows[-1][1]

    def file(self, item: str) -> File | None:
        """The file that is an item."""
        library, _, own = item.partition("/")
        rows = self._rows(f"{_FILE} WHERE library = ? AND id = ? AND kind = 'file'", library, own)
        path = _path(rows[0][2], rows[0][3], partial(self.folder, library)) if rows else None
        return File(rows[0][0], rows[0][1], path, *rows[0][4:]) if path is not None else None

    def folder(self, library: str, entry: str) -> tuple[str, str] | None:
        """The id of the folder around one, and its own name."""
        query = "SELECT parent, name FROM entries WHERE library = ? AND id = ? AND kind IN ('folder', 'root')"
        rows = self._rows(query, library, entry)
        return (rows[0][0], rows[0][1]) if rows else None

    def at(self, library: str, path: str) -> File | None:
        """The file at the path of an address, if it is in this library."""
        entry, start = self.root(library)
        if not start or not path.lower().startswith(f"{start.lower()}/"):
            return None
        for step in path[len(start) + 1 :].split("/")[:_DEEPEST]:
            rows = self._rows(
                "SELECT id FROM entries WHERE library = ? AND parent = ? AND name = ? COLLATE NOCASE",
                library, entry, step,
            )  # fmt: skip
            if not rows:
                return None
            entry = rows[0][0]
        return self.file(f"{library}/{entry}")


_FILE = "SELECT library, id, parent, name, version, size, link, author, date, problem FROM entries"


def path_of(address: str) -> str:
    """The path of an address, as people write it."""
    return unquote(urlsplit(address).path).rstrip("/")


def why_not_published(publication: Mapping[str, Any] | None) -> str:
    """Why what is there is not what readers see; "" if it is, or nothing is said of it."""
    level = str((publication or {}).get("level") or "published")
    if level == "published":
        return ""
    return "is checked out" if level == "checkout" else "has changes that are not published"


def was_published(publication: Mapping[str, Any] | None) -> bool:
    """Whether readers have ever seen a version of it."""
    return not why_not_published(publication) or not str((publication or {}).get("versionId")).startswith("0.")


def _kind_of(entry: Mapping[str, Any]) -> str:
    if "root" in entry:
        return "root"
    if "folder" in entry and "package" not in entry:
        return "folder"
    is_file = "file" in entry and "remoteItem" not in entry
    return "file" if is_file and was_published(entry.get("publication")) else ""


def _problem_of(entry: Mapping[str, Any]) -> str:
    if "malware" in entry:
        return "is said to hold malware"
    return why_not_published(entry.get("publication"))


def _path(parent: str, name: str, folder_of: Callable[[str], tuple[str, str] | None]) -> str | None:
    """Where a file is below its library; ``None`` if a folder above it is gone."""
    steps = [name]
    for _ in range(_DEEPEST):
        found = folder_of(parent)
        if found is None:
            return None
        above, folder = found
        if not above:
            return "/".join(reversed(steps))
        steps.append(folder)
        parent = above
    return None
