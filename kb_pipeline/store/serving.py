"""Replaces folders on Blob Storage with few requests, while others read them.

Every blob has the hash of its content as metadata, so one listing shows what is in a folder. The writer holds a lease
on the folder, and writes each blob on the condition that it has not changed since the listing. If a writer is killed
or loses its lease in the middle of a request, the hashes reveal what is unfinished, and the next writer replaces it.
"""

import random
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from upath import UPath

from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.store.azure_account import LostRaceError
from kb_pipeline.store.azure_blob import BlobEntry, BlobFiles, at_once

if TYPE_CHECKING:
    from azure.storage.blob import BlobLeaseClient


SECONDS = 30
"""Duration of a lease that is not renewed; the service allows 15 to 60."""
PATIENCE = 45.0
"""Seconds to wait for the lease of another writer: longer than the lease of a dead process lasts."""
_RENEWAL = 10.0
"""Seconds between two renewals."""
_MARGIN = 2.0
"""Seconds before its end when a lease counts as lost, because a request takes a while to arrive."""


@dataclass
class Lease:
    """The right to write to a folder: a lease on its marker, a blob at the path ``marker``.

    ``is_new``: the marker did not exist before. ``is_needed``: the marker stays when the lease is given back, because
    it shows that the folder is unfinished.
    """

    files: BlobFiles
    marker: str
    is_new: bool
    is_needed: bool = False
    is_over: bool = False
    id: str = field(default_factory=lambda: str(uuid4()))
    until: float = 0

    def acquire(self) -> None:
        """Acquire the lease.

        Raises:
            LostRaceError: another writer has it.
            FileNotFoundError: the marker is gone.
        """
        self._extend(lambda client: client.acquire(lease_duration=SECONDS))

    def renew(self) -> None:
        """Extend the lease.

        Raises:
            LostRaceError: it was lost.
        """
        self._extend(lambda client: client.renew())

    def require(self) -> None:
        """Check that the lease is still held. Call it before every write.

        Raises:
            LostRaceError: another writer may have it by now.
        """
        if self.is_over or time.monotonic() > self.until - _MARGIN:
            raise LostRaceError(
                f"the lease on {self.marker} was lost: this process or its network stood still too long"
            )

    def finish(self) -> None:
        """Remove the marker, and the lease with it."""
        self.require()
        self.is_over = True
        with suppress(FileNotFoundError):
            self.files.rm_file(self.marker, lease=self.id)

    def give_back(self) -> None:
        """Release the lease. A failure is ignored, because the lease expires soon anyway."""
        with suppress(KnowledgeBaseError, FileNotFoundError):
            if self.is_over:
                return
            if self.is_new and not self.is_needed:
                self.finish()
            else:
                self.is_over = True
                self._send(lambda client: client.release())

    def _extend(self, request: "Callable[[BlobLeaseClient], object]") -> None:
        sent_at = time.monotonic()
        self._send(request)
        self.until = sent_at + SECONDS

    def _send(self, request: "Callable[[BlobLeaseClient], object]") -> None:
        from azure.storage.blob import BlobLeaseClient

        with self.files.account.translated_errors(self.marker):
            request(BlobLeaseClient(self.files.blob(self.marker), self.id))


@contextmanager
def leased(files: BlobFiles, markers: Collection[str]) -> Iterator[dict[str, Lease]]:
    """Hold the leases on all these markers, which are created if needed.

    Raises:
        LostRaceError: another writer holds one of them for too long.
    """
    leases = _acquire_all(files, sorted(set(markers)))
    done = threading.Event()
    threading.Thread(target=_keep_renewing, args=(leases, done), name="kb-leases", daemon=True).start()
    try:
        yield {lease.marker: lease for lease in leases}
    finally:
        done.set()
        at_once(Lease.give_back, leases)


def _acquire_all(files: BlobFiles, markers: list[str]) -> list[Lease]:
    """Acquire all leases or none, so that two writers that need several never wait for each other."""
    deadline = time.monotonic() + PATIENCE
    while True:
        outcomes = at_once(lambda marker: _try_to_acquire(files, marker), markers)
        leases = [lease for lease in outcomes if isinstance(lease, Lease)]
        errors = [error for error in outcomes if isinstance(error, Exception)]
        if not errors:
            return leases
        at_once(Lease.give_back, leases)
        others = [error for error in errors if not isinstance(error, LostRaceError)]
        if others or time.monotonic() > deadline:
            raise (others or errors)[0]
        time.sleep(random.uniform(0.2, 1))  # noqa: S311 - not a secret


def _try_to_acquire(files: BlobFiles, marker: str) -> Lease | Exception:
    while True:
        try:
            lease = Lease(files, marker, is_new=_create(files, marker))
            lease.acquire()
        except FileNotFoundError:
            continue  # another writer has just finished and removed the marker
        except KnowledgeBaseError as exc:
            return exc
        return lease


def _create(files: BlobFiles, marker: str) -> bool:
    """Create the marker; returns whether it is new. Otherwise it belongs to a writer at work, or to one that died."""
    try:
        files.pipe_file(marker, b"", if_match="")
    except LostRaceError:
        return False
    return True


def _keep_renewing(leases: list[Lease], done: threading.Event) -> None:
    while not done.wait(_RENEWAL):
        for lease in leases:
            if not lease.is_over:
                with suppress(KnowledgeBaseError, FileNotFoundError):
                    lease.renew()


UNFINISHED = ".unfinished"
"""Name of the marker, which is in a folder while it is being replaced. The lease is on this blob."""
_held: dict[tuple[str, str], Lease] = {}
"""The leases of this process, by endpoint and marker. The caller holds the article's lock."""


@dataclass(frozen=True)
class FileToServe:
    """A file to serve: its SHA-256, and a function that reads its content."""

    sha256: str
    read: Callable[[], bytes]


def is_blob_folder(folder: UPath) -> bool:
    """Whether the folder is on Blob Storage."""
    return not isinstance(folder, Path) and isinstance(folder.fs, BlobFiles)


@contextmanager
def replacing(folders: Sequence[UPath]) -> Iterator[None]:
    """Keep writers on all machines from replacing these folders, which are in one account.

    Raises:
        LostRaceError: another writer holds one of them for too long.
    """
    mine = [folder for folder in folders if _key(folder) not in _held]
    if not mine:
        yield
        return
    with leased(mine[0].fs, [_marker(folder) for folder in mine]) as leases:
        _held.update({_key(folder): leases[_marker(folder)] for folder in mine})
        try:
            yield
        finally:
            for folder in mine:
                _held.pop(_key(folder), None)


def shows(folder: UPath, wanted: Mapping[str, str]) -> bool:
    """Whether the folder is finished, and holds all ``wanted`` files (hashes by name)."""
    blobs, lease = _listing(folder), _held.get(_key(folder))
    is_finished = UNFINISHED not in blobs or (lease is not None and lease.is_new and not lease.is_needed)
    return is_finished and wanted.items() <= _hashes(blobs).items()


def put(folder: UPath, wanted: Mapping[str, FileToServe], last: Sequence[str]) -> None:
    """Write the ``wanted`` files that are missing or differ; those in ``last`` after all others and in order.

    The folder stays marked as unfinished until :func:`tidy`.

    Raises:
        LostRaceError: another process wrote to the folder in the meantime.
    """
    with replacing([folder]):
        lease = _held[_key(folder)]
        lease.is_needed = True
        blobs = _listing(folder)
        hashes = _hashes(blobs)
        changed = [name for name, file in wanted.items() if hashes.get(name) != file.sha256]

        def write(name: str) -> None:
            lease.require()
            file, current = wanted[name], blobs.get(name)
            target, metadata = f"{folder.path}/{name}", {"sha256": file.sha256}
            folder.fs.pipe_file(target, file.read(), if_match=current.etag if current else "", metadata=metadata)

        at_once(write, [name for name in changed if name not in last])
        for name in last:
            if name in changed:
                write(name)


def tidy(folder: UPath, is_spare: Callable[[str], bool]) -> None:
    """Remove the files that are spare, and the mark that the folder is unfinished."""
    with replacing([folder]):
        _remove(folder, [name for name in _listing(folder) if is_spare(name)])


def remove(folder: UPath, first: str) -> None:
    """Remove the folder, beginning with the file ``first`` by which readers find it; a missing one is ignored."""
    if not folder.fs.isdir(folder.path):
        return
    with replacing([folder]):
        _held[_key(folder)].require()
        folder.fs.rm_files([f"{folder.path}/{first}"])
        _remove(folder, list(_listing(folder)))
    folder.fs.rm(folder.path, recursive=True)  # the folders of an account with a hierarchical namespace


def _remove(folder: UPath, names: Sequence[str]) -> None:
    lease = _held[_key(folder)]
    lease.require()
    folder.fs.rm_files([f"{folder.path}/{name}" for name in names if name != UNFINISHED])
    lease.finish()


def _marker(folder: UPath) -> str:
    return f"{folder.path}/{UNFINISHED}"


def _key(folder: UPath) -> tuple[str, str]:
    return folder.fs.account.endpoint, _marker(folder)


def _listing(folder: UPath) -> dict[str, BlobEntry]:
    return {blob.name: blob for blob in folder.fs.walk_blobs(folder.path) if not blob.is_folder}


def _hashes(blobs: Mapping[str, BlobEntry]) -> dict[str, str]:
    return {name: blob.metadata.get("sha256", "") for name, blob in blobs.items()}
