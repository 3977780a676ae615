"""Blob Storage as a file system of ``fsspec``, so that ``UPath`` reads and writes there as on a disk.

Every call is one request where one will do, nothing is cached, and every failure is told. (adlfs, which serves
``abfs://`` otherwise, takes any failure of a look-up for "no such file", asks twice before it reads, and lists all
siblings whose names begin alike.)
"""

import contextlib
import errno
import io
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from fsspec.spec import AbstractFileSystem  # type: ignore[import-untyped]

from kb_pipeline.blob.account import Account
from kb_pipeline.blob.listing import Listed, is_folder, list_blobs
from kb_pipeline.blob.streams import Download, Upload, content_type

if TYPE_CHECKING:
    from azure.storage.blob import BlobClient, BlobPrefix, BlobProperties, ContainerClient

Info = dict[str, Any]

AT_ONCE = 8
"""Requests of one call that are under way together."""

T = TypeVar("T")
R = TypeVar("R")


def at_once(function: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """What the function gives for each item, several requests being under way together.

    Raises:
        Exception: what the first that failed raised; those not begun by then are left out.
    """
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(function, items))


class BlobFiles(AbstractFileSystem):  # type: ignore[misc]
    """The containers of one account; a path is ``container/name/of/blob``. It has no state of its own."""

    protocol: ClassVar[tuple[str, ...]] = ("abfs", "abfss", "az")
    cachable: ClassVar[bool] = False
    root_marker: ClassVar[str] = ""

    def __init__(self, account: Account, **_: object) -> None:
        super().__init__()
        self.account = account

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        scheme, found, rest = path.partition("://")
        return (rest if found and scheme in cls.protocol else path).strip("/")

    def _container(self, path: str) -> "tuple[ContainerClient, str]":
        container, _, name = self._strip_protocol(path).partition("/")
        return self.account.client.get_container_client(container), name.lstrip("/")

    def blob(self, path: str) -> "BlobClient":
        """The SDK's client of one blob; use it within ``account.explained``."""
        container, name = self._container(path)
        return container.get_blob_client(name)

    # --- looking

    def ls(self, path: str, detail: bool = True, **_: object) -> list[Any]:
        """What lies directly in a folder.

        Raises:
            FileNotFoundError: nothing does.
        """
        container, name = self._container(path)
        with self.account.explained(path):
            there = list(container.walk_blobs(_below(name), include=["metadata"]))
        if name and not there:
            raise FileNotFoundError(errno.ENOENT, "there is nothing there", path)
        found = {info["name"]: info for info in (_info(container.container_name, item) for item in there)}
        return list(found.values()) if detail else list(found)

    def find(
        self, path: str, maxdepth: int | None = None, withdirs: bool = False, detail: bool = False, **_: object
    ) -> dict[str, Info] | list[str]:
        """All blobs below a folder, in order of name; that there is none is no error."""
        base = self._strip_protocol(path)
        found = {f"{base}/{blob.name}": _listed(base, blob) for blob in self.walk_blobs(path) if not blob.is_folder}
        return found if detail else list(found)

    def walk_blobs(self, path: str) -> Iterator[Listed]:
        """Everything below a folder, page by page, with names relative to it.

        On an account with a hierarchical namespace, folders below it are listed as well.
        """
        container, name = self._container(path)
        prefix = _below(name)
        with self.account.explained(path):
            for blob in list_blobs(container, prefix):
                yield blob._replace(name=blob.name.removeprefix(prefix))

    def info(self, path: str, **_: object) -> Info:
        """A blob, or a folder of some.

        Raises:
            FileNotFoundError: there is neither.
        """
        container, name = self._container(path)
        with contextlib.suppress(FileNotFoundError), self.account.explained(path):
            if name:
                return _info(container.container_name, container.get_blob_client(name).get_blob_properties())
        if self.isdir(path):
            return {"name": self._strip_protocol(path), "type": "directory", "size": 0}
        raise FileNotFoundError(errno.ENOENT, "there is neither a blob nor a folder", path)

    def isdir(self, path: str) -> bool:
        """Whether anything lies below."""
        container, name = self._container(path)
        with self.account.explained(path):
            return not name or any(
                True for _ in container.list_blob_names(name_starts_with=_below(name), results_per_page=1)
            )

    def isfile(self, path: str) -> bool:
        """Whether there is a blob."""
        container, name = self._container(path)
        with contextlib.suppress(FileNotFoundError), self.account.explained(path):
            return bool(name) and not is_folder(container.get_blob_client(name).get_blob_properties().metadata)
        return False

    def exists(self, path: str, **_: object) -> bool:
        """Whether there is a blob, or anything below."""
        with contextlib.suppress(FileNotFoundError):
            return bool(self.info(path))
        return False

    def modified(self, path: str) -> datetime:
        """When the blob was written."""
        written: datetime = self.info(path)["last_modified"]
        return written

    # --- reading and writing

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **_: object) -> bytes:
        """A blob's content, or the part from ``start`` up to, not including, ``end``."""
        first = start or 0
        with self.account.explained(path):
            stream = self.blob(path).download_blob(first, None if end is None else end - first)
            return stream.readall()

    def pipe_file(
        self,
        path: str,
        value: bytes,
        mode: str = "overwrite",
        if_match: str | None = None,
        metadata: dict[str, str] | None = None,
        **_: object,
    ) -> None:
        """Write a blob as a whole, if it still has the ETag ``if_match``; "" is that of one that is not there.

        Raises:
            LostRaceError: it has another one.
        """
        from azure.core import MatchConditions
        from azure.storage.blob import ContentSettings

        options: dict[str, Any] = {"overwrite": if_match != "" and mode != "create", "metadata": metadata}
        if if_match:
            options |= {"etag": f'"{if_match}"', "match_condition": MatchConditions.IfNotModified}
        with self.account.explained(path):
            self.blob(path).upload_blob(
                value, content_settings=ContentSettings(content_type=content_type(path)), **options
            )

    def _open(self, path: str, mode: str = "rb", *_: object, **__: object) -> io.IOBase:
        if mode != "rb":
            return Upload(lambda data: self.pipe_file(path, data))
        with self.account.explained(path):
            chunks = self.blob(path).download_blob().chunks()
        return io.BufferedReader(Download(chunks, lambda: self.account.explained(path)), 1 << 20)

    def mkdir(self, path: str, create_parents: bool = True, **_: object) -> None:
        """Nothing: folders are the names of what lies in them, and containers are made by the account's owner."""

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        """Nothing, as :meth:`mkdir`."""

    # --- removing

    def rm_file(self, path: str, lease: str | None = None) -> None:
        """Remove a blob, and the ``lease`` on it.

        Raises:
            FileNotFoundError: there is none.
            LostRaceError: somebody else has a lease on it.
        """
        held: dict[str, Any] = {"lease": lease} if lease else {}
        with self.account.explained(path):
            self.blob(path).delete_blob(delete_snapshots="include", **held)

    def rm(self, path: str, recursive: bool = False, maxdepth: int | None = None) -> None:
        """Remove a blob, or all below a folder, of which what is gone already is fine."""
        if not recursive:
            return self.rm_file(path)
        base = self._strip_protocol(path)
        blobs = list(self.walk_blobs(path))
        self.rm_files(f"{base}/{blob.name}" for blob in blobs if not blob.is_folder)
        folders = sorted((f"{base}/{blob.name}" for blob in blobs if blob.is_folder), key=len, reverse=True)
        for folder in [*folders, base] if folders else []:
            self.rm_files([folder])
        return None

    def rm_files(self, paths: Iterable[str]) -> None:
        """Remove blobs, several at once; one that is gone already is fine."""

        def remove(path: str) -> None:
            with contextlib.suppress(FileNotFoundError):
                self.rm_file(path)

        at_once(remove, paths)


def _below(name: str) -> str:
    return f"{name}/" if name else ""


def _info(container: str, item: "BlobProperties | BlobPrefix") -> Info:
    facts = vars(item)
    size, metadata = facts.get("size"), facts.get("metadata") or {}
    return {
        "name": f"{container}/{facts['name']}".rstrip("/"),
        "type": "directory" if size is None or is_folder(metadata) else "file",
        "size": size or 0,
        "etag": str(facts.get("etag") or "").strip('"'),
        "last_modified": facts.get("last_modified"),
        "metadata": metadata,
    }


def _listed(base: str, blob: Listed) -> Info:
    return {**blob._asdict(), "name": f"{base}/{blob.name}", "type": "file"}
