"""A folder on Blob Storage that is replaced while others read it, with few requests.

Every blob carries the hash of its content as metadata, so that one listing tells what is there. Who replaces the
folder holds a lease, and writes each blob on the condition that nobody else did since the listing. What that leaves
half done, because somebody was killed or lost the lease amid a request, differs in a hash, and is replaced next time.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from upath import UPath

from kb_pipeline.blob.files import BlobFiles, at_once
from kb_pipeline.blob.lease import Lease, leased
from kb_pipeline.blob.listing import Listed

UNFINISHED = ".unfinished"
"""Is in the folder while it is being replaced; the lease is on it."""
_held: dict[tuple[str, str], Lease] = {}
"""The leases of this process, by endpoint and marker; who asks for one holds the article's lock."""


@dataclass(frozen=True)
class Content:
    """A file as it shall be there: its hash, and where it comes from."""

    sha256: str
    read: Callable[[], bytes]


def is_blob_folder(folder: UPath) -> bool:
    """Whether the folder is on Blob Storage."""
    return not isinstance(folder, Path) and isinstance(folder.fs, BlobFiles)


@contextmanager
def replacing(folders: Sequence[UPath]) -> Iterator[None]:
    """Nobody else replaces these folders of one account meanwhile, on any machine.

    Raises:
        LostRaceError: somebody does, and goes on doing so.
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
    """Whether the folder holds files with these hashes, by name, and is not half replaced."""
    there, lease = _listing(folder), _held.get(_key(folder))
    is_finished = UNFINISHED not in there or (lease is not None and lease.is_new and not lease.is_needed)
    return is_finished and wanted.items() <= _hashes(there).items()


def put(folder: UPath, wanted: Mapping[str, Content], last: Sequence[str]) -> None:
    """Write the files that are not there as they shall be, those called ``last`` after all others and in order.

    The folder stays unfinished until :func:`tidy`.

    Raises:
        LostRaceError: somebody else wrote to the folder meanwhile.
    """
    with replacing([folder]):
        lease = _held[_key(folder)]
        lease.is_needed = True
        there = _listing(folder)
        hashes = _hashes(there)
        changed = [name for name, content in wanted.items() if hashes.get(name) != content.sha256]

        def write(name: str) -> None:
            lease.require()
            content, known = wanted[name], there.get(name)
            target, metadata = f"{folder.path}/{name}", {"sha256": content.sha256}
            folder.fs.pipe_file(target, content.read(), if_match=known.etag if known else "", metadata=metadata)

        at_once(write, [name for name in changed if name not in last])
        for name in last:
            if name in changed:
                write(name)


def tidy(folder: UPath, is_spare: Callable[[str], bool]) -> None:
    """Remove the files that are spare; from now on the folder is what it seems."""
    with replacing([folder]):
        _remove(folder, [name for name in _listing(folder) if is_spare(name)])


def remove(folder: UPath, first: str) -> None:
    """Remove the folder, beginning with the file by which readers find it; one that is gone is fine."""
    if not folder.fs.isdir(folder.path):
        return
    with replacing([folder]):
        _held[_key(folder)].require()
        folder.fs.rm_files([f"{folder.path}/{first}"])
        _remove(folder, list(_listing(folder)))
    folder.fs.rm(folder.path, recursive=True)  # what an account with a hierarchical namespace has of folders


def _remove(folder: UPath, names: Sequence[str]) -> None:
    lease = _held[_key(folder)]
    lease.require()
    folder.fs.rm_files([f"{folder.path}/{name}" for name in names if name != UNFINISHED])
    lease.finish()


def _marker(folder: UPath) -> str:
    return f"{folder.path}/{UNFINISHED}"


def _key(folder: UPath) -> tuple[str, str]:
    return folder.fs.account.endpoint, _marker(folder)


def _listing(folder: UPath) -> dict[str, Listed]:
    return {blob.name: blob for blob in folder.fs.walk_blobs(folder.path) if not blob.is_folder}


def _hashes(there: Mapping[str, Listed]) -> dict[str, str]:
    return {name: blob.metadata.get("sha256", "") for name, blob in there.items()}
