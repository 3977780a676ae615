"""Whoever asks how the service is never waits for what hangs."""

import asyncio
import threading
from collections.abc import Iterator

import pytest

from app import glance
from app.glance import Glance


class Part:
    """Something to look at, which hangs when told to."""

    def __init__(self) -> None:
        self.looks = 0
        self.hangs = False
        self.let_go = threading.Event()

    def look(self) -> int:
        self.looks += 1
        if self.hangs:
            self.let_go.wait()
        return self.looks


@pytest.fixture
def part() -> Iterator[Part]:
    part = Part()
    yield part
    part.let_go.set()


def test_each_look_sees_how_it_is_now(part: Part) -> None:
    looking = Glance(part.look)
    assert [asyncio.run(looking.seen()) for _ in range(3)] == [1, 2, 3]
    looking.close()


def test_what_was_seen_before_serves_while_a_look_is_slow(part: Part, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(glance, "_LONGEST_WAIT_SECONDS", 0.01)
    looking = Glance(part.look)
    asyncio.run(looking.seen())
    part.hangs = True
    assert [asyncio.run(looking.seen()) for _ in range(3)] == [1, 1, 1]
    assert part.looks == 2
    monkeypatch.setattr(glance, "_HANGS_AFTER_SECONDS", 0.0)
    assert asyncio.run(looking.seen()) is None
    looking.close()


def test_whoever_asks_meanwhile_waits_for_the_same_look(part: Part) -> None:
    looking, part.hangs = Glance(part.look), True

    async def run() -> list[int | None]:
        asking = [asyncio.ensure_future(looking.seen()) for _ in range(5)]
        await asyncio.sleep(0)
        part.let_go.set()
        return await asyncio.gather(*asking)

    assert asyncio.run(run()) == [1] * 5
    looking.close()
