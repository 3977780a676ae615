"""Stopping a generator while it waits."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from app.api.responses import until_set


async def collect(items: AsyncGenerator[int, None], stop: asyncio.Event, *, stop_after: int | None = None) -> list[int]:
    seen = []
    async for item in until_set(stop, items):
        seen.append(item)
        if len(seen) == stop_after:
            asyncio.get_running_loop().call_later(0.01, stop.set)
    return seen


def test_everything_comes_through_when_nobody_stops() -> None:
    async def three() -> AsyncGenerator[int, None]:
        for number in range(3):
            yield number

    assert asyncio.run(_with(three)) == [0, 1, 2]


async def _with(items, stop_after: int | None = None) -> list[int]:
    return await asyncio.wait_for(collect(items(), asyncio.Event(), stop_after=stop_after), 5)


def test_a_generator_that_waits_for_ever_is_closed() -> None:
    closed = []

    async def waits() -> AsyncGenerator[int, None]:
        try:
            yield 1
            await asyncio.sleep(60)
            yield 2
        finally:
            closed.append(True)

    assert asyncio.run(_with(waits, stop_after=1)) == [1]
    assert closed == [True]


def test_a_failure_comes_through() -> None:
    async def fails() -> AsyncGenerator[int, None]:
        yield 1
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        asyncio.run(_with(fails))
