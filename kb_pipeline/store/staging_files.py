"""Lists the files below a folder without opening them: names, sizes, versions and times.

Local folders are walked with ``os.scandir``; any other store is listed with one call of ``fsspec``.
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

from kb_pipeline.steps.fingerprint import fingerprint
from kb_pipeline.store.azure_blob import BlobFiles

_ETAGS = ("etag", "ETag", "e_tag")
_TIMES = ("last_modified", "LastModified", "mtime", "updated", "modified", "created")


class FileFacts(NamedTuple):
    """One file. ``name`` is relative to the folder, with ``/``.

    ``version`` is the ETag or the exact modification time. ``changed`` is when the content, name or mode last changed,
    in seconds; infinity if the store does not say.
    """

    name: str
    size: int
    version: str
    changed: float


def signature_of(files: Iterable[FileFacts]) -> str:
    """A hash that changes when a file is added, removed, renamed or (almost certainly) written to."""
    return fingerprint(sorted((file.name, file.size, file.version) for file in files))[:32]


def local_files(folder: str, left_out: list[str] | None = None) -> Iterator[FileFacts]:
    """The files of one article on a local disk, without hidden files, backups and links that lead out of the folder.

    The names of what is no such file, directly in the folder, are added to ``left_out``.

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
                    yield _facts(prefix + entry.name, entry)
                    continue
                if left_out is not None and not prefix:
                    left_out.append(entry.name)


def _facts(name: str, entry: os.DirEntry[str]) -> FileFacts:
    stat = entry.stat()
    # also the change time: a copy that preserves times has an old modification time from the start
    return FileFacts(name, stat.st_size, str(stat.st_mtime_ns), max(stat.st_mtime, stat.st_ctime))


def local_top_files(root: str) -> Iterator[FileFacts]:
    """The files in a folder itself, as :func:`local_files`.

    Raises:
        OSError: the folder cannot be listed.
    """
    with os.scandir(root) as entries:
        for entry in entries:
            if _belongs(entry.name) and _is_file_inside(entry, root):
                yield _facts(entry.name, entry)


def remote_top_files(folder: UPath, beginning: str = "") -> tuple[list[FileFacts], list[str]]:
    """The files and the folders in a folder itself whose names begin so; the files as :func:`remote_files`.

    Raises:
        Exception: the error of the store's client if the store cannot be reached.
    """
    fs = folder.fs
    fs.invalidate_cache(folder.path)
    options = {"beginning": beginning} if isinstance(fs, BlobFiles) else {}
    files, folders = [], []
    for info in fs.ls(folder.path, detail=True, **options):
        name = str(info["name"]).rstrip("/").rpartition("/")[2]
        if info["type"] == "directory":
            folders.append(name)
        elif name.startswith(beginning) and _belongs(name):
            files.append(_remote_facts(name, info))
    return files, folders


def remote_files(folder: UPath) -> Iterator[FileFacts]:
    """As :func:`local_files`, on any other store, with one listing that is never served from a cache.

    Raises:
        Exception: the error of the store's client if the store cannot be reached.
    """
    fs = folder.fs
    if isinstance(fs, BlobFiles):
        yield from _blobs(fs, folder)
        return
    fs.invalidate_cache(folder.path)
    infos: Mapping[str, Mapping[str, Any]] = fs.find(folder.path, detail=True, **_strictness(fs))
    if not infos and not fs.isdir(folder.path):
        raise FileNotFoundError(errno.ENOENT, "there is nothing there", str(folder))
    base = str(fs._strip_protocol(folder.path)).strip("/")
    for path, info in infos.items():
        name = path.strip("/").removeprefix(base).lstrip("/")
        if info.get("type") != "directory" and _belongs(name):
            yield _remote_facts(name, info)


def _remote_facts(name: str, info: Mapping[str, Any]) -> FileFacts:
    changed = next((_seconds(info[key]) for key in _TIMES if info.get(key)), math.inf)
    version = next((str(info[key]) for key in _ETAGS if info.get(key)), repr(changed))
    return FileFacts(name, int(info.get("size") or 0), version, changed)


def _blobs(fs: BlobFiles, folder: UPath) -> Iterator[FileFacts]:
    """The files on Blob Storage, page by page, so that those of ten thousand articles are never in memory at once."""
    is_empty = True
    for blob in fs.walk_blobs(folder.path):
        is_empty = False
        if not blob.is_folder and _belongs(blob.name):
            yield FileFacts(blob.name, blob.size, blob.etag, blob.last_modified.timestamp())
    if is_empty:
        raise FileNotFoundError(errno.ENOENT, "there is nothing there", str(folder))


def _strictness(fs: AbstractFileSystem) -> dict[str, str]:
    # fsspec's generic listing leaves out folders that it cannot list; stores with a listing of their own raise
    if isinstance(fs, AsyncFileSystem):
        is_generic = type(fs)._find is AsyncFileSystem._find
    else:
        is_generic = type(fs).find is AbstractFileSystem.find
    return {"on_error": "raise"} if is_generic else {}


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
    *folders, last = name.split("/")
    if {"", ".", ".."}.intersection(folders) or last == "" or last.startswith((".", "~$")) or last.endswith("~"):
        return False
    try:
        name.encode()
    except UnicodeEncodeError:
        return False  # it could not be written to a manifest or a URL
    return True


def _is_file_inside(entry: os.DirEntry[str], folder: str) -> bool:
    if not entry.is_symlink():
        return entry.is_file()
    # for a link that leads in a circle, Path.is_file returns False where DirEntry.is_file raises
    target = Path(entry.path)
    return target.is_file() and target.resolve().is_relative_to(Path(folder).resolve())
