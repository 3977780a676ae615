"""One kind of work holds up no other, and does not pile up."""

import asyncio
import threading
from collections.abc import Iterator

import pytest

from app.callers.work_pool import WorkPool
from app.errors import UpstreamBusyError


@pytest.fixture
def pool() -> Iterator[WorkPool]:
    pool = WorkPool("counting", at_once=1, most_waiting=1)
    yield pool
    pool.close()


def test_work_runs_in_threads_of_its_own(pool: WorkPool) -> None:
    assert asyncio.run(pool.run(lambda: threading.current_thread().name)).startswith("counting")
    with pytest.raises(KeyError):
        asyncio.run(pool.run(lambda: {}["missing"]))


def test_whoever_would_wait_too_long_is_told_to_come_back(pool: WorkPool) -> None:
    let_go = threading.Event()

    async def run() -> list[bool]:
        under_way = [asyncio.ensure_future(pool.run(let_go.wait)) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(UpstreamBusyError, match="busy counting") as refused:
            await pool.run(let_go.wait)
        assert refused.value.retry_after
        let_go.set()
        return await asyncio.gather(*under_way)

    assert asyncio.run(run()) == [True, True]
    assert asyncio.run(pool.run(lambda: "free again")) == "free again"


def test_the_place_of_a_caller_who_leaves_is_taken_until_the_work_ends(pool: WorkPool) -> None:
    let_go = threading.Event()

    async def run() -> None:
        callers = [asyncio.ensure_future(pool.run(let_go.wait)) for _ in range(2)]
        await asyncio.sleep(0)
        callers[0].cancel()
        await asyncio.wait(callers[:1])
        with pytest.raises(UpstreamBusyError):
            await pool.run(let_go.wait)
        let_go.set()
        await callers[1]

    asyncio.run(run())
