"""Webserver, daemon and code server as on several machines: they share nothing but PostgreSQL and the network."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import dagster as dg
import pytest
from dagster_graphql import DagsterGraphQLClient, DagsterGraphQLClientError

from kb_pipeline.settings import Settings
from kb_pipeline_tests.conftest import Article
from kb_pipeline_tests.pictures import screenshot
from kb_pipeline_tests.postgres import Server

pytestmark = [pytest.mark.timeout(400), pytest.mark.rare("Dagster's daemon and code server on PostgreSQL")]

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
CODE_SERVER = json.loads((DEPLOY / "pipeline.Dockerfile").read_text().rsplit("\nCMD ", 1)[1])


@pytest.fixture
def database(postgres: Server) -> str:
    return postgres.new_database()


@pytest.fixture
def client(database: str, settings: Settings, tmp_path: Path) -> Iterator[DagsterGraphQLClient]:
    """Three machines, each with a Dagster home of its own; the client talks to the webserver."""
    code_port, web_port = free_port(), free_port()
    for name in ("code", "daemon", "web"):
        home = tmp_path / name
        home.mkdir()
        (home / "dagster.yaml").symlink_to(DEPLOY / "postgres/dagster.yaml")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("KB_", "DAGSTER_"))} | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "KB_POSTGRES_URL": database,
        "DAGSTER_DISABLE_TELEMETRY": "1",
    }
    code = {"KB_STAGING": settings.staging, "KB_HOME": settings.home, "KB_EMBEDDER": "hashing", "KB_WORKERS": "1"}
    workspace = ["-w", str(DEPLOY / "postgres/workspace.yaml")]
    server = {"KB_CODE_SERVER_HOST": "127.0.0.1", "KB_CODE_SERVER_PORT": str(code_port)}
    with ExitStack() as stack:

        def start(name: str, command: Sequence[str], own: dict[str, str]) -> None:
            stack.enter_context(process(command, environment | own | {"DAGSTER_HOME": str(tmp_path / name)}, tmp_path))

        start("code", on_loopback(CODE_SERVER, code_port), code)
        wait_for(code_port)
        start("web", ["kb-webserver", *workspace, "-h", "127.0.0.1", "-p", str(web_port)], server)
        start("daemon", ["dagster-daemon", "run", *workspace], server)
        wait_for(web_port)
        yield DagsterGraphQLClient("127.0.0.1", port_number=web_port)


def on_loopback(command: Sequence[str], port: int) -> list[str]:
    replaced = {"-h": "127.0.0.1", "-p": str(port)}
    return [replaced.get(before, word) for before, word in zip(["", *command], command, strict=False)]


@contextmanager
def process(command: Sequence[str], environment: dict[str, str], folder: Path) -> Iterator[None]:
    """A server until the end of the block."""
    child = subprocess.Popen(command, env=environment, cwd=folder, start_new_session=True)
    try:
        yield
    finally:
        child.terminate()
        with suppress(subprocess.TimeoutExpired):
            child.wait(10)
        with suppress(ProcessLookupError):  # what it started, and itself if it did not stop
            os.killpg(child.pid, signal.SIGKILL)
        child.wait(10)


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def wait_for(port: int) -> None:
    deadline = time.monotonic() + 90
    while True:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        assert time.monotonic() < deadline, f"nothing listens on port {port}"
        time.sleep(0.3)


def launch(client: DagsterGraphQLClient) -> str:
    """Queue the ingest job; returns the run's id."""
    deadline = time.monotonic() + 60
    while True:
        try:
            return str(client.submit_job_execution("ingest_articles"))
        except DagsterGraphQLClientError:  # the webserver has not loaded the code location yet
            assert time.monotonic() < deadline
            time.sleep(1)


def finished(client: DagsterGraphQLClient, run_id: str) -> dg.DagsterRunStatus:
    deadline = time.monotonic() + 180
    ends = {dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED}
    while (status := client.get_run_status(run_id)) not in ends:
        assert time.monotonic() < deadline, f"the run is still {status}"
        time.sleep(1)
    return status


def test_the_daemon_takes_a_run_from_the_queue_and_the_code_server_ingests(
    client: DagsterGraphQLClient,
    database: str,
    article: Article,
    settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("alpha", "beta"):
        article(name, f"<body><h1>{name}</h1><p>Text.</p><img src='a.image'></body>", {"a.image": screenshot(name)})

    run_id = launch(client)

    assert finished(client, run_id) is dg.DagsterRunStatus.SUCCESS
    assert (Path(settings.home) / "serving/alpha/article.md").is_file()
    monkeypatch.setenv("KB_POSTGRES_URL", database)
    with dg.DagsterInstance.from_config(str(tmp_path / "web")) as instance:
        steps = {
            str(entry.dagster_event_type and entry.dagster_event_type.value) for entry in instance.all_logs(run_id)
        }
        assert {"PIPELINE_ENQUEUED", "PIPELINE_STARTING", "PIPELINE_SUCCESS"} <= steps
        assert instance.get_materialized_partitions(dg.AssetKey("search_index")) == {"alpha", "beta"}
