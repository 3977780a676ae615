"""Reads and writes whole files, atomically, with errors that say what to do.

Paths are those of ``universal_pathlib``, so they may be local or on object storage.
"""

import contextlib
import os
import re
import shutil
import uuid
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError
from upath import UPath

from kb_pipeline.errors import DamagedLayerError, StorageError, storage_errors
from kb_pipeline.records import Record
from kb_pipeline.steps.fingerprint import sha256
from kb_pipeline.store.azure_blob import AT_ONCE

_SETTLED_AT_ONCE = 32
"""Files that a disk is told to write at the same time: it waits, not this program."""

TEMPORARY = re.compile(r"\.[0-9a-f]{32}")
"""Names of files while they are written."""
_ADVICE = "check that it exists and may be used"

R = TypeVar("R", bound=Record)
T = TypeVar("T")


def read_bytes(path: UPath | Path) -> bytes:
    """Read a whole file.

    Raises:
        StorageError: it is missing or unreadable.
    """
    with storage_errors("read", path, _ADVICE):
        return path.read_bytes()


def is_file_of(path: UPath | Path, digest: str | None) -> bool:
    """Whether the file exists and, if ``digest`` is given, has this SHA-256.

    Raises:
        StorageError: it exists and cannot be read.
    """
    try:
        data = read_bytes(path)
    except StorageError as exc:
        if isinstance(exc.__cause__, FileNotFoundError | NotADirectoryError):
            return False
        raise
    return digest is None or sha256(data) == digest


def read_text(path: UPath, layer: str) -> str:
    """Read a UTF-8 text that ``layer`` wrote.

    Raises:
        DamagedLayerError: it is not UTF-8.
        StorageError: it is missing or unreadable.
    """
    try:
        return read_bytes(path).decode()
    except UnicodeDecodeError as exc:
        raise DamagedLayerError(layer, path) from exc


def read_record(path: UPath, kind: type[R], layer: str) -> R:
    """Read a record from a JSON file that ``layer`` wrote.

    Raises:
        DamagedLayerError: it does not hold such a record.
        StorageError: it is missing or unreadable.
    """
    return parse_record(path, read_bytes(path), kind, layer)


def parse_record(path: UPath, data: bytes, kind: type[R], layer: str) -> R:
    """Parse a record from the content of a JSON file that ``layer`` wrote.

    Raises:
        DamagedLayerError: it is not such a record.
    """
    try:
        return kind.model_validate_json(data)
    except ValidationError as exc:
        raise DamagedLayerError(layer, path) from exc


def write_bytes(path: UPath, data: bytes) -> None:
    """Write a whole file atomically: neither a reader nor a killed process leaves or sees half of it.

    Raises:
        StorageError: the target is read-only, full or unreachable.
    """
    with storage_errors("write", path, _ADVICE):
        if isinstance(path, Path):
            _replace_locally(Path(path), data)  # UPath's bookkeeping takes longer than the file system
        else:
            path.write_bytes(data)  # object stores write a blob as a whole


def _replace_locally(path: Path, data: bytes) -> None:
    with _temporary_beside(path) as temporary:
        temporary.write_bytes(data)
        temporary.replace(path)


def settle(paths: Iterable[UPath | Path]) -> None:
    """Flush files and their names to the disk, so that they survive a power failure.

    Files are flushed in parallel, because a file system combines concurrent flushes (0.3 ms a file on ext4 instead of
    9 ms one by one). Files on object storage, and files that are gone in the meantime, are skipped.

    Raises:
        StorageError: the disk fails.
    """
    files = [Path(path) for path in paths if isinstance(path, Path)]
    # names are stored in the folders, which are therefore flushed after the files
    for batch in (files, list(dict.fromkeys(path.parent for path in files))):
        if len(batch) > 1:
            with ThreadPoolExecutor(_SETTLED_AT_ONCE) as pool:
                list(pool.map(_flush, batch))
        else:
            list(map(_flush, batch))


def _flush(path: Path) -> None:
    with storage_errors("write", path, _ADVICE):
        try:
            descriptor = os.open(path, os.O_RDONLY)
        except FileNotFoundError:
            return
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def copy_file(source: UPath, target: UPath) -> None:
    """Make ``target`` a copy of ``source``, atomically. On one disk it is a hard link, which uses no space.

    Raises:
        StorageError: the source is missing, or the target cannot be written.
    """
    if not (isinstance(source, Path) and isinstance(target, Path) and _link_locally(Path(source), Path(target))):
        write_bytes(target, read_bytes(source))


def _link_locally(source: Path, target: Path) -> bool:
    """Try to hard link the target to the source; returns whether that worked, as not every file system can."""
    try:
        with _temporary_beside(target) as temporary:
            temporary.hardlink_to(source)  # safe to share: files are only ever replaced, never changed
            temporary.replace(target)
            temporary.unlink(missing_ok=True)  # replace() does nothing if both were the same file already
    except OSError:
        return False  # the caller then copies, which raises if something is really wrong
    return True


@contextlib.contextmanager
def _temporary_beside(path: Path) -> Iterator[Path]:
    """A temporary path in the same folder, which is created if needed; the file is removed after an error."""
    folder = path.parent
    if not folder.is_dir():  # much faster than mkdir for a folder that exists
        folder.mkdir(parents=True, exist_ok=True)
    # short, because the final name may already have most of the 255 bytes that a name can have
    temporary = folder / f".{uuid.uuid4().hex}"
    try:
        yield temporary
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def read_all(folder: UPath, suffix: str) -> Iterator[tuple[str, bytes]]:
    """Read all files directly in ``folder`` that end in ``suffix``: name without it and content, in order of name.

    Raises:
        StorageError: one is unreadable.
    """
    # creating ten thousand UPaths takes longer than reading the files
    parent = Path(folder) if isinstance(folder, Path) else folder
    for name in sorted(names_in(folder)):
        if name.endswith(suffix):
            try:
                data = read_bytes(parent / name)
            except StorageError as exc:
                if isinstance(exc.__cause__, FileNotFoundError):
                    continue  # removed in the meantime
                raise
            yield name.removesuffix(suffix), data


def for_each(place: UPath, do: Callable[[str], T], names: Iterable[str]) -> list[T]:
    """Call ``do`` for each name: one after the other if ``place`` is local, several at once if it is remote.

    Raises:
        Exception: the first error; for a remote place, all calls were made.
    """
    if isinstance(place, Path):
        return [do(name) for name in names]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        futures = [pool.submit(do, name) for name in names]
    return [future.result() for future in futures]


def move_file(source: UPath, target: UPath) -> None:
    """Move a local file within its file system, atomically; a missing source is ignored.

    Raises:
        StorageError: it cannot be moved.
    """
    with storage_errors("move", source, _ADVICE), contextlib.suppress(FileNotFoundError):
        Path(str(source)).replace(str(target))


def remove_file(path: UPath) -> None:
    """Remove a file; a missing file is ignored."""
    with storage_errors("remove", path, _ADVICE):
        if isinstance(path, Path):
            path.unlink(missing_ok=True)
        else:
            with contextlib.suppress(FileNotFoundError):
                path.fs.rm_file(path.path)


def remove_folder(path: UPath) -> None:
    """Remove a folder with its contents; a missing folder is ignored.

    Raises:
        StorageError: something in it cannot be removed.
    """
    with storage_errors("remove", path, _ADVICE):
        if isinstance(path, Path):
            with contextlib.suppress(FileNotFoundError):
                shutil.rmtree(path)
        else:
            with contextlib.suppress(FileNotFoundError):
                path.fs.rm(path.path, recursive=True)


def names_in(folder: UPath) -> set[str]:
    """Names of the files and folders directly in ``folder``; empty if there is no such folder."""
    with storage_errors("list", folder, _ADVICE):
        try:
            if isinstance(folder, Path):
                with os.scandir(str(folder)) as entries:
                    return {entry.name for entry in entries}
            return {path.rstrip("/").rpartition("/")[2] for path in folder.fs.ls(folder.path, detail=False)}
        except (FileNotFoundError, NotADirectoryError):
            return set()
