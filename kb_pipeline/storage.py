"""Reading and writing layer files: whole files, atomically, with errors that say what to do.

The paths are ``universal_pathlib``'s, so a layer can be a local folder or object storage.
"""

import contextlib
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError
from upath import UPath

from kb_pipeline.errors import DamagedLayerError, StorageError
from kb_pipeline.records import Record

R = TypeVar("R", bound=Record)


@contextlib.contextmanager
def _explained(action: str, path: UPath) -> Iterator[None]:
    try:
        yield
    except OSError as exc:
        raise StorageError(
            f"cannot {action} {path}: {exc.strerror or exc}; check that it exists and may be used"
        ) from exc


def read_bytes(path: UPath) -> bytes:
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
            _replace_locally(path, data)
        else:
            path.write_bytes(data)  # object stores publish a put as a whole


def _replace_locally(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # short, because the final name may already use most of the 255 bytes a name can have
    temporary = path.parent / f".{uuid.uuid4().hex}"
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def remove_file(path: UPath) -> None:
    """Remove a file; one that is gone already is fine."""
    with _explained("remove", path):
        path.unlink(missing_ok=True)


def names_in(folder: UPath) -> set[str]:
    """Names of the files directly in ``folder``; empty when there is no such folder."""
    with _explained("list", folder):
        return {child.name for child in folder.iterdir()} if folder.is_dir() else set()
