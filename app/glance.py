"""Looks at whether the parts of the service work, without ever waiting for other requests, or long for the parts."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

_LONGEST_WAIT_SECONDS = 0.7
"""Monitors commonly give up after one second."""
_FIRST_WAIT_SECONDS = 10.0
_HANGS_AFTER_SECONDS = 30.0
T = TypeVar("T")


class Glance(Generic[T]):
    """Runs ``look``, which blocks, in a thread of its own; whoever asks meanwhile gets what was seen before."""

    def __init__(self, look: Callable[[], T]) -> None:
        self._look = look
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="health")
        self._looking: Future[T] | None = None
        self._since = 0.0
        self._last: Future[T] | None = None

    async def seen(self) -> T | None:
        """What ``look`` returns now, or last returned if it is slow; ``None`` if it hangs."""
        if self._looking is None or self._looking.done():
            self._last, self._since = self._looking, time.monotonic()
            self._looking = self._thread.submit(self._look)
        patience = _LONGEST_WAIT_SECONDS if self._last else _FIRST_WAIT_SECONDS
        await asyncio.wait([asyncio.wrap_future(self._looking)], timeout=patience)
        if self._looking.done():
            return self._looking.result()
        hangs = time.monotonic() - self._since > _HANGS_AFTER_SECONDS
        return None if hangs or self._last is None else self._last.result()

    def close(self) -> None:
        """Let the thread end after what it does."""
        self._thread.shutdown(wait=False, cancel_futures=True)
