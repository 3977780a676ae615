"""An Azure Cosmos DB account for tests: ``@vercel/cosmosdb-server`` over https on a free loopback port, in memory.

Its certificate is made for the test; the SDK does not look at one on loopback. Nothing is known of it that only a
real account has: rights, request units, consistency between regions.
"""

import datetime
import ipaddress
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from kb_pipeline_tests.app.model_servers import NODE

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
    certificate, key = _certificate(folder)
    command = [str(NODE), str(NODE_FOLDER / "cosmos_server.js"), str(certificate), str(key)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin and process.stdout
        try:
            yield CosmosServer(f"https://127.0.0.1:{int(process.stdout.readline())}")
        finally:
            process.stdin.close()  # ends it, as our own death would
            process.wait(10)


def _certificate(folder: Path) -> tuple[Path, Path]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a test")])
    today = datetime.datetime.now(datetime.UTC)
    address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(today - datetime.timedelta(days=1))
        .not_valid_after(today + datetime.timedelta(days=1))
        .add_extension(address, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    paths = folder / "cert.pem", folder / "key.pem"
    paths[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    paths[1].write_bytes(key.private_bytes(serialization.Encoding.PEM, *plain))
    return paths
