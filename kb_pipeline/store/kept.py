"""Stores records that cannot be made again, each with a checksum and a second copy.

Such records are the states of articles, which hold the published history, and the image descriptions and conversions
that a service was paid for. The checksum reveals a damaged file, and the copy replaces it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from upath import UPath

from kb_pipeline.errors import StorageError
from kb_pipeline.steps.fingerprint import seal, unseal
from kb_pipeline.store.files import names_in, read_bytes, remove_file, settle, write_bytes

T = TypeVar("T")

COPIES = "copies"
"""The folder of the second copies, in the home folder."""


@dataclass(frozen=True)
class RecordRead(Generic[T]):
    """A record that was read. ``value`` is ``None`` if there is no record, or both files are damaged.

    ``damage`` describes what is wrong with the files; it is empty if they are intact.
    """

    value: T | None
    damage: str = ""


@dataclass(frozen=True)
class DurableRecord(Generic[T]):
    """One record. ``name`` is its path below ``home``; ``parse`` raises ``ValueError`` for invalid data."""

    home: UPath
    name: str
    parse: Callable[[bytes], T]

    @property
    def path(self) -> UPath:
        return self.home / self.name

    @property
    def copy(self) -> UPath:
        return self.home / COPIES / self.name

    def read(self) -> RecordRead[T]:
        """Read the record, from its copy if the file is damaged or gone.

        Raises:
            StorageError: a file exists and cannot be read.
        """
        file = self._read_file(self.path)
        return RecordRead(file.value) if file.value is not None else self._merged(file, self._read_file(self.copy))

    def is_whole(self) -> bool:
        """Whether the file and its copy both exist and are intact."""
        return not (self._read_file(self.path).problem or self._read_file(self.copy).problem)

    def mend(self) -> RecordRead[T]:
        """Read the record, and rewrite both files if one of them is damaged or gone.

        Raises:
            StorageError: a file cannot be read or written.
        """
        file, copy = self._read_file(self.path), self._read_file(self.copy)
        good = file if file.value is not None else copy
        if good.value is not None and (file.problem or copy.problem):
            self.write(good.body, durable=True)
        return self._merged(file, copy)

    def write(self, body: bytes, *, durable: bool = False) -> None:
        """Replace the record: the file, then its copy. A ``durable`` record survives a power failure afterwards.

        Raises:
            StorageError: it cannot be written.
        """
        sealed = seal(self.name, body)
        write_bytes(self.path, sealed)
        if durable:
            settle([self.path])
        write_bytes(self.copy, sealed)

    def remove(self) -> None:
        """Remove both files, the copy first, so that an interrupted removal can be repeated."""
        remove_file(self.copy)
        remove_file(self.path)

    def _merged(self, file: "_File[T]", copy: "_File[T]") -> RecordRead[T]:
        if file.value is not None:
            damage = f"{self.copy}, the copy of {self.path}, is {copy.problem}" if copy.problem else ""
            return RecordRead(file.value, damage)
        if copy.value is not None:
            return RecordRead(copy.value, f"{self.path} is {file.problem}; its copy {self.copy} is used")
        if file.problem == copy.problem == _GONE:
            return RecordRead(None)
        return RecordRead(None, f"{self.path} is {file.problem}, and its copy {self.copy} is {copy.problem}")

    def _read_file(self, path: UPath) -> "_File[T]":
        try:
            data = read_bytes(path)
        except StorageError as exc:
            if isinstance(exc.__cause__, FileNotFoundError | NotADirectoryError):
                return _File(None, _GONE)
            raise
        try:
            body = unseal(self.name, data)
            return _File(self.parse(body), "", body)
        except ValueError:
            return _File(None, _DAMAGED)


@dataclass(frozen=True)
class _File(Generic[T]):
    value: T | None
    problem: str
    body: bytes = b""


_GONE, _DAMAGED = "gone", "damaged"


def copied_names(home: UPath, folder: str) -> set[str]:
    """Names of the second copies of the records in a folder."""
    return names_in(home / COPIES / folder)
