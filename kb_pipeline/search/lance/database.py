"""The LanceDB database: opens its tables, copes with concurrent writers, and detects damaged files.

The meaning of the tables does not belong here.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast
from uuid import uuid4

from pydantic import Field
from tenacity import Retrying

from kb_pipeline.errors import IndexDamagedError, SearchError, remedy
from kb_pipeline.records import Record
from kb_pipeline.secrets import without_secrets
from kb_pipeline.services.retry import after_conflicts
from kb_pipeline.services.service import safe_cause
from kb_pipeline.steps.fingerprint import seal, unseal

if TYPE_CHECKING:
    from lancedb.db import LanceDBConnection
    from lancedb.table import LanceTable


_ATTEMPTS = 12
"""Conflicts with other writers; with the pauses between them some ten seconds."""
_LONGEST_PAUSE = 2.0
"""Seconds; what other writers do takes tenths of one."""
_SDK_ERRORS = (RuntimeError, OSError, ValueError)
_ELSEWHERE = re.compile(r"os error (?!2\b)\d+|No space left|Disk quota exceeded|Permission denied", re.IGNORECASE)
_DAMAGE = re.compile(
    "not found|invalid range|not appear to be a lance file|file size is too small|fill whole buffer|corrupt|panick"
    "|protobuf|decod|out of (?:bounds|range)|unexpected|utf-?8|internal error|invalid (?:argument|user|input|data)"
    "|overflow|magic|end of file|LanceError\\((?:Arrow|Schema|Index)\\)|validation error",
    re.IGNORECASE,
)
"""Messages of Lance and Arrow about missing or changed files; they have no error class for that."""
_SOURCE_PLACE = re.compile(r",? (?:at )?\S*\.cargo/registry/\S+")
_PANICS = frozenset({"PanicException", "RustPanic"})
"""Raised by PyO3 when a file makes LanceDB's native code panic; one of them is not an ``Exception``."""
_CONFLICTS = ("conflict", "concurrent", "already exists")

T = TypeVar("T")


class Database:
    """The database at ``uri``: a local folder, or ``az://container/path``, with the credentials of the environment."""

    def __init__(self, uri: str) -> None:
        self.uri = uri

    @cached_property
    def connection(self) -> "LanceDBConnection":
        import lancedb

        return cast("LanceDBConnection", lancedb.connect(self.uri))

    def table(self, name: str) -> "LanceTable | None":
        """Open the newest version of a table, which stays fixed for this handle; ``None`` if it does not exist."""
        with self.translated_errors(f"open table {name} of"):
            try:
                return self.connection.open_table(name)
            except ValueError as exc:  # LanceDB has no exception class for this
                if "not found" not in str(exc):
                    raise
                return None

    def table_or(self, name: str, make: Callable[[], "LanceTable"]) -> "LanceTable":
        """Open the table, or create it with ``make`` if it does not exist.

        LanceDB checks for the table first and then overwrites what another process created in the meantime. So in a
        local folder only one process creates tables at a time. Object storage has no such lock: there, let one machine
        publish first.
        """
        table = self.table(name)
        if table is not None:
            return table
        from filelock import FileLock

        self.connection  # noqa: B018 - creates the folder
        lock: AbstractContextManager[object] = (
            nullcontext() if "://" in self.uri else FileLock(Path(self.uri) / ".making.lock")
        )
        with lock:
            table = self.table(name)
            return make() if table is None else table  # an empty table is falsy

    def names(self) -> Iterator[str]:
        """List the names of all tables, including those that cannot be opened."""
        page = None
        with self.translated_errors("list the tables of"):
            while True:
                listed = self.connection.list_tables(page_token=page)
                yield from listed.tables
                page = listed.page_token
                if not page:
                    return

    def drop(self, name: str) -> None:
        """Delete a table, whichever program created it."""
        with self.translated_errors(f"drop table {name} of"):
            self.connection.drop_table(name, ignore_missing=True)

    def retrying(self, action: str, work: Callable[[], T]) -> T:
        """Do the work; if another writer was faster, try again after random, growing pauses."""
        with self.translated_errors(action):
            return Retrying(**after_conflicts(_ATTEMPTS, 0.05, _LONGEST_PAUSE, _is_conflict))(work)

    @contextmanager
    def translated_errors(self, action: str) -> Iterator[None]:
        """Turn LanceDB's errors into ours. ``action`` is a verb whose object is the index: "search", "open table x of".

        Raises:
            IndexDamagedError: files of a local folder are gone, or are not what LanceDB wrote.
            SearchError: anything else went wrong.
        """
        try:
            yield
        except _SDK_ERRORS as exc:
            # Only local files count as damaged: object stores have their own remedies.
            if "://" not in self.uri and not _ELSEWHERE.search(str(exc)) and _DAMAGE.search(str(exc)):
                raise self.damaged(f"cannot be read: {_without_code(str(exc))}") from exc
            # The full text of a Lance error ends with a place in its source code, which helps nobody here.
            reason = remedy(exc, "") or without_secrets(str(exc))
            raise SearchError(f"could not {action} the search index at {self.uri}: {reason}") from safe_cause(exc)
        except BaseException as exc:
            if type(exc).__name__ not in _PANICS:
                raise
            raise self.damaged(f"cannot be read: {_without_code(str(exc))}") from exc

    def access_files(self, work: Callable[[], T]) -> T:
        """Return the result of ``work``, which reads the files of a table, with its errors translated."""
        with self.translated_errors("check the files of"):
            return work()

    def damaged(self, problem: str) -> IndexDamagedError:
        """Make the error for files that are not as they were written."""
        return IndexDamagedError(
            f"the search index at {self.uri} is damaged: it {problem}; run: kb reconcile, which rebuilds it from the "
            "layers at no cost"
        )


_FOLDERS = ("_indices", "_transactions", "_versions", "_deletions", "data")
_HASHES = ".hashes.json"
_REPLACED = ".json"
"""Suffix of the only files that LanceDB replaces."""


class _Hashes(Record):
    """The SHA-256 of each file, by its path relative to the folder of the table.

    ``stamps`` are the size and the time of change that a file had when its hash was found right.
    """

    files: dict[str, str] = Field(default_factory=dict)
    stamps: dict[str, tuple[int, int]] = Field(default_factory=dict)


class TableFiles:
    """The files of one table, and their hashes. Object storage keeps checksums itself, so there it has no files."""

    def __init__(self, uri: str, table: str) -> None:
        self._folder = None if "://" in uri else Path(uri) / f"{table}.lance"

    def remember(self) -> None:
        """Record the hashes of new files, and forget files that are gone.

        Raises:
            OSError: a file cannot be read, or the hashes cannot be written.
        """
        if self._folder is None or not self._folder.is_dir():
            return
        recorded = self._recorded()
        current = _Hashes()
        for name in self._names(self._folder):
            known, stamp = recorded.files.get(name), _stamp(self._folder / name)
            digest = known if known and stamp == recorded.stamps.get(name) else _hash(self._folder / name)
            if digest:
                current.files[name] = known or digest  # a damaged file keeps the hash that shows it
                if stamp and digest == current.files[name]:
                    current.stamps[name] = stamp
        if current != recorded:
            temporary = self._folder / f".{uuid4().hex}"
            temporary.write_bytes(seal(self._folder.name, current.model_dump_json().encode()))
            temporary.replace(self._folder / _HASHES)

    def forget(self) -> None:
        """Delete the recorded hashes before the table is created again, because LanceDB reuses file names.

        Raises:
            OSError: the hashes cannot be deleted.
        """
        if self._folder is not None:
            (self._folder / _HASHES).unlink(missing_ok=True)

    def damaged(self, *, quickly: bool = False) -> list[str]:
        """Return the paths of files that have changed; files that are gone may simply not be needed any more.

        ``quickly``: read only files whose size or time of change is another one.

        Raises:
            OSError: a file cannot be read.
        """
        if self._folder is None:
            return []
        folder, recorded = self._folder, self._recorded()
        names = list(self._names(folder))
        expected, newest = _newest_version(recorded.files), _newest_version(names)
        if expected and (not newest or expected < newest):  # LanceDB would silently use the version before
            return [str(folder / expected)]
        # A file without a hash was removed by LanceDB just now: that is no damage.
        present = [name for name in names if name in recorded.files]
        if quickly:
            present = [name for name in present if recorded.stamps.get(name) not in (None, _stamp(folder / name))]
        return [str(folder / name) for name in present if _hash(folder / name) not in (recorded.files[name], None)]

    def _names(self, table: Path) -> Iterator[str]:
        for folder in _FOLDERS:
            for path in sorted((table / folder).rglob("*")):
                if path.is_file() and path.suffix != _REPLACED:
                    yield path.relative_to(table).as_posix()

    def _recorded(self) -> _Hashes:
        path = self._folder / _HASHES if self._folder else None
        if path is None or not path.is_file():
            return _Hashes()
        try:
            return _Hashes.model_validate_json(unseal(path.parent.name, path.read_bytes()))
        except ValueError:
            return _Hashes()  # the hashes themselves are damaged; record the files again


def _is_conflict(error: BaseException) -> bool:
    return isinstance(error, _SDK_ERRORS) and any(word in str(error).lower() for word in _CONFLICTS)


def _newest_version(names: Iterable[str]) -> str:
    """The version file with the smallest name, because LanceDB counts down."""
    return min((name for name in names if name.startswith("_versions/")), default="")


def _hash(path: Path) -> str | None:
    """The hash of the file; ``None`` if it was removed meanwhile."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return None


def _stamp(path: Path) -> tuple[int, int] | None:
    """The size of the file and the time of its change; ``None`` if it was removed meanwhile."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_size, status.st_mtime_ns


def _without_code(message: str) -> str:
    """The message of a Lance error without the place in its source code, which helps nobody here."""
    return _SOURCE_PLACE.sub("", message)
