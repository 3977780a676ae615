"""A private PostgreSQL server for tests: made, started, asked for databases, stopped, thrown away.

It listens on a free loopback port and its files lie in a temporary folder. PostgreSQL refuses to run
as root, so that root starts it as another user.
"""

import contextlib
import os
import pwd
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import psycopg2
import pytest

from kb_pipeline_tests.ports import free_port

USER = "kb"


@dataclass(frozen=True)
class Server:
    """A running server with one user, ``kb``."""

    port: int
    password: str

    def url(self, database: str) -> str:
        return f"postgresql://{USER}:{self.password}@127.0.0.1:{self.port}/{database}"

    def new_database(self) -> str:
        """Create an empty database; returns its URL."""
        name = f"kb_{secrets.token_hex(4)}"
        connection = psycopg2.connect(self.url("postgres"))
        connection.autocommit = True  # CREATE DATABASE runs in no transaction
        with contextlib.closing(connection), connection.cursor() as cursor:
            cursor.execute(f"CREATE DATABASE {name}")
        return self.url(name)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    if binaries() is None:
        pytest.skip("there is no PostgreSQL; scripts/postgres.sh installs it")
    with running_server() as server:
        yield server


def binaries() -> Path | None:
    """The folder of ``initdb`` and ``pg_ctl``, which distributions leave out of the search path."""
    found = [Path(path).parent for name in ("initdb",) if (path := shutil.which(name))]
    found += sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: -float(path.parent.name))
    return next((folder for folder in found if (folder / "pg_ctl").exists()), None)


@contextlib.contextmanager
def running_server(*settings: str) -> Iterator[Server]:
    """Run a server; ``settings`` are PostgreSQL's, such as ``fsync=on``."""
    folder = Path(tempfile.mkdtemp(prefix="kb-postgres-"))
    server = Server(free_port(), secrets.token_urlsafe(16))
    try:
        _create(folder, server)
        _pg_ctl(folder, "start", "-w", "-l", str(folder / "log"), "-o", _options(folder, server, settings))
        try:
            yield server
        finally:
            _pg_ctl(folder, "stop", "-m", "immediate")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _create(folder: Path, server: Server) -> None:
    password = folder / "password"
    password.write_text(server.password)
    if os.geteuid() == 0:
        for path in (folder, password):
            shutil.chown(path, _other_user())
    # Dagster connects for each statement, and scram takes thousands of rounds of hashing on either side
    ways = ["--auth=md5", f"--pwfile={password}", "--encoding=UTF8", "--locale=C", "--no-sync"]
    _run("initdb", "-D", str(folder / "data"), "-U", USER, *ways)


def _options(folder: Path, server: Server, settings: Sequence[str]) -> str:
    own = [
        f"port={server.port}",
        "listen_addresses=127.0.0.1",
        f"unix_socket_directories={folder}",
        "fsync=off",  # nothing here outlives the test
    ]
    return " ".join(f"-c {setting}" for setting in (*own, *settings))


def _pg_ctl(folder: Path, *arguments: str) -> None:
    _run("pg_ctl", "-D", str(folder / "data"), *arguments)


def _run(program: str, *arguments: str) -> None:
    folder = binaries()
    assert folder, "there is no PostgreSQL"
    command = [str(folder / program), *arguments]
    if os.geteuid() == 0:
        ids = pwd.getpwnam(_other_user())
        command = ["setpriv", f"--reuid={ids.pw_uid}", f"--regid={ids.pw_gid}", "--clear-groups", *command]
    # to a file: the server keeps what it inherits open, and a pipe would be waited for
    with tempfile.TemporaryFile() as output:
        code = subprocess.run(command, stdout=output, stderr=output, cwd="/", timeout=120, check=False).returncode
        output.seek(0)
        assert code == 0, f"{program} failed: {output.read().decode()}"


def _other_user() -> str:
    return next(name for name in ("postgres", "nobody") if name in {user.pw_name for user in pwd.getpwall()})
