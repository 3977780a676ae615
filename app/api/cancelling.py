"""Stopping what is under way as soon as nobody waits for it any more."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TypeVar

T = TypeVar("T")


async def until_set(stop: asyncio.Event, items: AsyncGenerator[T, None]) -> AsyncGenerator[T, None]:
    """The items until ``stop`` is set; then the generator is closed, even while it waits for its next item."""
    stopping = asyncio.create_task(stop.wait())
    try:
        async with aclosing(items):
            while not stop.is_set():
                following = asyncio.ensure_future(anext(items))
                try:
                    await asyncio.wait({following, stopping}, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    if not following.done():
                        following.cancel()
                        await asyncio.gather(following, return_exceptions=True)
                if following.cancelled():
                    return
                try:
                    item = following.result()
                except StopAsyncIteration:
                    return
                yield item
    finally:
        stopping.cancel()
