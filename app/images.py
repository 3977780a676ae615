"""Opens images of the serving layer: finds the file and checks access. HTTP is in :mod:`app.api.images`."""

import hashlib
import os
import re
import stat
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from io import BufferedReader, BytesIO
from pathlib import Path

from upath import UPath

from app.principal import Principal
from kb_pipeline.errors import KnowledgeBaseError, TransientError
from kb_pipeline.flow.access import AccessLists
from kb_pipeline.flow.layers.serving_article import load_manifest
from kb_pipeline.steps.article_ids import is_article_id
from kb_pipeline.store.layout import Layout

ImageBytes = BufferedReader | BytesIO

_IMAGE_PATH = re.compile(r"images/[^./\\\0][^/\\\0]*\.png")
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_BLOCK = 65536
_KEPT = 4096
_digests: dict[tuple[int, int, int, int], str] = {}
"""Hashes of files by device, inode, time and size. A file is never changed, only replaced by another file."""


class ImageNotFoundError(KnowledgeBaseError):
    """There is no such image that this person may see; it does not say whether the image exists."""


@dataclass(frozen=True)
class ServedImageFile:
    """An opened image. Its bytes do not change when the article is published again.

    ``etag`` is the SHA-256 of the bytes, as in the manifest, quoted as a strong HTTP validator. Callers that do not
    read :meth:`blocks` to the end must call :meth:`close`.
    """

    etag: str
    size: int
    file: ImageBytes
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


def open_image(layout: Layout, article_id: str, image_path: str, who: Principal) -> ServedImageFile:
    """Open an image of a published article by its path there, ``images/<stem>.png``.

    Images of older versions can be opened as long as their files exist, because an older generation of the index may
    still cite them.

    Raises:
        ImageNotFoundError: there is no such image, or this person may not see it.
        TransientError: the storage account that holds it does not answer.
    """
    try:
        if _is_for(layout, article_id, who) and _IMAGE_PATH.fullmatch(image_path):
            return _opened(layout.serving(article_id), image_path)
    except TransientError:
        raise
    except (KnowledgeBaseError, OSError, ValueError) as exc:
        raise _not_found(article_id, image_path) from exc
    raise _not_found(article_id, image_path)


def _not_found(article_id: str, image_path: str) -> ImageNotFoundError:
    return ImageNotFoundError(f"there is no image {image_path[:80]!r} of article {article_id[:80]!r}")


def _is_for(layout: Layout, article_id: str, who: Principal) -> bool:
    if not is_article_id(article_id):
        return False
    folder = layout.serving(article_id)
    version = _version(folder / "manifest.json")
    published = _access_known(folder, version) if version else _access(folder)
    return who.may_read(AccessLists(layout).readers(article_id, published))


def _version(path: UPath) -> Hashable:
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


def _opened(folder: UPath, image_path: str) -> ServedImageFile:
    file, digest = _open_local(folder, image_path) if isinstance(folder, Path) else _read(folder / image_path)
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    if file.read(len(_SIGNATURE)) != _SIGNATURE:
        file.close()
        raise ValueError(f"{folder / image_path} is no PNG file")
    return ServedImageFile(f'"{digest}"', size, file)


def _open_local(folder: Path, image_path: str) -> tuple[ImageBytes, str]:
    """The file and its hash. Links that lead out of the article's folder are refused."""
    home = Path(os.path.realpath(folder.parent)) / folder.name
    path = os.path.realpath(home / image_path, strict=True)
    if not Path(path).is_relative_to(home):
        raise ValueError(f"{image_path} leads out of {home}")
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


def _digest(file: ImageBytes, status: os.stat_result) -> str:
    version = (status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size)
    if version not in _digests:
        if len(_digests) >= _KEPT:
            _digests.clear()
        _digests[version] = hashlib.file_digest(file, "sha256").hexdigest()
    return _digests[version]


def _read(path: UPath) -> tuple[ImageBytes, str]:
    """The file and its hash from object storage, which has no links; the bytes are held in memory."""
    data = path.read_bytes()
    return BytesIO(data), hashlib.sha256(data).hexdigest()
