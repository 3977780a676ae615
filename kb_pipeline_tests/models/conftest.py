"""Servers on loopback that speak OpenAI's protocol."""

from collections.abc import Iterator

import pytest

from kb_pipeline_tests.openai_server import OpenAIServer, openai_server


@pytest.fixture
def openai() -> Iterator[OpenAIServer]:
    """An Azure OpenAI resource that wants a key."""
    with openai_server() as server:
        yield server
