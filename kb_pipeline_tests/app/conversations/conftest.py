"""Shared by the tests of conversations: tests are coroutines on asyncio, and there may be a Cosmos DB account."""

import pytest

from kb_pipeline_tests.app.cosmos_server import cosmos_server

__all__ = ["cosmos_server"]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
