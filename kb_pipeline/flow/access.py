"""Access lists: who may read an article.

The newest list that the author gave is recorded before any layer of the article is made. From then on it applies to
every version, every generation of the index and every answer, even if the build of the article fails. Entries of an
index carry a copy of the list. While a copy may be outdated the article is *pending*, and each search gets the newest
list as a filter (:meth:`AccessLists.search_filter`).
Updating the copies is the job of :mod:`kb_pipeline.flow.access_binding`.
"""

import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from pydantic import ValidationError

from kb_pipeline.errors import StorageError, UnreadableArticleError, remedy
from kb_pipeline.records import HIDDEN, Record, may_read
from kb_pipeline.search.base import SearchFilter
from kb_pipeline.steps.metadata import read_metadata
from kb_pipeline.store.files import move_file, remove_file, settle, write_bytes
from kb_pipeline.store.layout import Layout
from kb_pipeline.store.staging import Staging


class Access(Record):
    """The users and groups that may read an article; an empty list means everybody.

    ``problem`` is the reason if the article is hidden because its list cannot be read.
    """

    readers: tuple[str, ...] = ()
    problem: str = ""

    def lets_read_all_of(self, other: "Access") -> bool:
        """Whether everybody whom the other list lets read the article may read it by this one, too."""
        return not self.readers or (bool(other.readers) and set(other.readers) <= set(self.readers))


def staged_access(staging: Staging, article_id: str, *, may_be_arriving: bool = False) -> Access | None:
    """Read the list that is staged now; ``None`` if the article is not staged, so that the recorded list stays valid.

    ``may_be_arriving``: the folder may still be being copied, so a missing ``metadata.json`` means nothing.

    Raises:
        StorageError: the staging folder cannot be reached.
    """
    try:
        data = staging.metadata(article_id, absent=None if may_be_arriving else b"{}")
        if data is None:
            return None
        return Access(readers=read_metadata(data, staging.metadata_file).metadata.access_control_list)
    except UnreadableArticleError as exc:
        return Access(readers=(HIDDEN,), problem=str(exc))


class AccessLists:
    """The newest lists of all articles, one file each. An article that was never restricted has none."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        folder = Path(str(layout.home)) / "access"
        self._all, self._pending = _Folder(folder), _Folder(folder / "pending")

    def get(self, article_id: str) -> Access | None:
        """The newest list; ``None`` if the list of the published version is the newest.

        Raises:
            InvalidArticleIdError: the id is not a valid article id.
        """
        # a pending list is newer than a settled one
        for path in (self._layout.pending_access(article_id), self._layout.access(article_id)):
            try:
                if path.exists():  # most articles have no list, and this is cheaper than a failed read
                    return _read(Path(str(path)))
            except (FileNotFoundError, NotADirectoryError):
                continue  # settled or removed in the meantime
        return None

    def readers(self, article_id: str, published: Iterable[str]) -> tuple[str, ...]:
        """Who may read an article; ``published`` are the readers that its published version names."""
        newest = self.get(article_id)
        return newest.readers if newest else tuple(published)

    def all(self) -> Mapping[str, Access]:
        """The newest lists by article id, for the articles that have one."""
        # pending lists are read first: one that is settled in between then shows up among the others
        pending = self._pending.read()
        return {**self._all.read(), **pending}

    def problems(self) -> Mapping[str, str]:
        """Why articles are hidden, by article id: nobody knows who may read them."""
        return {article_id: access.problem for article_id, access in sorted(self.all().items()) if access.problem}

    def pending(self) -> Mapping[str, Access]:
        """The lists, by article id, that entries of an index may not carry yet."""
        return self._pending.read()

    def search_filter(self, names: Collection[str]) -> SearchFilter:
        """The filter for a search by a user with these names (their own and those of their groups)."""
        pending = {key: may_read(access.readers, names) for key, access in self.pending().items()}
        return SearchFilter(
            principals=tuple(names),
            granted_articles=tuple(key for key, granted in pending.items() if granted),
            denied_articles=tuple(key for key, granted in pending.items() if not granted),
        )

    def record(self, article_id: str, access: Access, *, pending: bool) -> None:
        """Make this the newest list; ``pending`` if entries of an index may still carry another one.

        Raises:
            StorageError: it cannot be written. The previous list stays valid if the new one takes it from nobody;
                otherwise nobody may read the article until the list is recorded, if a file can be created at all.
        """
        # a single write, so that a killed process leaves either the old or the new list
        path = self._layout.pending_access(article_id) if pending else self._layout.access(article_id)
        try:
            write_bytes(path, access.model_dump_json(exclude_defaults=True).encode())
        except StorageError as exc:
            if not access.lets_read_all_of(self.get(article_id) or Access()) and _empty(Path(str(path))):
                raise StorageError(f"{exc}; nobody may read {article_id} until its new list is recorded") from exc
            raise
        if pending:
            settle([path])  # a power failure must not undo a restriction

    def settle(self, article_id: str) -> None:
        """Mark the list as no longer pending: all entries of the article carry it."""
        move_file(self._layout.pending_access(article_id), self._layout.access(article_id))

    def forget(self, article_id: str) -> None:
        """Drop the list of a removed article. A restriction is kept, because stored answers may quote the article."""
        newest = self.get(article_id)
        if article_id in self.pending():
            self.settle(article_id)
        if newest and not newest.readers:
            remove_file(self._layout.access(article_id))


def _empty(path: Path) -> bool:
    """Make the file an empty one, which a full disk still holds; such a list is damaged, and lets nobody read."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    except OSError:
        return False
    return True


def _read(path: Path) -> Access:
    """Read a list. One that cannot be read hides its article alone, because its readers are unknown.

    Raises:
        FileNotFoundError, NotADirectoryError: there is none.
    """
    try:
        return Access.model_validate_json(path.read_bytes())
    except ValidationError:
        problem = "is damaged; ingest the article again"
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError as exc:
        problem = f"cannot be read: {exc.strerror or exc}; {remedy(exc, 'check its permissions')}"
    return Access(readers=(HIDDEN,), problem=f"its list of readers {path} {problem}")


class _Folder:
    """The lists in one folder. A file is read again only after it was replaced, or if it could not be read."""

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder)
        self._cache: dict[str, tuple[tuple[int, int, int], Access]] = {}

    def read(self) -> dict[str, Access]:
        lists: dict[str, tuple[tuple[int, int, int], Access]] = {}
        try:
            with os.scandir(self._folder) as entries:
                for entry in entries:
                    if entry.name.endswith(".json") and not entry.name.startswith("."):
                        article_id = entry.name.removesuffix(".json")
                        try:
                            lists[article_id] = self._read_entry(article_id, entry)
                        except (FileNotFoundError, NotADirectoryError):
                            continue  # removed in the meantime
        except FileNotFoundError:
            pass  # no article was ever restricted
        except OSError as exc:
            what_to_do = remedy(exc, "check its permissions")
            raise StorageError(f"cannot list {self._folder} ({exc.strerror or exc}); {what_to_do}") from exc
        self._cache = lists
        return {article_id: access for article_id, (_, access) in lists.items()}

    def _read_entry(self, article_id: str, entry: os.DirEntry[str]) -> tuple[tuple[int, int, int], Access]:
        status = entry.stat()
        version = (status.st_ino, status.st_mtime_ns, status.st_size)
        cached = self._cache.get(article_id)
        if cached and cached[0] == version and not cached[1].problem:
            return cached
        return version, _read(Path(entry.path))
