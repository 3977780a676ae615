"""Lists the files below a folder without opening them: names, sizes, versions and times.

Local folders are walked with ``os.scandir``, Blob Storage is listed.
"""

import errno
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from upath import UPath

from kb_pipeline.steps.fingerprint import fingerprint


class FileFacts(NamedTuple):
    """One file. ``name`` is relative to the folder, with ``/``.

    ``version`` is the ETag or the exact modification time. ``changed`` is when the content, name or mode last changed,
    in seconds.
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
    files, folders = [], []
    for info in folder.fs.ls(folder.path, detail=True, beginning=beginning):
        name = str(info["name"]).rpartition("/")[2]
        if info["type"] == "directory":
            folders.append(name)
        elif _belongs(name):
            files.append(FileFacts(name, info["size"], info["etag"], info["last_modified"].timestamp()))
    return files, folders


def remote_files(folder: UPath) -> Iterator[FileFacts]:
    """As :func:`local_files`, on Blob Storage, page by page: ten thousand articles never are in memory at once.

    Raises:
        Exception: the error of the store's client if the store cannot be reached.
    """
    is_empty = True
    for blob in folder.fs.walk_blobs(folder.path):
        is_empty = False
        if not blob.is_folder and _belongs(blob.name):
            yield FileFacts(blob.name, blob.size, blob.etag, blob.last_modified.timestamp())
    if is_empty:
        raise FileNotFoundError(errno.ENOENT, "there is nothing there", str(folder))


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
