"""What is in staged files: read whole, or hashed as they arrive. Which files there are is :mod:`staging_files`'.

Those read of late are kept, because between its inventory and its last layer an article's images are asked for three
times; on a disk, as long as the file still is as it was. From object storage several are fetched at once.
"""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

from upath import UPath

from kb_pipeline.blob.files import BlobFiles
from kb_pipeline.errors import StorageError
from kb_pipeline.records import StagedFile
from kb_pipeline.staging_files import FileFacts
from kb_pipeline.steps.fingerprint import sha256

_AT_ONCE = 8
_BLOCK = 1 << 20
_SMALL = 8 << 20
"""Bytes of a file up to which it is fetched whole; larger ones are never in memory as a whole."""
_KEPT = 64 << 20
_KEPT_OF_A_DISK = 16 << 20
"""Bytes of files that are kept; few articles have more."""


class StagedContents:
    """The files of a staging folder."""

    def __init__(self, root: UPath) -> None:
        self.root = root
        self._recent = _Recent(_KEPT_OF_A_DISK if isinstance(root, Path) else _KEPT)

    def hashed(self, article_id: str, files: Sequence[FileFacts]) -> list[StagedFile]:
        """Size and hash of each file.

        Raises:
            StorageError: one cannot be read.
        """
        if isinstance(self.root, Path):
            return [self._hashed(article_id, file) for file in files]
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            return list(pool.map(lambda file: self._hashed(article_id, file), files))

    def read(self, article_id: str, name: str, expected_sha256: str) -> bytes:
        """A whole file as :meth:`hashed` saw it.

        Raises:
            StorageError: it cannot be read, or was changed meanwhile.
        """
        if (known := self._recent.get(expected_sha256)) and self._is_still(known, article_id, name):
            return known.data
        with _explained(self.root, article_id, name), self._opened(article_id, name) as file:
            data = file.read()
        if sha256(data) != expected_sha256:
            where = f"{self.root / article_id}/{name}"
            raise StorageError(f"{where} was changed while the article was being read; ingest it again")
        return data

    def _hashed(self, article_id: str, file: FileFacts) -> StagedFile:
        with _explained(self.root, article_id, file.name), self._opened(article_id, file.name) as opened:
            if file.size > _SMALL:
                return _hashed_in_blocks(file.name, opened)
            data = opened.read()
        staged = StagedFile(name=file.name, size=len(data), sha256=sha256(data))
        self._recent.keep(staged.sha256, _Kept(data, article_id, file))
        return staged

    def _is_still(self, kept: "_Kept", article_id: str, name: str) -> bool:
        """Whether reading the file would give what was kept; one in the cloud was fetched under its hash."""
        if not isinstance(self.root, Path):
            return True
        if (kept.article_id, kept.file.name) != (article_id, name):
            return False
        with _explained(self.root, article_id, name):
            stat = Path(f"{self.root}/{article_id}/{name}").stat()
        return (stat.st_size, str(stat.st_mtime_ns)) == (kept.file.size, kept.file.version)

    def _opened(self, article_id: str, name: str) -> IO[bytes]:
        if isinstance(self.root, Path):
            return Path(f"{self.root}/{article_id}/{name}").open("rb")
        if isinstance(self.root.fs, BlobFiles):  # a path of UPath turns "?" and "#" in a name around
            opened: IO[bytes] = self.root.fs.open(f"{self.root.path}/{article_id}/{name}")
            return opened
        return (self.root / article_id / name).open("rb")


def _hashed_in_blocks(name: str, file: IO[bytes]) -> StagedFile:
    digest, size = hashlib.sha256(), 0
    while block := file.read(_BLOCK):  # attachments may be larger than memory
        digest.update(block)
        size += len(block)
    return StagedFile(name=name, size=size, sha256=digest.hexdigest())


class _Kept(NamedTuple):
    """A file's content, and the file as it was when it was read."""

    data: bytes
    article_id: str
    file: FileFacts


class _Recent:
    """The files read last, by their hash, so that one that was changed since is another one."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._files: OrderedDict[str, _Kept] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def get(self, digest: str) -> _Kept | None:
        return self._files.get(digest)

    def keep(self, digest: str, kept: _Kept) -> None:
        with self._lock:
            if digest not in self._files:
                self._size += len(kept.data)
            self._files[digest] = kept
            while self._size > self._limit:
                self._size -= len(self._files.popitem(last=False)[1].data)


@contextmanager
def _explained(root: UPath, article_id: str, name: str) -> Iterator[None]:
    try:
        yield
    except OSError as exc:
        raise StorageError(
            f"cannot read {root / article_id}/{name} ({exc.strerror or exc}); check the staging folder's permissions"
        ) from exc
