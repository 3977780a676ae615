"""Looks at whether a part of the service works, without ever waiting long for it."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

_LONGEST_WAIT_SECONDS = 0.7
"""Some monitors give up after one second. Probing an index of 50,000 entries takes .1 to .3 s on two cores."""
_FIRST_WAIT_SECONDS = 10.0
"""Nothing is known before the first look, so it may take as long as an SDK needs to start."""
_HANGS_AFTER_SECONDS = 30.0
"""A look that takes longer never ends; what it found before is not told any more."""
T = TypeVar("T")


class Glance(Generic[T]):
    """Awaits ``look``, once at a time; whoever asks meanwhile gets what was seen before."""

    def __init__(self, look: Callable[[], Awaitable[T]]) -> None:
        self._look = look
        self._looking: asyncio.Future[T] | None = None
        self._last: asyncio.Future[T] | None = None
        self._since = 0.0

    async def seen(self) -> T | None:
        """What ``look`` returns now, or last returned if it is slow; ``None`` if it hangs.

        Raises:
            Exception: what ``look`` raises.
        """
        if self._looking is None or self._looking.done():
            self._last, self._since = self._looking, time.monotonic()
            self._looking = asyncio.ensure_future(self._look())
        patience = _LONGEST_WAIT_SECONDS if self._last else _FIRST_WAIT_SECONDS
        await asyncio.wait([self._looking], timeout=patience)
        if self._looking.done():
            return self._looking.result()
        hangs = time.monotonic() - self._since > _HANGS_AFTER_SECONDS
        return None if hangs or self._last is None else self._last.result()
