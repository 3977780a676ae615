"""Blob Storage as a file system of ``fsspec``, so that ``UPath`` can read and write there.

A call sends as few requests as possible, nothing is cached, and every failure is raised. (adlfs, which usually serves
``abfs://``, takes any failed look-up for "no such file", sends two requests before it reads, and lists all siblings
whose names begin alike.)
"""

import contextlib
import errno
import io
import mimetypes
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from datetime import datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar
from urllib.parse import unquote

from fsspec.spec import AbstractFileSystem  # type: ignore[import-untyped]
from lxml import etree

from kb_pipeline.steps.formats import media_type_of
from kb_pipeline.store.azure_account import Account

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer
    from azure.core.pipeline import PipelineResponse
    from azure.storage.blob import BlobClient, BlobPrefix, BlobProperties, ContainerClient


_FOLDER_MARK = "hdi_isfolder"
"""Metadata of the empty blob that stands for a folder, on an account with a hierarchical namespace."""


class BlobEntry(NamedTuple):
    """A blob in a listing. Its ETag is without quotes, the names of its metadata are in lower case."""

    name: str
    size: int
    etag: str
    last_modified: datetime
    metadata: dict[str, str]

    @property
    def is_folder(self) -> bool:
        """Whether the blob only stands for a folder."""
        return is_folder(self.metadata)


def is_folder(metadata: Mapping[str, str] | None) -> bool:
    """Whether a blob with this metadata only stands for a folder."""
    return any(name.lower() == _FOLDER_MARK and value == "true" for name, value in (metadata or {}).items())


def list_blobs(container: "ContainerClient", prefix: str, page_size: int = 5000) -> Iterator[BlobEntry]:
    """List the blobs whose names begin with ``prefix``, in order of name; a page holds at most 5,000."""
    bodies: list[bytes] = []  # of the responses: list_blob_names itself returns nothing but names

    def keep(response: "PipelineResponse") -> None:  # type: ignore[type-arg]
        bodies[:] = [response.http_response.body()]

    pages = container.list_blob_names(
        name_starts_with=prefix, include=["metadata"], results_per_page=page_size, raw_response_hook=keep
    )
    for _ in pages.by_page():
        yield from parse_page(bodies.pop())


def parse_page(body: bytes) -> Iterator[BlobEntry]:
    """Parse one page of a listing."""
    page = etree.fromstring(body, etree.XMLParser(resolve_entities=False, huge_tree=True))
    for blob in page.iterfind("Blobs/Blob"):
        name, properties = blob.find("Name"), blob.find("Properties")
        if name is None or properties is None:
            continue
        text = name.text or ""
        yield BlobEntry(
            name=unquote(text) if name.get("Encoded") == "true" else text,
            size=int(properties.findtext("Content-Length") or 0),
            etag=(properties.findtext("Etag") or "").strip('"'),
            last_modified=_time(properties.findtext("Last-Modified") or ""),
            metadata={item.tag.lower(): item.text or "" for item in blob.iterfind("Metadata/*")},
        )


@lru_cache(maxsize=4096)
def _time(text: str) -> datetime:
    return parsedate_to_datetime(text)


_TYPES = {".md": "text/markdown; charset=utf-8", ".jsonl": "application/jsonl", ".webp": "image/webp"}


def content_type(path: str) -> str:
    """The content type for browsers, by the file's suffix."""
    suffix = PurePosixPath(path).suffix.lower()
    return _TYPES.get(suffix) or mimetypes.types_map.get(suffix) or media_type_of(path)


class Download(io.RawIOBase):
    """A blob as a stream of chunks, so that a large file is never in memory as a whole."""

    def __init__(self, chunks: Iterator[bytes], translated_errors: Callable[[], AbstractContextManager[None]]) -> None:
        self._chunks, self._translated_errors = chunks, translated_errors
        self._left = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        with self._translated_errors():
            while not self._left and (chunk := next(self._chunks, None)) is not None:
                self._left = memoryview(chunk)
        room = memoryview(buffer).cast("B")
        count = min(len(room), len(self._left))
        room[:count], self._left = self._left[:count], self._left[count:]
        return count


class BlobUpload(io.BytesIO):
    """A buffer that is uploaded when it is closed, unless the ``with`` block that writes to it fails."""

    def __init__(self, upload: Callable[[bytes], object]) -> None:
        super().__init__()
        self._upload = upload

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            super().close()

    def close(self) -> None:
        if not self.closed:
            data = self.getvalue()
            super().close()
            self._upload(data)


Info = dict[str, Any]

AT_ONCE = 8
"""Parallel requests of one call."""

T = TypeVar("T")
R = TypeVar("R")


def at_once(function: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """Call the function for each item, several at once, and return the results in order.

    Raises:
        Exception: the first error; calls that were not begun by then are left out.
    """
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(function, items))


class BlobFiles(AbstractFileSystem):  # type: ignore[misc]
    """The containers of one account; a path is ``container/name/of/blob``. Nothing is cached."""

    protocol: ClassVar[tuple[str, ...]] = ("abfs", "abfss", "az")
    cachable: ClassVar[bool] = False
    root_marker: ClassVar[str] = ""

    def __init__(self, account: Account, **_: object) -> None:
        super().__init__()
        self.account = account

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        scheme, separator, rest = path.partition("://")
        return (rest if separator and scheme in cls.protocol else path).strip("/")

    def _container(self, path: str) -> "tuple[ContainerClient, str]":
        container, _, name = self._strip_protocol(path).partition("/")
        return self.account.client.get_container_client(container), name.lstrip("/")

    def blob(self, path: str) -> "BlobClient":
        """The SDK's client of one blob. Use it inside ``account.translated_errors``."""
        container, name = self._container(path)
        return container.get_blob_client(name)

    # --- listing

    def ls(self, path: str, detail: bool = True, beginning: str = "", **_: object) -> list[Any]:
        """The blobs and folders directly in a folder whose names begin so.

        Raises:
            FileNotFoundError: there are none.
        """
        container, name = self._container(path)
        with self.account.translated_errors(path):
            items = list(container.walk_blobs(_below(name) + beginning, include=["metadata"]))
        if name and not items:
            raise FileNotFoundError(errno.ENOENT, "there is nothing there", path)
        infos = {info["name"]: info for info in (_info(container.container_name, item) for item in items)}
        return list(infos.values()) if detail else list(infos)

    def find(
        self, path: str, maxdepth: int | None = None, withdirs: bool = False, detail: bool = False, **_: object
    ) -> dict[str, Info] | list[str]:
        """All blobs below a folder, in order of name; an empty folder is not an error."""
        base = self._strip_protocol(path)
        infos = {
            f"{base}/{blob.name}": {**blob._asdict(), "name": f"{base}/{blob.name}", "type": "file"}
            for blob in self.walk_blobs(path)
            if not blob.is_folder
        }
        return infos if detail else list(infos)

    def walk_blobs(self, path: str) -> Iterator[BlobEntry]:
        """All blobs below a folder, page by page, with names relative to it.

        On an account with a hierarchical namespace this includes the blobs that stand for folders.
        """
        container, name = self._container(path)
        prefix = _below(name)
        with self.account.translated_errors(path):
            for blob in list_blobs(container, prefix):
                yield blob._replace(name=blob.name.removeprefix(prefix))

    def info(self, path: str, **_: object) -> Info:
        """The properties of a blob or a folder.

        Raises:
            FileNotFoundError: there is neither.
        """
        container, name = self._container(path)
        with contextlib.suppress(FileNotFoundError), self.account.translated_errors(path):
            if name:
                return _info(container.container_name, container.get_blob_client(name).get_blob_properties())
        if self.isdir(path):
            return {"name": self._strip_protocol(path), "type": "directory", "size": 0}
        raise FileNotFoundError(errno.ENOENT, "there is neither a blob nor a folder", path)

    def isdir(self, path: str) -> bool:
        container, name = self._container(path)
        with self.account.translated_errors(path):
            return not name or any(
                True for _ in container.list_blob_names(name_starts_with=_below(name), results_per_page=1)
            )

    def isfile(self, path: str) -> bool:
        container, name = self._container(path)
        with contextlib.suppress(FileNotFoundError), self.account.translated_errors(path):
            return bool(name) and not is_folder(container.get_blob_client(name).get_blob_properties().metadata)
        return False

    def exists(self, path: str, **_: object) -> bool:
        with contextlib.suppress(FileNotFoundError):
            return bool(self.info(path))
        return False

    def modified(self, path: str) -> datetime:
        written: datetime = self.info(path)["last_modified"]
        return written

    # --- reading and writing

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **_: object) -> bytes:
        """The blob's content, or the part from ``start`` up to but not including ``end``."""
        first = start or 0
        with self.account.translated_errors(path):
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
        """Write a whole blob. With ``if_match``, only if it still has this ETag; "" means only if it does not exist.

        Raises:
            LostRaceError: it has another ETag.
        """
        from azure.core import MatchConditions
        from azure.storage.blob import ContentSettings

        options: dict[str, Any] = {"overwrite": if_match != "" and mode != "create", "metadata": metadata}
        if if_match:
            options |= {"etag": f'"{if_match}"', "match_condition": MatchConditions.IfNotModified}
        with self.account.translated_errors(path):
            self.blob(path).upload_blob(
                value, content_settings=ContentSettings(content_type=content_type(path)), **options
            )

    def _open(self, path: str, mode: str = "rb", *_: object, **__: object) -> io.IOBase:
        if mode != "rb":
            return BlobUpload(lambda data: self.pipe_file(path, data))
        with self.account.translated_errors(path):
            chunks = self.blob(path).download_blob().chunks()
        return io.BufferedReader(Download(chunks, lambda: self.account.translated_errors(path)), 1 << 20)

    def mkdir(self, path: str, create_parents: bool = True, **_: object) -> None:
        """Do nothing: a folder exists while a blob is in it, and containers are made by the account's owner."""

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        """Do nothing, as :meth:`mkdir`."""

    # --- removing

    def rm_file(self, path: str, lease: str | None = None) -> None:
        """Remove a blob, and the ``lease`` on it.

        Raises:
            FileNotFoundError: there is no such blob.
            LostRaceError: another process has a lease on it.
        """
        options: dict[str, Any] = {"lease": lease} if lease else {}
        with self.account.translated_errors(path):
            self.blob(path).delete_blob(delete_snapshots="include", **options)

    def rm(self, path: str, recursive: bool = False, maxdepth: int | None = None) -> None:
        """Remove a blob, or all blobs below a folder; blobs of a folder that are gone already are ignored."""
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
        """Remove blobs, several at once; those that are gone already are ignored."""

        def remove(path: str) -> None:
            with contextlib.suppress(FileNotFoundError):
                self.rm_file(path)

        at_once(remove, paths)


def _below(name: str) -> str:
    return f"{name}/" if name else ""


def _info(container: str, item: "BlobProperties | BlobPrefix") -> Info:
    properties = vars(item)
    size, metadata = properties.get("size"), properties.get("metadata") or {}
    return {
        "name": f"{container}/{properties['name']}".rstrip("/"),
        "type": "directory" if size is None or is_folder(metadata) else "file",
        "size": size or 0,
        "etag": str(properties.get("etag") or "").strip('"'),
        "last_modified": properties.get("last_modified"),
        "metadata": metadata,
    }
