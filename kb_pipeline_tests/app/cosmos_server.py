"""An Azure Cosmos DB account for tests: ``@vercel/cosmosdb-server`` over https on a free loopback port, in memory.

Its certificate is made for the test; the SDK does not look at one on loopback. Nothing is known of it that only a
real account has: rights, request units, consistency between regions.
"""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from kb_pipeline_tests.app.model_servers import NODE
from kb_pipeline_tests.certificates import new_certificate

NODE_FOLDER = Path(__file__).parents[1] / "node"
KEY = "dGhlIGtleSBvZiBhIHRlc3Q="


@dataclass(frozen=True)
class CosmosServer:
    """A running account."""

    endpoint: str
    key: str = KEY


@pytest.fixture(scope="session")
def cosmos_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CosmosServer]:
    with running_server(tmp_path_factory.mktemp("cosmos")) as server:
        yield server


@contextmanager
def running_server(folder: Path) -> Iterator[CosmosServer]:
    certificate, key = new_certificate(folder)
    command = [str(NODE), str(NODE_FOLDER / "cosmos_server.js"), str(certificate), str(key)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin and process.stdout
        try:
            yield CosmosServer(f"https://127.0.0.1:{int(process.stdout.readline())}")
        finally:
            process.stdin.close()  # ends it, as our own death would
            process.wait(60)
