"""``kb serve``: Dagster's webserver and daemon, started and stopped together, on loopback."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Sequence
from http.client import HTTPException
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer

from kb_pipeline.cli.console import err, out
from kb_pipeline.cli.instance import dagster_environment, project_file
from kb_pipeline.errors import SettingsError
from kb_pipeline.settings import load_settings

_START_SECONDS = 90
_STOP_SECONDS = 15


def serve(port: Annotated[int | None, typer.Option(help="Port of the UI; default: KB_DAGSTER_PORT.")] = None) -> None:
    """Serve the Dagster UI, and run what it starts, until Ctrl-C."""
    settings = load_settings()
    port = port or settings.dagster_port
    url = f"http://127.0.0.1:{port}"
    if _is_served(port, url):
        out.print(f"Dagster UI: [link={url}]{url}[/link]   (served already, by another terminal)")
        return
    environment = os.environ | dagster_environment(settings)
    signal.signal(signal.SIGTERM, _interrupt)
    children: list[subprocess.Popen[bytes]] = []
    try:
        children = [_start(command, environment) for command in _commands(port)]
        _wait_until_up(url, children)
        out.print(f"Dagster UI: [link={url}]{url}[/link]   (Ctrl-C stops it)")
        _wait(children)
    except KeyboardInterrupt:
        err.print("stopping …")
    finally:
        _stop(children)


def _is_served(port: int, url: str) -> bool:
    """Whether a Dagster UI answers on the port already.

    Raises:
        SettingsError: something else does.
    """
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", port)) != 0:
            return False
    if _answers(url):
        return True
    raise SettingsError(f"another program uses port {port}; choose another one with --port or KB_DAGSTER_PORT")


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/server_info", timeout=5) as reply:  # noqa: S310  (our own loopback URL)
            return b"dagster_webserver_version" in reply.read(10_000)
    except (OSError, HTTPException):
        return False


def _commands(port: int) -> list[list[str]]:
    shared = ["-w", str(project_file("workspace.yaml")), "--code-server-log-level", "warning"]
    python = [sys.executable, "-m"]
    webserver = ["-h", "127.0.0.1", "-p", str(port), "--log-level", "warning", "--dagster-log-level", "warning"]
    return [
        [*python, "dagster_webserver", *shared, *webserver],
        [*python, "dagster._daemon", "run", *shared, "--log-level", "warning"],
    ]


def _start(command: Sequence[str], environment: dict[str, str]) -> subprocess.Popen[bytes]:
    # a session of its own, so that a Ctrl-C reaches it through us and in order
    return subprocess.Popen(command, env=environment, start_new_session=True)


def _wait_until_up(url: str, children: Sequence[subprocess.Popen[bytes]]) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        _check_alive(children)
        if _answers(url):
            return
        time.sleep(0.3)
    raise SettingsError(f"the Dagster UI did not answer at {url} within {_START_SECONDS} s; its output is above")


def _wait(children: Sequence[subprocess.Popen[bytes]]) -> None:
    while True:
        _check_alive(children)
        time.sleep(1)


def _check_alive(children: Sequence[subprocess.Popen[bytes]]) -> None:
    for child in children:
        if child.poll() is not None:
            name = Path(str(child.args[2])).name  # type: ignore[index]
            raise SettingsError(f"{name} stopped with exit code {child.returncode}; its output is above")


def _stop(children: Sequence[subprocess.Popen[bytes]]) -> None:
    for child in children:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGTERM)
    deadline = time.monotonic() + _STOP_SECONDS
    for child in children:
        try:
            child.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
