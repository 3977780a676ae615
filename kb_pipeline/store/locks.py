"""Locks by name, for articles and images, across all processes and runs on this machine.

They are file locks of the operating system, so a process that is killed releases them.
"""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from filelock import FileLock

from kb_pipeline.errors import storage_errors
from kb_pipeline.limited import waiting
from kb_pipeline.steps.fingerprint import sha256

_STRIPE_DIGITS = 2
"""256 locks: few files, and two articles at work seldom share one."""


class Locks:
    """Locks by name. All names share 256 lock files, so that the files never need to be removed.

    Locks are not re-entrant: a process that holds one and requests another may wait for itself.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def hold(self, names: Iterable[str]) -> Iterator[None]:
        """Acquire the locks of all these names, and hold them inside the ``with`` block.

        Raises:
            StorageError: the folder cannot be written.
        """
        with ExitStack() as locks:
            # always in the same order, so that two processes never wait for each other
            for stripe in sorted({sha256(name.encode(errors="surrogatepass"))[:_STRIPE_DIGITS] for name in names}):
                locks.enter_context(self._lock(stripe))
            yield

    def _lock(self, stripe: str) -> FileLock:
        path = self._folder / f"{stripe}.lock"
        with storage_errors("lock", path, "check that KB_HOME may be written"), waiting():
            self._folder.mkdir(parents=True, exist_ok=True)
            lock = FileLock(path, thread_local=False)
            lock.acquire()
        return lock
