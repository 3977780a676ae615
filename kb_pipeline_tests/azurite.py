"""Azurite, Microsoft's emulator of Azure Storage: on a free loopback port, in memory, a pair of containers a test.

Nothing is known of it that only a real account has: roles, the hierarchical namespace, throttling.
"""

import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from azure.storage.blob import BlobServiceClient, ContainerClient

from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.model_servers import NODE
from kb_pipeline_tests.certificates import new_certificate
from kb_pipeline_tests.ports import free_port

_AZURITE = Path(__file__).parent / "node/node_modules/azurite/dist/src/blob/main.js"
# ends when its input is closed, as it is by our own death; Azurite reads its arguments itself
_ENDING = "process.stdin.resume().on('end', () => process.exit()); require(process.argv[1])"
NAME = "devstoreaccount1"
HOST = f"{NAME}.blob.core.windows.net"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""Known to everybody: https://learn.microsoft.com/azure/storage/common/storage-connect-azurite."""


@dataclass(frozen=True)
class Azurite:
    """A running storage account."""

    endpoint: str

    @property
    def connection_string(self) -> str:
        protocol = self.endpoint.partition(":")[0]
        return f"DefaultEndpointsProtocol={protocol};AccountName={NAME};AccountKey={KEY};BlobEndpoint={self.endpoint};"

    def service(self) -> BlobServiceClient:
        return BlobServiceClient.from_connection_string(self.connection_string)

    def container(self, name: str) -> ContainerClient:
        """A new container."""
        return self.service().create_container(name)


@pytest.fixture(scope="session")
def azurite() -> Iterator[Azurite]:
    with running_azurite() as server:
        yield server


@pytest.fixture(scope="session")
def secure_azurite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Azurite, Path]]:
    certificate, key = new_certificate(tmp_path_factory.mktemp("azurite"), HOST)
    arguments = ("--cert", str(certificate), "--key", str(key), "--oauth", "basic")
    with running_azurite(*arguments, protocol="https") as server:
        yield server, certificate


@pytest.fixture
def public_azurite(secure_azurite: tuple[Azurite, Path], monkeypatch: pytest.MonkeyPatch) -> Azurite:
    """An account at its address on the internet, by https, which also takes tokens: here it is this machine."""
    server, certificate = secure_azurite
    find = socket.getaddrinfo

    def resolve(host: str, port: int, *rest: object, **options: object) -> object:
        if host != HOST:
            return find(host, port, *rest, **options)
        return find("127.0.0.1", urlsplit(server.endpoint).port, *rest, **options)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
    return Azurite(f"https://{HOST}")


@contextmanager
def running_azurite(*arguments: str, protocol: str = "http") -> Iterator[Azurite]:
    port = free_port()
    server = Azurite(f"{protocol}://127.0.0.1:{port}/{NAME}")
    own = ["--blobHost", "127.0.0.1", "--blobPort", str(port), "--inMemoryPersistence", "--skipApiVersionCheck"]
    command = [NODE, "-e", _ENDING, _AZURITE, *own, "--silent", "--disableTelemetry", *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin
        assert process.stdout
        try:
            while "successfully listens" not in (line := process.stdout.readline()):
                assert line, "Azurite did not start"
            yield server
        finally:
            process.stdin.close()
            process.wait(60)


@dataclass(frozen=True)
class Containers:
    """The test's own containers, and the settings that use them."""

    staging: ContainerClient
    serving: ContainerClient
    connection_string: str

    def settings(self, settings: Settings) -> Settings:
        """The same settings, with staging and serving in the cloud."""
        return Settings(
            **settings.model_dump(exclude={"staging", "serving"}, exclude_defaults=True)
            | {
                "staging": f"abfs://{self.staging.container_name}/articles",
                "serving": f"abfs://{self.serving.container_name}@{NAME}.dfs.core.windows.net/kb",
                "staging_connection_string": self.connection_string,
                "serving_connection_string": self.connection_string,
            }
        )


@pytest.fixture
def containers(azurite: Azurite) -> Containers:
    name = uuid4().hex[:12]
    made = (azurite.container(f"{role}-{name}") for role in ("staging", "serving"))
    return Containers(*made, azurite.connection_string)
