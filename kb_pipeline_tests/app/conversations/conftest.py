"""Shared by the tests of conversations: tests are coroutines on asyncio, and there may be a Cosmos DB account."""

import pytest


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
