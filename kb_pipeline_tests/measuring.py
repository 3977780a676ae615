"""The most memory that a process started by this one had, while something ran."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psutil

_SECONDS = 0.02


class Peak:
    """``mb`` is the resident memory of the largest process below this one that is looked at, at its largest."""

    mb: int = 0


@contextmanager
def peak_of_children(*, only_new: bool = False) -> Iterator[Peak]:
    """Sample until the end of the block; ``only_new``: only processes that start within it."""
    peak, done, this = Peak(), threading.Event(), psutil.Process()
    others = {process.pid for process in this.children(recursive=True)} if only_new else set()

    def sample() -> None:
        while not done.wait(_SECONDS):
            for process in this.children(recursive=True):
                if process.pid in others:
                    continue
                with suppress(psutil.Error):  # it ended meanwhile
                    mb = process.memory_info().rss >> 20
                    if process.cmdline() != this.cmdline():  # else a copy of this one, which runs no program yet
                        peak.mb = max(peak.mb, mb)

    sampler = threading.Thread(target=sample, daemon=True)
    sampler.start()
    try:
        yield peak
    finally:
        done.set()
        sampler.join()
