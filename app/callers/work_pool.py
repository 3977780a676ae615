"""Threads for one kind of work that callers ask for, so that it never holds up any other.

A few run at a time and a few more wait; whoever comes then is told to come back.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from threading import BoundedSemaphore
from typing import TypeVar

from app.errors import UpstreamBusyError

_RETRY_AFTER_SECONDS = 5
"""By then some of what waits is done."""
T = TypeVar("T")


class WorkPool:
    """Runs at most ``at_once`` pieces of work; ``most_waiting`` more wait. ``doing`` says what, for those refused."""

    def __init__(self, doing: str, *, at_once: int, most_waiting: int) -> None:
        self._doing = doing
        self._threads = ThreadPoolExecutor(at_once, thread_name_prefix=doing.replace(" ", "-"))
        self._places = BoundedSemaphore(at_once + most_waiting)

    async def run(self, work: Callable[[], T]) -> T:
        """What ``work`` returns, or raises.

        Raises:
            UpstreamBusyError: too many others wait.
        """
        if not self._places.acquire(blocking=False):
            raise UpstreamBusyError(
                f"the service is busy {self._doing}; try again in a moment", retry_after=_RETRY_AFTER_SECONDS
            )
        future = self._threads.submit(copy_context().run, work)
        # the place is free when the work has ended: a caller who goes away does not end it
        future.add_done_callback(lambda _: self._places.release())
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """Leave out what waits, and end after what runs."""
        self._threads.shutdown(cancel_futures=True)
