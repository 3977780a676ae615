"""Opens files of the serving layer for one person: access, links that lead out, and validators.

Used for images (:mod:`app.library.images`) and the original files of documents (:mod:`app.library.originals`).
"""

import hashlib
import os
import stat
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from io import BufferedReader, BytesIO
from pathlib import Path

from upath import UPath

from app.callers.principal import Principal
from kb_pipeline.errors import KnowledgeBaseError, TransientError
from kb_pipeline.flow.access import AccessLists
from kb_pipeline.flow.layers.serving_article import load_manifest
from kb_pipeline.steps.article_ids import is_article_id
from kb_pipeline.store.layout import Layout

FileBytes = BufferedReader | BytesIO
Version = Hashable
"""What changes when a file is replaced."""

_BLOCK = 65536
"""Bytes that are sent at a time: memory stays flat, however large the file."""
_KEPT = 4096
"""Access lists of articles and digests of files that are remembered: some hundred bytes each."""
_digests: dict[tuple[int, int, int, int], str] = {}
"""Hashes of files by device, inode, time and size. A file is never changed, only replaced by another file."""


@dataclass(frozen=True)
class OpenedFile:
    """An opened file. Its bytes do not change when the article is published again.

    ``etag`` is the SHA-256 of the bytes, as in the manifest, quoted as a strong HTTP validator. Callers that do not
    read :meth:`blocks` to the end must call :meth:`close`.
    """

    etag: str
    size: int
    file: FileBytes
    content_type: str = "image/png"

    def blocks(self, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """The bytes from ``start`` to ``end``, exclusive."""
        left = (self.size if end is None else min(end, self.size)) - start
        with self.file as file:
            file.seek(start)
            while left > 0 and (block := file.read(min(left, _BLOCK))):
                left -= len(block)
                yield block

    def close(self) -> None:
        """Close the file."""
        self.file.close()


def may_see(layout: Layout, article_id: str, who: Principal) -> bool:
    """Whether this person may see the published article, by its newest access list.

    Nobody sees one that is not published, or whose access list cannot be read.

    Raises:
        TransientError: the storage account that holds the list does not answer.
    """
    if not is_article_id(article_id):
        return False
    folder = layout.serving(article_id)
    try:
        version = version_of(folder / "manifest.json")
        published = _access_known(folder, version) if version else _access(folder)
        return who.may_read(AccessLists(layout).readers(article_id, published))
    except TransientError:
        raise
    except (KnowledgeBaseError, OSError, ValueError):
        return False


def version_of(path: UPath) -> Version:
    """A value that changes when the file is replaced; empty if the store has none.

    Raises:
        FileNotFoundError: there is no such file.
    """
    if isinstance(path, Path):
        status = path.stat()
        return status.st_mtime_ns, status.st_ino, status.st_size
    facts = path.fs.info(path.path)
    return str(facts.get("etag") or facts.get("ETag") or "")  # times are of whole seconds


def _access(folder: UPath, _version: Hashable = None) -> tuple[str, ...]:
    return load_manifest(folder).access_control_list


_access_known = lru_cache(maxsize=_KEPT)(_access)


def open_served(folder: UPath, path: str, content_type: str, signature: bytes = b"") -> OpenedFile:
    """Open a file of an article's folder.

    Raises:
        OSError: there is no such file.
        ValueError: it is a link that leads out of the folder, is no file, or does not begin with the signature.
    """
    file, digest = _open_local(folder, path) if isinstance(folder, Path) else _read(folder / path)
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    if file.read(len(signature)) != signature:
        file.close()
        raise ValueError(f"{folder / path} is not {content_type}")
    return OpenedFile(f'"{digest}"', size, file, content_type)


def _open_local(folder: Path, path_there: str) -> tuple[FileBytes, str]:
    """The file and its hash. Links that lead out of the article's folder are refused."""
    home = Path(os.path.realpath(folder.parent)) / folder.name
    path = os.path.realpath(home / path_there, strict=True)
    if not Path(path).is_relative_to(home):
        raise ValueError(f"{path_there} leads out of {home}")
    # without O_NONBLOCK, opening a pipe would wait for a writer
    file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb")
    try:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ValueError(f"{path} is not a file")
        return file, _digest(file, status)
    except BaseException:
        file.close()
        raise


def _digest(file: FileBytes, status: os.stat_result) -> str:
    version = (status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size)
    if version not in _digests:
        if len(_digests) >= _KEPT:
            _digests.clear()
        _digests[version] = hashlib.file_digest(file, "sha256").hexdigest()
    return _digests[version]


def _read(path: UPath) -> tuple[FileBytes, str]:
    """The file and its hash from object storage, which has no links; the bytes are held in memory."""
    data = path.read_bytes()
    return BytesIO(data), hashlib.sha256(data).hexdigest()
