"""Leases: one writer of a folder of blobs at a time, on whichever machine it runs.

The lease is on one blob of the folder, its marker. It is renewed while it is held and ends by itself soon after its
holder died, so that nobody has to clean up. A holder that was asleep for too long has lost it, and is told.
https://learn.microsoft.com/rest/api/storageservices/lease-blob
"""

import random
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import uuid4

from kb_pipeline.blob.account import LostRaceError
from kb_pipeline.blob.files import BlobFiles, at_once
from kb_pipeline.errors import KnowledgeBaseError

if TYPE_CHECKING:
    from azure.storage.blob import BlobLeaseClient

SECONDS = 30
"""How long a lease outlives its holder; the service allows 15 to 60."""
PATIENCE = 45.0
"""Seconds to wait for somebody else's lease: longer than that of a dead one lasts."""
_RENEWAL = 10.0
"""Seconds between two renewals."""
_MARGIN = 2.0
"""Seconds before its end from which a lease counts as lost: a request takes a while to arrive."""


@dataclass
class Lease:
    """The right to write to the folder of ``marker``, the path of a blob.

    ``is_new``: the marker was not there before. ``is_needed``: it stays when the lease is given back, because it
    tells that what lies in the folder is unfinished.
    """

    files: BlobFiles
    marker: str
    is_new: bool
    is_needed: bool = False
    is_over: bool = False
    id: str = field(default_factory=lambda: str(uuid4()))
    until: float = 0

    def acquire(self) -> None:
        """Take it.

        Raises:
            LostRaceError: somebody else has it.
            FileNotFoundError: the marker is gone.
        """
        self._extend(lambda client: client.acquire(lease_duration=SECONDS))

    def renew(self) -> None:
        """Hold it for longer.

        Raises:
            LostRaceError: it was lost.
        """
        self._extend(lambda client: client.renew())

    def require(self) -> None:
        """Make sure that it is still held, before something is written.

        Raises:
            LostRaceError: it may be somebody else's by now.
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
        """Let others have it; whatever fails here is over by itself soon."""
        with suppress(KnowledgeBaseError, FileNotFoundError):
            if self.is_over:
                return
            if self.is_new and not self.is_needed:
                self.finish()
            else:
                self.is_over = True
                self._client(lambda client: client.release())

    def _extend(self, request: "Callable[[BlobLeaseClient], object]") -> None:
        asked_at = time.monotonic()
        self._client(request)
        self.until = asked_at + SECONDS

    def _client(self, request: "Callable[[BlobLeaseClient], object]") -> None:
        from azure.storage.blob import BlobLeaseClient

        with self.files.account.explained(self.marker):
            request(BlobLeaseClient(self.files.blob(self.marker), self.id))


@contextmanager
def leased(files: BlobFiles, markers: Collection[str]) -> Iterator[dict[str, Lease]]:
    """Hold the leases of all the markers, which are made if they are not there.

    Raises:
        LostRaceError: somebody else holds one of them, and goes on doing so.
    """
    leases = _acquired(files, sorted(set(markers)))
    done = threading.Event()
    threading.Thread(target=_keep, args=(leases, done), name="kb-leases", daemon=True).start()
    try:
        yield {lease.marker: lease for lease in leases}
    finally:
        done.set()
        at_once(Lease.give_back, leases)


def _acquired(files: BlobFiles, markers: list[str]) -> list[Lease]:
    """All or none, so that two who need several never wait for each other."""
    deadline = time.monotonic() + PATIENCE
    while True:
        found = at_once(lambda marker: _try(files, marker), markers)
        leases = [lease for lease in found if isinstance(lease, Lease)]
        failed = [problem for problem in found if isinstance(problem, Exception)]
        if not failed:
            return leases
        at_once(Lease.give_back, leases)
        others = [problem for problem in failed if not isinstance(problem, LostRaceError)]
        if others or time.monotonic() > deadline:
            raise (others or failed)[0]
        time.sleep(random.uniform(0.2, 1))  # noqa: S311 - no secret


def _try(files: BlobFiles, marker: str) -> Lease | Exception:
    while True:
        try:
            lease = Lease(files, marker, is_new=_make(files, marker))
            lease.acquire()
        except FileNotFoundError:
            continue  # whoever made it has finished just now
        except KnowledgeBaseError as exc:
            return exc
        return lease


def _make(files: BlobFiles, marker: str) -> bool:
    """Whether the marker was made here; it may be there already, of a process that died or one that is at work."""
    try:
        files.pipe_file(marker, b"", if_match="")
    except LostRaceError:
        return False
    return True


def _keep(leases: list[Lease], done: threading.Event) -> None:
    while not done.wait(_RENEWAL):
        for lease in leases:
            if not lease.is_over:
                with suppress(KnowledgeBaseError, FileNotFoundError):
                    lease.renew()
