"""Trees of files that articles are made of: a folder, or a ZIP archive that is read without unpacking it."""

import os
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from kb_pipeline.errors import IntakeError
from kb_pipeline.sources.containers import problem_of
from kb_pipeline.store.staging_files import FileFacts, local_files

_MOST_ENTRIES = 200_000
"""Files of an archive; the list alone takes a hundred MB."""
_MOST_BYTES = 20_000_000_000
"""Bytes of a ZIP, unpacked; only one file at a time is."""
_KNOWN = 100_000
"""Files whose hashes are remembered within a run."""


class Tree(ABC):
    """Files by their names below a root, with ``/``."""

    def __init__(self) -> None:
        self.version = lru_cache(_KNOWN)(self._version)

    @abstractmethod
    def files(self) -> Iterator[FileFacts]:
        """List all files.

        Raises:
            IntakeError: they cannot be listed to their end.
        """

    @abstractmethod
    def content(self, name: str) -> bytes | Path:
        """The content of a file, or where it is.

        Raises:
            IntakeError: it is not there, or cannot be read.
        """

    @abstractmethod
    def _version(self, name: str) -> str | None:
        """A text that changes with the file; ``None`` if there is no such file. It is asked once in a run."""

    def read(self, name: str) -> bytes:
        """The content of a file.

        Raises:
            IntakeError: as :meth:`content`.
        """
        content = self.content(name)
        if isinstance(content, bytes):
            return content
        try:
            return content.read_bytes()
        except OSError as exc:
            raise IntakeError(f"{name} cannot be read: {exc.strerror}") from exc


def open_tree(path: Path) -> Tree:
    """The tree at a path: a folder or a ZIP.

    Raises:
        IntakeError: there is neither.
    """
    try:
        if path.is_dir():
            return FolderTree(path)
        if path.is_file() and zipfile.is_zipfile(path):
            return ZipTree(path)
    except OSError as exc:
        raise IntakeError(f"{path} cannot be read: {exc.strerror}") from exc
    raise IntakeError(f"there is no folder and no ZIP archive {path}; is its disk mounted, was it moved?")


class FolderTree(Tree):
    """A folder. Links that lead out of it are left out, or any file of this machine could be published."""

    def __init__(self, root: Path) -> None:
        super().__init__()
        self._root = root.resolve()

    def files(self) -> Iterator[FileFacts]:
        try:
            for facts in local_files(str(self._root)):
                yield facts._replace(version=f"{facts.size}-{facts.version}")
        except OSError as exc:
            raise IntakeError(f"{exc.filename or self._root} cannot be listed: {exc.strerror}") from exc

    def content(self, name: str) -> Path:
        path = self._path(name)
        if path is None:
            raise IntakeError(f"{name} is not in {self._root} any more")
        return path

    def _version(self, name: str) -> str | None:
        try:
            path = self._path(name)
            stat = path.stat() if path else None
        except (OSError, ValueError):  # a name that no file can have
            return None
        return f"{stat.st_size}-{stat.st_mtime_ns}" if stat else None

    def _path(self, name: str) -> Path | None:
        path = Path(os.path.realpath(self._root / name))
        return path if path.is_relative_to(self._root) and path.is_file() else None


class ZipTree(Tree):
    """A ZIP archive, which is checked before anything of it is unpacked."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        try:
            self._zip = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as exc:
            raise IntakeError(f"{path} is damaged or no ZIP archive ({exc})") from exc
        entries = [entry for entry in self._zip.infolist() if not entry.is_dir()]
        if len(entries) > _MOST_ENTRIES:
            raise IntakeError(f"{path} holds {len(entries):,} files, at most {_MOST_ENTRIES:,} are read")
        if problem := problem_of(entries, _MOST_BYTES):
            raise IntakeError(f"{path} is refused: {problem}")
        self._entries = {entry.filename: entry for entry in entries}

    def files(self) -> Iterator[FileFacts]:
        for name, entry in self._entries.items():
            yield FileFacts(name, entry.file_size, self._version(name) or "", 0.0)

    def content(self, name: str) -> bytes:
        try:
            return self._zip.read(self._entries[name])
        except KeyError as exc:
            raise IntakeError(f"{name} is not in {self._path} any more") from exc
        except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError, EOFError) as exc:
            raise IntakeError(f"{name} in {self._path} cannot be unpacked: {exc}") from exc

    def _version(self, name: str) -> str | None:
        entry = self._entries.get(name)
        return f"{entry.file_size}-{entry.CRC:08x}" if entry else None
