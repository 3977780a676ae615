"""Reading and writing layer files: whole files, atomically, with errors that say what to do.

The paths are ``universal_pathlib``'s, so a layer can be a local folder or object storage.
"""

import contextlib
import os
import shutil
import uuid
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError
from upath import UPath

from kb_pipeline.blob.files import AT_ONCE
from kb_pipeline.errors import DamagedLayerError, StorageError, remedy
from kb_pipeline.records import Record

R = TypeVar("R", bound=Record)
T = TypeVar("T")


@contextlib.contextmanager
def _explained(action: str, path: UPath | Path) -> Iterator[None]:
    try:
        yield
    except OSError as exc:
        what_to_do = remedy(exc, "check that it exists and may be used")
        raise StorageError(f"cannot {action} {path}: {exc.strerror or exc}; {what_to_do}") from exc


def read_bytes(path: UPath | Path) -> bytes:
    """Read a whole file.

    Raises:
        StorageError: it is missing or unreadable.
    """
    with _explained("read", path):
        return path.read_bytes()


def read_record(path: UPath, kind: type[R], layer: str) -> R:
    """Read a JSON file that ``layer`` wrote.

    Raises:
        DamagedLayerError: it is not what was written.
        StorageError: it is missing or unreadable.
    """
    try:
        return kind.model_validate_json(read_bytes(path))
    except ValidationError as exc:
        raise DamagedLayerError(layer, path) from exc


def write_bytes(path: UPath, data: bytes) -> None:
    """Write a whole file so that a reader, or a killed run, never sees half of it.

    Raises:
        StorageError: the target is read-only, full or unreachable.
    """
    with _explained("write", path):
        if isinstance(path, Path):
            _replace_locally(Path(path), data)  # UPath's bookkeeping takes longer than the file system
        else:
            path.write_bytes(data)  # object stores publish a put as a whole


def copy_file(source: UPath, target: UPath) -> None:
    """Make ``target`` a copy of ``source``, atomically; on one disk without using space twice.

    Raises:
        StorageError: one is missing, or the target cannot be written.
    """
    if not (isinstance(source, Path) and isinstance(target, Path) and _link_locally(Path(source), Path(target))):
        write_bytes(target, read_bytes(source))


def _link_locally(source: Path, target: Path) -> bool:
    """Whether both now share one file; not every file system can."""
    try:
        with _temporary_beside(target) as temporary:
            temporary.hardlink_to(source)  # files are only ever replaced, so both stay as they are
            temporary.replace(target)
            temporary.unlink(missing_ok=True)  # it stays where both names were the same file already
    except OSError:
        return False  # the copy that is tried next says what is wrong, if it fails too
    return True


def _replace_locally(path: Path, data: bytes) -> None:
    with _temporary_beside(path) as temporary:
        temporary.write_bytes(data)
        temporary.replace(path)


@contextlib.contextmanager
def _temporary_beside(path: Path) -> Iterator[Path]:
    """A name in the same folder, which is made if there is none."""
    folder = path.parent
    if not folder.is_dir():  # far quicker than to make what is there
        folder.mkdir(parents=True, exist_ok=True)
    # short, because the final name may already use most of the 255 bytes a name can have
    temporary = folder / f".{uuid.uuid4().hex}"
    try:
        yield temporary
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def read_all(folder: UPath, suffix: str) -> Iterator[tuple[str, bytes]]:
    """Name without ``suffix`` and content of each file directly in ``folder``, in order of name.

    Raises:
        StorageError: one is unreadable.
    """
    # ten thousand path objects of UPath take longer than the reading
    place = Path(folder) if isinstance(folder, Path) else folder
    for name in sorted(names_in(folder)):
        if name.endswith(suffix):
            try:
                data = read_bytes(place / name)
            except StorageError as exc:
                if isinstance(exc.__cause__, FileNotFoundError):
                    continue  # it was removed meanwhile
                raise
            yield name.removesuffix(suffix), data


def for_each(place: UPath, do: Callable[[str], T], names: Iterable[str]) -> list[T]:
    """What is done for each name: one after the other on a disk, several at once where each waits for a network.

    Raises:
        Exception: what the first that failed raised; in the cloud, all were tried.
    """
    if isinstance(place, Path):
        return [do(name) for name in names]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        tried = [pool.submit(do, name) for name in names]
    return [one.result() for one in tried]


def remove_file(path: UPath) -> None:
    """Remove a file; one that is gone already is fine."""
    with _explained("remove", path):
        if isinstance(path, Path):
            path.unlink(missing_ok=True)
        else:
            with contextlib.suppress(FileNotFoundError):
                path.fs.rm_file(path.path)


def remove_folder(path: UPath) -> None:
    """Remove a folder with all that is in it; one that is gone already is fine.

    Raises:
        StorageError: something in it cannot be removed.
    """
    with _explained("remove", path):
        if isinstance(path, Path):
            with contextlib.suppress(FileNotFoundError):
                shutil.rmtree(path)
        else:
            with contextlib.suppress(FileNotFoundError):
                path.fs.rm(path.path, recursive=True)


def names_in(folder: UPath) -> set[str]:
    """Names of what lies directly in ``folder``; empty when there is no such folder."""
    with _explained("list", folder):
        if isinstance(folder, Path):
            return _names_in_folder(folder)
        try:
            return {path.rstrip("/").rpartition("/")[2] for path in folder.fs.ls(folder.path, detail=False)}
        except FileNotFoundError:
            return set()


def _names_in_folder(folder: Path) -> set[str]:
    try:
        with os.scandir(str(folder)) as entries:
            return {entry.name for entry in entries}
    except (FileNotFoundError, NotADirectoryError):
        return set()
