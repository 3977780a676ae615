"""What lies below a folder, as its store tells it without a file being opened: names, sizes, versions, times.

Local folders are walked with ``os.scandir``; anything else is asked through ``fsspec`` in one listing.
"""

import errno
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from fsspec.asyn import AsyncFileSystem  # type: ignore[import-untyped]
from fsspec.spec import AbstractFileSystem  # type: ignore[import-untyped]
from upath import UPath

from kb_pipeline.blob.files import BlobFiles
from kb_pipeline.steps.fingerprint import fingerprint

_ETAGS = ("etag", "ETag", "e_tag")
_TIMES = ("last_modified", "LastModified", "mtime", "updated", "modified", "created")


class FileFacts(NamedTuple):
    """One file; ``name`` is relative to the folder, with ``/``.

    ``version`` is the ETag or the modification time, exactly; ``changed`` is when content, name or
    mode last changed, in seconds, or infinity where the store does not tell.
    """

    name: str
    size: int
    version: str
    changed: float


def signature_of(files: Iterable[FileFacts]) -> str:
    """A hash that is another one when a file was added, removed, renamed, or (most likely) written to."""
    return fingerprint(sorted((file.name, file.size, file.version) for file in files))[:32]


def local_files(folder: str) -> Iterator[FileFacts]:
    """The files of one article, on a local disk. Hidden ones, backups and links that lead out are passed over.

    Raises:
        OSError: the folder, or one below it, cannot be listed.
    """
    pending = [("", folder)]
    while pending:
        prefix, directory = pending.pop()
        with os.scandir(directory) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    pending.append((f"{prefix}{entry.name}/", entry.path))
                elif _belongs(prefix + entry.name) and _is_file_inside(entry, folder):
                    stat = entry.stat()
                    # the change time too: copying with "preserve" dates a file back while it is still arriving
                    changed = max(stat.st_mtime, stat.st_ctime)
                    yield FileFacts(prefix + entry.name, stat.st_size, str(stat.st_mtime_ns), changed)


def remote_files(folder: UPath) -> Iterator[FileFacts]:
    """As :func:`local_files`, on any store: one listing, never an answer from a cache.

    Raises:
        Exception: whatever the store's client raises when it cannot be reached.
    """
    fs = folder.fs
    if isinstance(fs, BlobFiles):
        yield from _blobs(fs, folder)
        return
    fs.invalidate_cache(folder.path)
    found: Mapping[str, Mapping[str, Any]] = fs.find(folder.path, detail=True, **_strictness(fs))
    if not found and not fs.isdir(folder.path):
        raise FileNotFoundError(errno.ENOENT, "there is nothing there", str(folder))
    base = str(fs._strip_protocol(folder.path)).strip("/")
    for path, info in found.items():
        name = path.strip("/").removeprefix(base).lstrip("/")
        if info.get("type") != "directory" and _belongs(name):
            yield _facts(name, info)


def _blobs(fs: BlobFiles, folder: UPath) -> Iterator[FileFacts]:
    """The same, page by page: the facts of ten thousand articles are never in memory at once."""
    is_there = False
    for blob in fs.walk_blobs(folder.path):
        is_there = True
        if not blob.is_folder and _belongs(blob.name):
            yield FileFacts(blob.name, blob.size, blob.etag, blob.last_modified.timestamp())
    if not is_there:
        raise FileNotFoundError(errno.ENOENT, "there is nothing there", str(folder))


def _strictness(fs: AbstractFileSystem) -> dict[str, str]:
    # fsspec's generic listing leaves out what it could not list; stores with a listing of their own raise
    if isinstance(fs, AsyncFileSystem):
        generic = type(fs)._find is AsyncFileSystem._find
    else:
        generic = type(fs).find is AbstractFileSystem.find
    return {"on_error": "raise"} if generic else {}


def _facts(name: str, info: Mapping[str, Any]) -> FileFacts:
    changed = next((_seconds(info[key]) for key in _TIMES if info.get(key)), math.inf)
    version = next((str(info[key]) for key in _ETAGS if info.get(key)), repr(changed))
    return FileFacts(name, int(info.get("size") or 0), version, changed)


def _seconds(time: object) -> float:
    match time:
        case datetime():
            return time.timestamp()
        case int() | float():
            return float(time)
        case str():
            return datetime.fromisoformat(time).timestamp()
    return math.inf


def _belongs(name: str) -> bool:
    # a name that is no valid Unicode can be in no manifest and no URL; on a disk there is none with such steps
    *steps, last = name.split("/")
    is_plain = not {"", ".", ".."}.intersection(steps)
    return is_plain and last != "" and not last.startswith(".") and not last.endswith("~") and _is_unicode(name)


def _is_unicode(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_file_inside(entry: os.DirEntry[str], folder: str) -> bool:
    if not entry.is_symlink():
        return entry.is_file()
    # a path, unlike an entry, takes a link that leads in a circle for one that leads nowhere
    target = Path(entry.path)
    return target.is_file() and target.resolve().is_relative_to(Path(folder).resolve())
