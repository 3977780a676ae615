"""One worker on the same thing at a time, be it an article or an image, in whichever process or run it is.

The locks are the operating system's: a process that is killed lets go of them.
"""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from filelock import FileLock

from kb_pipeline.errors import StorageError, remedy
from kb_pipeline.steps.fingerprint import sha256

_STRIPE_DIGITS = 2


class Locks:
    """Locks by name. All names share 256 files in the folder, so that none need ever be removed.

    A lock is not re-entrant: who holds one and asks for another may wait for itself.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def hold(self, names: Iterable[str]) -> Iterator[None]:
        """Wait until nobody else holds any of the names, and keep others waiting meanwhile.

        Raises:
            StorageError: the folder cannot be written.
        """
        with ExitStack() as held:
            # always in the same order, so that two that need several never wait for each other
            for stripe in sorted({sha256(name.encode(errors="surrogatepass"))[:_STRIPE_DIGITS] for name in names}):
                held.enter_context(self._lock(stripe))
            yield

    def _lock(self, stripe: str) -> FileLock:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self._folder / f"{stripe}.lock", thread_local=False)
            lock.acquire()
        except OSError as exc:
            what_to_do = remedy(exc, "check that KB_HOME may be written")
            raise StorageError(
                f"cannot lock {self._folder / stripe}.lock: {exc.strerror or exc}; {what_to_do}"
            ) from exc
        return lock
