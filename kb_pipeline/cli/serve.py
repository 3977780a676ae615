"""``kb serve``: Dagster's webserver and daemon, started and stopped together, on loopback."""

import os
import signal
import socket
import tempfile
import time
import urllib.request
from collections.abc import Mapping
from http.client import HTTPException
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer

from kb_pipeline.cli.console import err, out
from kb_pipeline.cli.instance import dagster_environment
from kb_pipeline.cli.processes import Processes, code_server, daemon, webserver, write_workspace
from kb_pipeline.cli.serve_lock import AlreadyServedError, only_server
from kb_pipeline.errors import SettingsError
from kb_pipeline.settings import load_settings

_START_SECONDS = 90


def serve(port: Annotated[int | None, typer.Option(help="Port of the UI; default: KB_DAGSTER_PORT.")] = None) -> None:
    """Serve the Dagster UI, watch the staging folder, run what either starts, until Ctrl-C.

    One process serves a knowledge base: another one only says where.
    """
    settings = load_settings()
    environment = os.environ | dagster_environment(settings)
    home = Path(environment["DAGSTER_HOME"])
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        with (
            only_server(home, port or settings.dagster_port),
            tempfile.TemporaryDirectory(prefix="kb-serve-") as scratch,
        ):
            _serve(port or settings.dagster_port, environment, Path(scratch))
    except AlreadyServedError as exc:
        if exc.served is None or port not in (None, exc.served.port):
            raise
        out.print(f"Dagster UI: {_link(exc.served.url)}   (served already, by process {exc.served.pid})")
    finally:
        signal.signal(signal.SIGTERM, before)


def _serve(port: int, environment: Mapping[str, str], scratch: Path) -> None:
    _require_free(port)
    url = f"http://127.0.0.1:{port}"
    workspace, code_socket = scratch / "workspace.yaml", scratch / "code"
    write_workspace(workspace, code_socket)
    processes = Processes(environment)
    try:
        processes.start("the code server", code_server(code_socket))
        processes.wait_for("the code server", code_socket)
        processes.start("the webserver", webserver(workspace, port))
        processes.start("the daemon", daemon(workspace))
        _wait_until_up(url, processes)
        out.print(f"Dagster UI: {_link(url)}   (Ctrl-C stops it)")
        while True:
            processes.keep_alive()
            time.sleep(1)
    except KeyboardInterrupt:
        err.print("stopping …")
    finally:
        processes.stop()


def _require_free(port: int) -> None:
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", port)) != 0:
            return
    raise SettingsError(f"another program uses port {port}; choose another one with --port or KB_DAGSTER_PORT")


def _wait_until_up(url: str, processes: Processes) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        processes.keep_alive()
        if _answers(url):
            return
        time.sleep(0.3)
    raise SettingsError(f"the Dagster UI did not answer at {url} within {_START_SECONDS} s; its output is above")


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/server_info", timeout=5) as reply:  # noqa: S310  (our own loopback URL)
            return b"dagster_webserver_version" in reply.read(10_000)
    except (OSError, HTTPException):
        return False


def _link(url: str) -> str:
    return f"[link={url}]{url}[/link]"


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
