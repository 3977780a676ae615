"""``kb serve``: starts and stops the chat page, the agent service and Dagster together, on loopback."""

import os
import signal
import socket
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterable, Mapping, Sequence
from http.client import HTTPException
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from kb_pipeline.application import Server, open_application
from kb_pipeline.cli.console import err, out
from kb_pipeline.cli.instance import dagster_environment
from kb_pipeline.cli.processes import (
    AlreadyServedError,
    Processes,
    code_server,
    daemon,
    only_server,
    webserver,
    write_workspace,
)
from kb_pipeline.cli.run_job import ask_history
from kb_pipeline.errors import KnowledgeBaseError, SettingsError
from kb_pipeline.flow.access_binding import access_watch
from kb_pipeline.flow.workspace import open_workspace
from kb_pipeline.settings import Settings, load_settings
from kb_pipeline.store.home import exposure
from kb_pipeline.store.state import known_articles

_START_SECONDS = 90
"""Seconds, as for its processes."""


def serve(
    port: Annotated[int | None, typer.Option(help="Port of the Dagster UI; default: KB_DAGSTER_PORT.")] = None,
    dagster_only: Annotated[
        bool, typer.Option("--dagster-only", help="Serve only Dagster, without the agent service and the chat page.")
    ] = False,
) -> None:
    """Serve the chat page, the agent service and the Dagster UI, and watch the staging folder, until Ctrl-C.

    A knowledge base is served only once: a second kb serve prints the addresses of the first one and exits.
    """
    settings = load_settings()
    _require_something_to_serve(settings)
    if os.environ.get("KB_POSTGRES_URL"):
        ask_history(settings)  # what starts without its database ends in the words of Dagster
    application = () if dagster_only else tuple(open_application(settings).servers())
    dagster = _dagster(port or settings.dagster_port)
    environment = {"KB_DAGSTER_URL": dagster.url, **os.environ, **dagster_environment(settings)}
    home = Path(environment["DAGSTER_HOME"])
    if problem := exposure(settings.home_path):
        err.print(f"[yellow]warning:[/] {escape(problem)}", soft_wrap=True)
    previous_handler = signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C
    try:
        others = {server.name: server.url for server in application}
        with only_server(home, dagster.address[1], others), tempfile.TemporaryDirectory(prefix="kb-serve-") as scratch:
            _serve(dagster, application, environment, Path(scratch), settings)
    except AlreadyServedError as exc:
        if exc.served is None or port not in (None, exc.served.port):
            raise
        _print_urls({**exc.served.others, dagster.name: exc.served.url}, f"already served by process {exc.served.pid}")
    finally:
        signal.signal(signal.SIGTERM, previous_handler)


def _require_something_to_serve(settings: Settings) -> None:
    """Refuse a folder that has neither articles nor an index: nobody meant to serve that one.

    Raises:
        StorageError: it says where articles were expected, and what makes some.
    """
    workspace = open_workspace(settings)
    has_own_index = settings.index == "lancedb" and not settings.index_uri  # others may be filled elsewhere
    if has_own_index and not known_articles(workspace.layout):
        workspace.staging.list_articles()


def _dagster(port: int) -> Server:
    return Server(
        "Dagster UI",
        f"http://127.0.0.1:{port}",
        "/server_info",
        b"dagster_webserver_version",
        "--port or KB_DAGSTER_PORT",
    )


def _serve(
    dagster: Server,
    application: Sequence[Server],
    environment: Mapping[str, str],
    scratch: Path,
    settings: Settings,
) -> None:
    servers = (*application, dagster)
    _require_different(servers)
    for server in servers:
        _require_free(server)
    workspace, code_socket = scratch / "workspace.yaml", scratch / "code"
    write_workspace(workspace, code_socket)
    processes = Processes(environment)
    try:
        processes.start("the code server", code_server(code_socket))
        for server in reversed(application):
            processes.start(f"the {server.name.lower()}", server.command)
        processes.wait_for("the code server", code_socket)
        processes.start("the webserver", webserver(workspace, dagster.address[1]))
        processes.start("the daemon", daemon(workspace))
        for server in servers:
            _wait_until_up(server, processes)
        _print_urls({server.name: server.url for server in servers}, "Ctrl-C stops all")
        lists = ListWatch(settings)
        while True:
            processes.keep_alive()
            lists.look()
            time.sleep(1)
    except KeyboardInterrupt:
        err.print("stopping …")
    finally:
        processes.stop()


class ListWatch:
    """Applies changed access lists as the sensor does, also while Dagster's storage is down and no sensor runs."""

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.monotonic) -> None:
        """``clock`` returns seconds, from any point in time."""
        self._settings, self._clock = settings, clock
        self._looked_at = float("-inf")
        self._problem = ""

    def look(self) -> None:
        """Look at the staging folder, if the last look is old enough and KB_WATCH is on; a new problem is printed."""
        if not self._settings.watch or self._clock() - self._looked_at < self._settings.watch_seconds:
            return
        try:
            workspace = open_workspace(self._settings)
            access_watch(workspace).look(workspace.staging.scan().signatures)
            problem = ""
        except (KnowledgeBaseError, OSError) as exc:
            problem = str(exc)
        if problem and problem != self._problem:
            err.print(f"[yellow]access lists cannot be read:[/] {escape(problem)}", soft_wrap=True)
        self._looked_at, self._problem = self._clock(), problem


def _print_urls(urls: Mapping[str, str], remark: str) -> None:
    table = Table.grid(padding=(0, 2))
    for name, url in urls.items():
        table.add_row(f"{name}:", f"[link={url}]{url}[/link]")
    out.print(table)
    out.print(f"({remark})")


def _require_different(servers: Iterable[Server]) -> None:
    by_port: dict[int, Server] = {}
    for server in servers:
        other = by_port.setdefault(server.address[1], server)
        if other is not server:
            raise SettingsError(
                f"{other.name} and {server.name} would both use port {server.address[1]}; "
                f"change one with {server.setting}"
            )


def _require_free(server: Server) -> None:
    try:
        socket.create_connection(server.address, timeout=2).close()
    except OSError:
        return
    raise SettingsError(
        f"another program uses port {server.address[1]}, which the {server.name} needs; "
        f"choose another port with {server.setting}"
    )


def _wait_until_up(server: Server, processes: Processes) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        processes.keep_alive()
        if _answers(server):
            return
        time.sleep(0.3)
    raise SettingsError(
        f"the {server.name} did not answer at {server.url} within {_START_SECONDS} s; its output is above"
    )


def _answers(server: Server) -> bool:
    try:
        with urllib.request.urlopen(server.url + server.health_path, timeout=5) as reply:  # noqa: S310  (our own loopback URL)
            return server.health_text in reply.read(10_000)
    except (OSError, HTTPException):
        return False
