"""Whoever asks how a part of the service is never waits for what hangs."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from app.api import glance
from app.api.glance import Glance


class Part:
    """Something to look at, which hangs when told to."""

    def __init__(self) -> None:
        self.looks = 0
        self.works = asyncio.Event()
        self.works.set()

    async def look(self) -> int:
        self.looks += 1
        seen = self.looks
        await self.works.wait()
        return seen


def run(scene: Callable[[Part, Glance[int]], Awaitable[None]]) -> None:
    async def play() -> None:
        part = Part()
        await scene(part, Glance(part.look))
        part.works.set()
        await asyncio.sleep(0)

    asyncio.run(play())


def test_each_look_sees_how_it_is_now() -> None:
    async def scene(_: Part, looking: Glance[int]) -> None:
        assert [await looking.seen() for _ in range(3)] == [1, 2, 3]

    run(scene)


def test_what_was_seen_before_serves_while_a_look_is_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(glance, "_LONGEST_WAIT_SECONDS", 0.01)

    async def scene(part: Part, looking: Glance[int]) -> None:
        await looking.seen()
        part.works.clear()
        assert [await looking.seen() for _ in range(3)] == [1, 1, 1]
        assert part.looks == 2
        monkeypatch.setattr(glance, "_HANGS_AFTER_SECONDS", 0.0)
        assert await looking.seen() is None

    run(scene)


def test_whoever_asks_meanwhile_waits_for_the_same_look() -> None:
    async def scene(part: Part, looking: Glance[int]) -> None:
        part.works.clear()
        asking = [asyncio.ensure_future(looking.seen()) for _ in range(5)]
        await asyncio.sleep(0)
        part.works.set()
        assert await asyncio.gather(*asking) == [1] * 5

    run(scene)
