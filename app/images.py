"""Images of the serving layer, for the person who asks.

Here: which file, whether it may be seen, its bytes. Not here: HTTP (:mod:`app.api.images`).
"""

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

from app.articles import may_see
from app.principal import Principal
from kb_pipeline.errors import KnowledgeBaseError, TransientError
from kb_pipeline.layers.serving_article import load_manifest
from kb_pipeline.layout import Layout
from kb_pipeline.steps.article_ids import is_article_id

ImageBytes = BufferedReader | BytesIO

_IMAGE_PATH = re.compile(r"images/[^./\\\0][^/\\\0]*\.png")
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_BLOCK = 65536
_KEPT = 4096
_digests: dict[tuple[int, int, int, int], str] = {}
"""Hashes of files by what the system says of them: they are only ever replaced as a whole, by another file."""


class ImageNotFoundError(KnowledgeBaseError):
    """There is no such image for this person; it does not say whether there is one for somebody else."""


@dataclass(frozen=True)
class ServedImageFile:
    """An opened image: its bytes are those of the moment it was opened, also when the article is published anew.

    ``etag`` is the hash of the bytes (the one in the manifest), quoted as a strong validator of HTTP. Whoever does
    not read :meth:`blocks` to the end calls :meth:`close`.
    """

    etag: str
    size: int
    file: ImageBytes
    content_type: str = "image/png"

    def blocks(self, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """The bytes from ``start`` up to, not including, ``end``."""
        left = (self.size if end is None else min(end, self.size)) - start
        with self.file as file:
            file.seek(start)
            while left > 0 and (block := file.read(min(left, _BLOCK))):
                left -= len(block)
                yield block

    def close(self) -> None:
        """Do without the bytes."""
        self.file.close()


def open_image(layout: Layout, article_id: str, image_path: str, who: Principal) -> ServedImageFile:
    """Open an image of a published article by its path there, ``images/<stem>.png``.

    An image that only an older version shows is found as long as it is there: readers of an older generation of the
    index still cite it.

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
    return may_see(_access_known(folder, version) if version else _access(folder), who)


def _version(path: UPath) -> Hashable:
    """What is another one when the file was replaced; nothing where the store does not tell.

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
    """The file and its hash; a link that leads out of the article's folder is not followed."""
    home = Path(os.path.realpath(folder.parent)) / folder.name
    path = os.path.realpath(home / image_path, strict=True)
    if not Path(path).is_relative_to(home):
        raise ValueError(f"{image_path} leads out of {home}")
    # without O_NONBLOCK, opening a pipe would wait for somebody to write into it
    file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb")
    try:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ValueError(f"{path} is no file")
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
    """The same from object storage, where there are no links; what it holds now is held in memory."""
    data = path.read_bytes()
    return BytesIO(data), hashlib.sha256(data).hexdigest()
